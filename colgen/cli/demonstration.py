"""The lines of ``colgen demo``: small instances solved by column generation and by brute force."""

from __future__ import annotations

import argparse
import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

from rich.console import Console
from rich.status import Status

from colgen.cli import template as templates
from colgen.cli.arguments import DIAGNOSTIC, PROVED
from colgen.cli.output import explain, say
from colgen.cli.template import DemoLine, Template
from colgen.cli.templates import load_all
from colgen.core.result import Result, Termination
from colgen.core.signals import ended_by, exit_code
from colgen.core.text import number, one_line, significant
from colgen.core.tolerances import TOLERANCES
from colgen.problem import Problem
from colgen.reporting.compared import solve_complete
from colgen.solvers.compiling import working_clock
from colgen.solvers.linear.lp import LPStatus
from colgen.solving import solve

_WIDTH = 80
"""Characters of a line, at most."""

_NEAR_ZERO = 1e-3
"""Below this, what is left of sums of scores near one is rounding."""

_COMPILING = 30.0
"""Seconds of compiling that a demo takes unasked: templates that come after these are named, and wait for ``--all``."""

_INSTANCE, _OBJECTIVE, _USED, _TIMES = 32, 13, 18, 9
"""Characters of a row's parts, with two spaces before each."""

_BRUTE_FORCE = 20.0
"""Seconds that brute force may take for an instance."""

_MANY = 10**7
"""Numbers of columns from here on are written by their powers of ten."""


def demonstrate(arguments: argparse.Namespace) -> int:
    """Solve small instances in both ways, and show each as soon as it is solved."""
    chosen, waiting, broken = _chosen(arguments)
    disagreeing: list[str] = []
    interrupted, failed = False, bool(broken)
    try:
        for template in chosen:
            beside = None
            for function in template.demo[: 1 if arguments.quick else None]:
                try:
                    with _waiting(template, first=beside is None):
                        line = function()
                except Exception as error:  # the other instances are still worth seeing
                    failed = True
                    explain(error, arguments.traceback, f"colgen, {template.name}: ")
                    continue
                _show(rows(template.name, line, beside))
                beside = line.brute_force
                if _contradicts(line):
                    disagreeing.append(f"{template.name}, {line.instance}")
    except KeyboardInterrupt:
        interrupted = True
    if not (interrupted or any(template.demo for template in chosen)):
        print("No installed template has a demo.")
    for where in disagreeing:
        say(f"colgen: WRONG ANSWER: column generation and brute force disagree on {where}.")
    if interrupted:
        say(ended_by())
        return exit_code()
    if waiting:
        names, seconds = ", ".join(t.name for t in waiting), sum(t.compiling for t in waiting)
        _show(["", *textwrap.wrap(f"colgen demo --all goes on: {names} (about {seconds:.0f} s to compile).", _WIDTH)])
    return DIAGNOSTIC if disagreeing or failed else PROVED


def _chosen(arguments: argparse.Namespace) -> tuple[list[Template], list[Template], int]:
    """The templates asked for, in that order, or those compiled soonest; those that wait; and how many are broken."""
    if arguments.templates:
        return [templates.load_template(name) for name in arguments.templates], [], 0
    loaded, broken = load_all()
    ordered = sorted(loaded, key=lambda template: template.compiling)
    spent, now = 0.0, 0
    for template in ordered:  # by what templates say of themselves, so that every machine shows the same
        spent += template.compiling
        now += arguments.all or not now or spent <= _COMPILING
    return ordered[:now], [template for template in ordered[now:] if template.demo], broken


@contextmanager
def _waiting(template: Template, first: bool) -> Iterator[None]:
    """Say what is waited for: on a terminal until it is there, elsewhere once a template."""
    how_long = f" (compiling, the first time about {template.compiling:.0f} s)" if template.compiling else ""
    terminal = Console(stderr=True)
    if terminal.is_terminal:
        with Status(f"{template.name}{how_long}", console=terminal):
            yield
        return
    if first and template.compiling:
        say(f"{template.name}{how_long} ...")
    yield


def _show(lines: Sequence[str]) -> None:
    print("\n".join(lines), flush=True)


def rows(name: str, line: DemoLine, beside: str | None = None) -> list[str]:
    """The rows of an instance, below a heading if brute force is another than ``beside``, that of the one before."""
    return [*(["", *_heading(name, line.brute_force)] if line.brute_force != beside else []), *_row(line)]


def _heading(name: str, brute_force: str) -> list[str]:
    """What a template's rows are below."""
    left = textwrap.wrap(f"{name}, beside {brute_force}", _INSTANCE + 2, subsequent_indent="  ")
    *more, above, below = left if len(left) > 1 else (*left, "")
    return [
        *more,
        _figures(above, "", "columns used", "times"),
        _figures(below, "objective", "of possible", "as fast"),
    ]


def _figures(left: str, objective: str, used: str, times: str) -> str:
    return f"{left:<{_INSTANCE + 2}}{objective:>{_OBJECTIVE}}  {used:>{_USED}}  {times:>{_TIMES}}"


def _row(line: DemoLine) -> list[str]:
    """A row, and whatever must be said of it, in lines of their own."""
    brute, seconds = line.brute_force_objective, line.brute_force_seconds
    lines = [f"  {part}" for part in textwrap.wrap(one_line(line.instance), _INSTANCE, break_long_words=False)] or [""]
    if len(lines[-1]) > _INSTANCE + 2:  # a word that is longer: no word is broken
        lines.append("")
    times = "" if seconds is None or not line.seconds else _about(seconds / line.seconds)
    if times and not line.brute_force_proved:
        times = f"> {times}"  # it had not ended by then
    used = f"{_count(line.columns_used)} of {_count(line.columns_possible)}"
    lines[-1] = _figures(lines[-1], number(line.objective, 8), used, times)
    after = "" if seconds is None else f" in {_about(seconds)} s"
    said = []
    if line.proof != Termination.OPTIMAL.value:
        said.append(f"column generation: {line.proof}")
    if brute is None:
        said.append(f"brute force has no answer{after}")
    elif not line.brute_force_proved:
        said.append(f"brute force: {number(brute, 8)}, not proved{after}")
    elif _contradicts(line):
        said.append(f"brute force: {number(brute, 8)} DISAGREES")
    for sentence in said:
        lines += textwrap.wrap(sentence, _WIDTH, initial_indent="    ", subsequent_indent="    ")
    return lines


def _about(value: float) -> str:
    """Two digits of what is measured on a machine that has other things to do."""
    return significant(float(f"{value:.2g}"))


def _count(columns: int) -> str:
    digits = str(columns)
    return f"{columns:,}" if columns < _MANY else f"{digits[0]}.{digits[1]}e{len(digits) - 1}"


def _contradicts(line: DemoLine) -> bool:
    """Whether a proved optimum lies outside what column generation has proved: from its objective to its dual bound."""
    optimum = line.brute_force_objective
    if optimum is None or not line.brute_force_proved:
        return False
    ends = (line.objective, line.objective if line.dual_bound is None else line.dual_bound)
    # Relative to the numbers compared; where all are zero but for rounding, to the demo's scores, which are near one.
    room = TOLERANCES.optimality * max(_NEAR_ZERO, *(abs(value) for value in (optimum, *ends) if math.isfinite(value)))
    return not min(ends) - room <= optimum <= max(ends) + room


Complete: TypeAlias = tuple[float | None, bool]
"""The objective that brute force has found, None for none, and whether it is proved optimal."""


def solve_model(model: Any, decimals: int | None = None) -> Complete:
    """Solve a complete model in HiGHS, for at most 20 seconds.

    Parameters
    ----------
    decimals
        Of every objective, where the optimum carries the rounding errors of floating point; None: all.
    """
    found = solve_complete(model, _BRUTE_FORCE)
    objective = None if found.values is None else float(found.objective)
    if objective is not None and decimals is not None:
        objective = round(objective, decimals)
    return objective, found.status is LPStatus.OPTIMAL


def demonstrations(
    *instances: Callable[[], Any],
    small: Callable[[], Any],
    problem: Callable[[Any], Problem],
    brute_force: str,
    complete: Callable[[Any], Complete],
    possible: Callable[[Any], int],
    used: Callable[[Any, Result], int] = lambda problem, result: result.columns_generated,
    named: Callable[[Any, Any], str] = lambda instance, answer: instance.name,
    prepare: Callable[[Any], object] = lambda instance: None,
) -> tuple[Callable[[], DemoLine], ...]:
    """Return the demo of a template: functions that solve an instance each, by brute force and by column generation.

    Parameters
    ----------
    instances
        Each makes one.
    small
        Makes an instance that is solved first in both ways, to compile kernels.  Compiling later is not counted either.
    brute_force, complete
        What brute force is called, and what it finds of an instance.
    possible, used
        How many columns an instance has, and how many of them a run has generated.
    named
        An instance and the answer of its run to how the instance is called.
    prepare
        Computes what instances of one kind share, whose seconds count for neither.
    """

    def line(make: Callable[[], Any]) -> DemoLine:
        first, instance = small(), make()
        complete(first)
        solve(problem(first))
        prepare(instance)
        started = working_clock()
        objective, proved = complete(instance)
        brute_force_seconds = working_clock() - started
        stated = problem(instance)
        started = working_clock()
        result = solve(stated)
        seconds = working_clock() - started  # the engine has checked the answer
        return DemoLine(
            instance=named(instance, result.answer),
            objective=result.objective,
            brute_force_objective=objective,
            proof=result.termination.value,
            columns_used=used(stated, result),
            columns_possible=possible(instance),
            brute_force=brute_force,
            brute_force_seconds=brute_force_seconds,
            seconds=seconds,
            dual_bound=result.dual_bound,
            brute_force_proved=proved,
        )

    return tuple(partial(line, make) for make in instances)
