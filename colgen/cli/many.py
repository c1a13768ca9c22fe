"""``colgen solve`` of several files, by several processes or on a cluster."""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from colgen.cli import template as templates
from colgen.cli.requests import options_of
from colgen.cli.template import Solved, Template, check_options
from colgen.core.errors import InputError
from colgen.core.files import check_readable
from colgen.core.result import Result, Termination
from colgen.core.stop import StopRule
from colgen.core.wording import number
from colgen.many import OneOfMany, solve_many
from colgen.problem import Problem


@dataclass(frozen=True)
class _Named:
    """Makes problems by a template that each worker finds by its name: its functions need not travel."""

    name: str

    def __call__(self, instance: Any) -> Problem:
        return templates.load_template(self.name).problem(instance)


def solved_files(arguments: argparse.Namespace, template: Template, stop: Sequence[StopRule]) -> Iterator[Solved]:
    """The answers of instances, one file each, in the order of the files."""
    if arguments.model is not None or (arguments.option and not template.read_options):
        raise InputError("--model and --option are for one text: expected one FILE with them")
    check_options(options_of(arguments), template.read_options)
    for path in arguments.files:
        if str(path) == "-":
            raise InputError("the standard input (-) holds no instance: expected files")
        check_readable(path)
    asked = {
        "stop": tuple(stop),
        "relaxation": arguments.relaxation,
        "node_limit": arguments.node_limit,
        "node_batch": arguments.node_batch or 1,
        "lp": arguments.lp,
    }
    return _solved(arguments, template, {name: value for name, value in asked.items() if value is not None})


def _solved(arguments: argparse.Namespace, template: Template, settings: dict[str, Any]) -> Iterator[Solved]:
    read: deque[Any] = deque()
    options = options_of(arguments)

    def instances() -> Iterator[Any]:
        for path in arguments.files:
            read.append(template.instance(path, options))
            yield read[-1]

    many = solve_many(
        instances(),
        problem=_Named(template.name),
        client=arguments.cluster,
        workers=arguments.workers or (None if arguments.cluster else 1),
        **settings,
    )
    for one in many:
        yield _written(arguments, template, read.popleft(), one)


def _written(arguments: argparse.Namespace, template: Template, instance: Any, one: OneOfMany) -> Solved:
    """One line that says what is proved of a file, and its answer below."""
    name, result = str(arguments.files[one.number]), one.result
    if result is None:
        lines = [f"{name}: {Termination.FAULT.value} {one.fault}", ""]
        return Solved(lines, None, Termination.FAULT, float("nan"), float("nan"), "", name)
    answered = result.solution is not None and not arguments.relaxation
    reading = template.reading(instance)
    said = [f"{name}: {_said(result)}", *([f"read as {reading}"] if reading else [])]
    lines = [*said, *(template.lines(instance, result) if answered else ()), ""]
    data = template.data(instance, result) if answered else None
    scope = template.scope(instance)
    found = (result.termination, result.objective, result.dual_bound)
    return Solved(lines, data, *found, scope, name, bound_source=result.bound_source)


def _said(result: Result) -> str:
    bound = "" if result.is_optimal else f", dual bound {number(result.dual_bound)}"
    return f"{result.termination.value} objective {number(result.objective)}{bound}"
