"""Generalized assignment on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from colgen.cli.template import Template, form_of, of_answer, whole_number
from colgen.core.result import Result
from colgen.problems.assignment.demo import few_tasks_a_machine, large_tasks_are_cheap
from colgen.problems.assignment.drawing import draw_assignment
from colgen.problems.assignment.instance import AssignmentInstance, random, read, write
from colgen.problems.assignment.template import Assignment


def _read(path: Path, **options: str) -> AssignmentInstance:
    problem = whole_number(options, "problem", 1) if "problem" in options else None
    return read(path, problem=problem, sense=options.get("sense"))


def _data(instance: AssignmentInstance, result: Result) -> list[dict[str, Any]]:
    return [_machine(instance, result.answer, machine) for machine in range(instance.num_machines)]


def _machine(instance: AssignmentInstance, answer: Sequence[int], machine: int) -> dict[str, Any]:
    tasks = [task for task, at in enumerate(answer) if at == machine]
    return {
        "machine": machine,
        "tasks": tasks,
        "load": int(instance.sizes[machine, tasks].sum()),
        "cost": float(instance.costs[machine, tasks].sum()),
    }


def _lines(instance: AssignmentInstance, result: Result) -> list[str]:
    return [
        f"{entry['machine']}: {' '.join(map(str, entry['tasks']))} (load {entry['load']}, cost {entry['cost']:g})"
        for entry in _data(instance, result)
    ]


TEMPLATE = Template(
    name="assignment",
    title="Generalized assignment: tasks to machines of limited capacity, at least cost",
    source="Savelsbergh (1997), Posta, Ferland and Michelon (2012)",
    read=_read,
    form=form_of(read),
    read_options={
        "problem": "which of the problems of a file (1)",
        "sense": "min or max: whether the file holds costs, or profits, as gap1 to gap12 do",
    },
    reading=lambda instance: instance.reading,
    problem=Assignment,
    lines=_lines,
    data=_data,
    draw=of_answer(draw_assignment),
    demo=(few_tasks_a_machine, large_tasks_are_cheap),
    compiling=10.0,
    with_cuts=lambda problem: Assignment(problem.instance, cuts=True),
    example=lambda path: write(random(3, 8, 0), path),
)
