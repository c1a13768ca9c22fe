"""``colgen solve`` for several files: in one process, several, or on a cluster."""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import IO, Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from colgen.cli import template as templates
from colgen.cli.option import option_values
from colgen.cli.requests import options_of
from colgen.cli.template import Solved, Template
from colgen.core.budget import Budget
from colgen.core.errors import InputError
from colgen.core.files import check_readable
from colgen.core.result import Result, Termination
from colgen.core.stop import StopRule
from colgen.core.text import number, plural, wrap
from colgen.many import OneOfMany, solve_many
from colgen.method import Method
from colgen.options import Parallel
from colgen.problem import Problem

_NAMED = 5
"""Maximum number of instances without a proved optimum that are listed by number."""


@dataclass
class Tally:
    """Counts of solved instances, and those without a proved optimum.

    ``unproved`` lists the numbers, from 1, of the latter. ``infeasible`` of them are proved infeasible, and ``faults``
    failed with an error. ``scopes`` are the subsets of answers among which optima are proved, if not all, and ``given``
    the assumptions of the problems.
    """

    solved: int = 0
    unproved: list[int] = field(default_factory=list)
    infeasible: int = 0
    faults: int = 0
    interrupted: bool = False
    scopes: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)
    started: float = field(default_factory=time.perf_counter)

    def add(self, one: Solved) -> None:
        """Count an instance."""
        self.solved += 1
        if one.termination is not Termination.OPTIMAL:
            self.unproved.append(self.solved)
        if one.termination is Termination.OPTIMAL:
            self.scopes |= {one.scope} - {""}
        self.given |= {one.given} - {""}
        self.infeasible += one.termination is Termination.INFEASIBLE
        self.faults += one.termination is Termination.FAULT
        self.interrupted |= one.termination.is_interrupt

    def __str__(self) -> str:
        named = ", ".join(map(str, self.unproved[:_NAMED])) + (", ..." if len(self.unproved) > _NAMED else "")
        among = "".join(f" {scope}" for scope in (*sorted(self.scopes), *sorted(self.given)))
        proved = f"{self.solved - len(self.unproved):,} proved optimal{among}"
        proved += f" (not number {named})" if named else ""
        none = f", {self.infeasible:,} proved infeasible" if self.infeasible else ""
        none += f", {self.faults:,} stopped by an error" if self.faults else ""
        return f"{plural(self.solved, 'instance')}, {proved}{none}, {time.perf_counter() - self.started:.3g} seconds"


def write_all(
    solved: Iterator[Solved],
    tally: Tally,
    say: Callable[[str], None] | None,
    records: IO[str] | None,
    *,
    live: bool = False,
) -> None:
    """Write answers as they come, until the user interrupts.

    ``say`` prints the joined lines of each answer; ``records`` receives one JSON object per line and instance.
    ``tally`` counts the instances, correctly also if solving raises; with ``live`` it is shown on standard error.
    """
    budget = Budget()
    with _line(live) as shown:
        for one in solved:
            if say is not None and one.lines:
                say("\n".join(one.lines))  # in one call, so that an interrupt does not split an answer
            if records is not None:
                record = _record(tally.solved + 1, one)
                records.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
                records.flush()
            tally.add(one)
            if shown is not None:
                shown.update(Text(str(tally)))
            tally.interrupted |= budget.interrupted
            if tally.interrupted:
                return


def _line(live: bool) -> AbstractContextManager[Live | None]:
    """Return a line that is redrawn on standard error and leaves standard output alone."""
    if not live:
        return nullcontext(None)
    return Live(console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False)


def _record(number: int, one: Solved) -> dict[str, Any]:
    gap = abs(one.objective - one.dual_bound) / max(abs(one.objective), 1.0)
    return {
        **({"file": one.file} if one.file else {}),
        "number": number,
        "termination": one.termination.name,
        "message": one.termination.value,
        "scope": one.scope or None,
        "given": one.given or None,
        "objective": _finite(one.objective),
        "dual_bound": _finite(one.dual_bound),
        "bound_source": one.bound_source,
        "gap": _finite(gap),
        "answer": one.data,
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


@dataclass(frozen=True)
class _Named:
    """Makes problems by a template that each worker loads by name, so that no function is sent."""

    name: str
    options: Mapping[str, str]

    def __call__(self, instance: Any) -> Problem:
        return templates.load_template(self.name).problem_of(instance, self.options)


def solved_files(arguments: argparse.Namespace, template: Template, stop: Sequence[StopRule]) -> Iterator[Solved]:
    """Yield the answers of instances, one per file, in the order of the files."""
    if arguments.model is not None or (arguments.option and not template.options):
        raise InputError("--model and --option apply to one text: expected one FILE with them")
    option_values(options_of(arguments), template.options)
    for path in arguments.files:
        if str(path) == "-":
            raise InputError("expected files: the standard input (-) cannot be one of several instances")
        check_readable(path)
    return _solved(arguments, template, stop)


def _solved(arguments: argparse.Namespace, template: Template, stop: Sequence[StopRule]) -> Iterator[Solved]:
    read: deque[Any] = deque()
    options = options_of(arguments)

    def instances() -> Iterator[Any]:
        for path in arguments.files:
            read.append(template.instance(path, options))
            yield read[-1]

    many = solve_many(
        instances(),
        problem=_Named(template.name, options),
        stop=tuple(stop),
        relaxation=arguments.relaxation,
        method=Method(lp=arguments.lp),
        parallel=Parallel(
            workers=arguments.workers or (None if arguments.cluster else 1),
            node_batch=arguments.node_batch or 1,
            cluster=arguments.cluster,
        ),
    )
    for one in many:
        yield _written(arguments, template, read.popleft(), one)


def _written(arguments: argparse.Namespace, template: Template, instance: Any, one: OneOfMany) -> Solved:
    """Return the outcome of a file: one line on its bounds, then its answer."""
    name, result = str(arguments.files[one.number]), one.result
    if result is None:
        lines = [f"{name}: {Termination.FAULT.value} {one.fault}", ""]
        return Solved(lines, None, Termination.FAULT, float("nan"), float("nan"), "", name)
    reading = template.reading(instance)
    head = [f"{name}: {_describe(result)}", *([wrap(f"read as {reading}")] if reading else [])]
    if result.solution is None or arguments.relaxation:
        return Solved.of(result, [*head, ""], None, scope=template.scope(instance), file=name)
    answer = template.answer(instance, result)
    lines = [*head, *template.lines(instance, answer), ""]
    return Solved.of(result, lines, template.data(instance, answer), scope=template.scope(instance), file=name)


def _describe(result: Result) -> str:
    bound = "" if result.is_optimal else f", dual bound {number(result.dual_bound)}"
    return f"{result.termination.value} objective {number(result.objective)}{bound}"
