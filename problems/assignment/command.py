"""Generalized assignment on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from colgen.cli.demonstration import demonstrations, solve_model
from colgen.cli.option import Number, Option
from colgen.cli.template import Template
from colgen.problems.assignment.drawing import draw_assignment
from colgen.problems.assignment.instance import AssignmentInstance, random, read, write
from colgen.problems.assignment.model import full
from colgen.problems.assignment.template import Assignment


def _data(instance: AssignmentInstance, answer: Sequence[int]) -> list[dict[str, Any]]:
    return [_machine(instance, answer, machine) for machine in range(instance.num_machines)]


def _machine(instance: AssignmentInstance, answer: Sequence[int], machine: int) -> dict[str, Any]:
    tasks = [task for task, at in enumerate(answer) if at == machine]
    return {
        "machine": machine,
        "tasks": tasks,
        "load": int(instance.sizes[machine, tasks].sum()),
        "cost": float(instance.costs[machine, tasks].sum()),
    }


def _lines(instance: AssignmentInstance, answer: Sequence[int]) -> list[str]:
    return [
        f"{entry['machine']}: {' '.join(map(str, entry['tasks']))} (load {entry['load']}, cost {entry['cost']:g})"
        for entry in _data(instance, answer)
    ]


DEMO = demonstrations(
    lambda: random(4, 16, 1, kind="D"),  # the relaxation of the compact model is weak
    lambda: random(5, 20, 2, kind="D"),
    small=lambda: random(2, 6, 0),
    problem=Assignment,
    brute_force="compact model in HiGHS",
    complete=lambda instance: solve_model(full(instance, "compact"), decimals=0),
    possible=lambda instance: instance.num_machines * 2**instance.num_tasks,
)

TEMPLATE = Template(
    name="assignment",
    title="Generalized assignment: tasks to machines of limited capacity, at least cost",
    source="Savelsbergh (1997), Posta, Ferland and Michelon (2012)",
    problem=Assignment,
    read=read,
    options={
        "problem": Option("which problem of a file with several (1)", number=Number.WHOLE),
        "sense": Option("min for files of costs, max for profits (gap1 to gap12)", ("min", "max")),
    },
    example=lambda path: write(random(3, 8, 0), path),
    reading=lambda instance: instance.reading,
    lines=_lines,
    data=_data,
    draw=draw_assignment,
    variants={"cuts": {"with cuts": lambda problem: Assignment(problem.instance, cuts=True)}},
    demo=DEMO,
    compiling=10.0,
)
