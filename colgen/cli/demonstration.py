"""The output of ``colgen demo``: small instances solved by column generation and by brute force."""

from __future__ import annotations

import argparse
import math
import statistics
import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

from rich.console import Console

from colgen.cli import template as templates
from colgen.cli.arguments import DIAGNOSTIC, PROVED
from colgen.cli.output import explain, paint, say
from colgen.cli.template import DemoLine, Template
from colgen.cli.templates import load_all
from colgen.core.result import Result, Termination
from colgen.core.signals import ended_by, exit_code
from colgen.core.text import number, one_line, plural, significant
from colgen.core.tolerances import TOLERANCES
from colgen.problem import Problem
from colgen.reporting.compared import solve_complete
from colgen.reporting.progress import showing
from colgen.solvers.compiling import working_clock
from colgen.solvers.linear.lp import LPStatus
from colgen.solving import solve

_Given = TypeVar("_Given")
_Found = TypeVar("_Found")

_WIDTH = 80
"""Maximum number of characters of a line."""

_NEAR_ZERO = 1e-3
"""Scores are near 1: sums below this are only rounding errors."""

_COMPILING = 30.0
"""Seconds of compiling without ``--all``; templates beyond that are only named."""

_INSTANCE, _OBJECTIVE, _USED, _TIMES = 26, 15, 16, 17
"""Widths of the columns of a row, which begin with two spaces."""

_BRUTE_FORCE = 20.0
"""Seconds that brute force may take for an instance."""

_REPEATS, _SHORT = 10, 0.25
"""A method is timed at most this number of times, as long as its runs take less than these seconds together."""

_MANY = 10**7
"""From this number on, numbers of columns are written as powers of ten."""


def demonstrate(arguments: argparse.Namespace) -> int:
    """Solve small instances by brute force and by column generation; print each as soon as it is solved."""
    chosen, remaining, broken = _choose(arguments)
    disagreeing: list[str] = []
    lines: list[DemoLine] = []
    interrupted, failed = False, bool(broken)
    try:
        for template in chosen:
            previous = None
            count = min(len(template.demo), 1) if arguments.quick else len(template.demo)
            for number, function in enumerate(template.demo[:count], 1):
                try:
                    with showing(partial("{}, instance {} of {}".format, template.name, number, count)):
                        line = function()
                except Exception as error:  # continue with the other instances
                    failed = True
                    explain(error, arguments.traceback, f"colgen, {template.name}: ")
                    continue
                if line.brute_force != previous:
                    _show(["", *_heading(template.name, line.brute_force)], "bold")
                _show(_row(line))
                previous = line.brute_force
                lines.append(line)
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
    if lines:
        everything = all(line.proof == Termination.OPTIMAL.value for line in lines) and not disagreeing
        _show(["", *textwrap.wrap(_verdict(lines), _WIDTH)], "green" if everything else "yellow")
        if not (failed or disagreeing):
            first = next(template for template in chosen if template.demo)
            file = f"example{first.suffix or '.txt'}"
            print(f"Next: colgen example {first.name} > {file}\n      colgen solve {first.name} {file}")
    if remaining:
        names, seconds = ", ".join(t.name for t in remaining), sum(t.compiling for t in remaining)
        _show(textwrap.wrap(f"colgen demo --all adds: {names} (about {seconds:.0f} s to compile).", _WIDTH))
    return DIAGNOSTIC if disagreeing or failed else PROVED


def _choose(arguments: argparse.Namespace) -> tuple[list[Template], list[Template], int]:
    """Return the templates to run, those left for ``--all``, and the number of broken ones."""
    if arguments.templates:
        return [templates.load_template(name) for name in arguments.templates], [], 0
    loaded, broken = load_all()
    ordered = sorted(loaded, key=lambda template: template.compiling)
    seconds, now = 0.0, 0
    for template in ordered:  # by declared times, so that every machine selects the same
        seconds += template.compiling
        now += arguments.all or not now or seconds <= _COMPILING
    return ordered[:now], [template for template in ordered[now:] if template.demo], broken


def _show(lines: Sequence[str], style: str = "") -> None:
    """Print lines at once, on a terminal in colour."""
    output = Console(highlight=False)
    for line in lines:
        text = paint(line)
        text.highlight_regex(r"\S+x faster", "green")
        text.highlight_regex(r"\S+x slower", "yellow")
        text.highlight_regex(r"\S+ DISAGREES", "red")
        output.print(text, style=style, soft_wrap=True)
    output.file.flush()


def _heading(name: str, brute_force: str) -> list[str]:
    """Return the heading of a template's rows."""
    left = textwrap.wrap(f"{name}, against {brute_force}", _INSTANCE + 2, subsequent_indent="  ")
    *more, above, below = left if len(left) > 1 else (*left, "")
    return [
        *more,
        _figures(above, "", "columns used", ""),
        _figures(below, "objective", "of possible", "time"),
    ]


def _figures(left: str, objective: str, used: str, times: str) -> str:
    return f"{left:<{_INSTANCE + 2}}{objective:>{_OBJECTIVE}}  {used:>{_USED}}  {times:>{_TIMES}}".rstrip()


def _row(line: DemoLine) -> list[str]:
    """Return a row, and remarks about it as further lines."""
    brute, seconds = line.brute_force_objective, line.brute_force_seconds
    lines = [f"  {part}" for part in textwrap.wrap(one_line(line.instance), _INSTANCE, break_long_words=False)] or [""]
    if len(lines[-1]) > _INSTANCE + 2:  # a long word, which is not broken
        lines.append("")
    ratio = speedup(line)
    times = "" if ratio is None else _faster(ratio)
    if times and not line.brute_force_proved:
        times = f"> {times}"  # brute force was stopped
    used = f"{_count(line.columns_used)} of {_count(line.columns_possible)}" if line.columns_used else "none needed"
    lines[-1] = _figures(lines[-1], f"{number(line.objective, 8)} {line.unit}".rstrip(), used, times)
    after = "" if seconds is None else f" in {_about(seconds)} s"
    remarks = []
    if line.proof != Termination.OPTIMAL.value:
        remarks.append(f"column generation: {line.proof}")
    if brute is None:
        remarks.append(f"brute force has no answer{after}")
    elif not line.brute_force_proved:
        remarks.append(f"brute force: {number(brute, 8)}, not proved{after}")
    elif _contradicts(line):
        remarks.append(f"brute force: {number(brute, 8)} DISAGREES")
    for sentence in remarks:
        lines += textwrap.wrap(sentence, _WIDTH, initial_indent="    ", subsequent_indent="    ")
    return lines


def speedup(line: DemoLine) -> float | None:
    """Return the time of brute force over that of column generation; None if either is unknown."""
    return None if line.brute_force_seconds is None or not line.seconds else line.brute_force_seconds / line.seconds


def _faster(ratio: float) -> str:
    return f"{_about(ratio)}x faster" if ratio >= 1.0 else f"{_about(1.0 / ratio)}x slower"


def _verdict(lines: Sequence[DemoLine]) -> str:
    """Return a sentence on what was proved, and how fast."""
    proved = sum(line.proof == Termination.OPTIMAL.value for line in lines)
    sentence = f"Column generation proved {proved} of {plural(len(lines), 'instance')} optimal"
    ratios = [ratio for ratio in map(speedup, lines) if ratio is not None]
    return f"{sentence}; median: {_faster(statistics.median(ratios))} than brute force." if ratios else f"{sentence}."


def _about(value: float) -> str:
    """Format a measured time with two digits, since it is noisy."""
    return significant(float(f"{value:.2g}"))


def _count(columns: int) -> str:
    digits = str(columns)
    return f"{columns:,}" if columns < _MANY else f"{digits[0]}.{digits[1]}e{len(digits) - 1}"


def _contradicts(line: DemoLine) -> bool:
    """Whether a proved optimum lies outside the interval from column generation's objective to its dual bound."""
    optimum = line.brute_force_objective
    if optimum is None or not line.brute_force_proved:
        return False
    ends = (line.objective, line.objective if line.dual_bound is None else line.dual_bound)
    # Relative to the numbers compared, or to the demo's scores (near 1) if all are rounding errors of zero.
    room = TOLERANCES.optimality * max(_NEAR_ZERO, *(abs(value) for value in (optimum, *ends) if math.isfinite(value)))
    return not min(ends) - room <= optimum <= max(ends) + room


Complete: TypeAlias = tuple[float | None, bool]
"""The objective of brute force (None: no answer), and whether it is proved optimal."""


def solve_model(model: Any, decimals: int | None = None) -> Complete:
    """Solve a complete model in HiGHS for at most 20 seconds; round the objective to ``decimals`` if given."""
    outcome = solve_complete(model, _BRUTE_FORCE)
    objective = None if outcome.values is None else float(outcome.objective)
    if objective is not None and decimals is not None:
        objective = round(objective, decimals)
    return objective, outcome.status is LPStatus.OPTIMAL


def _fastest(make: Callable[[], _Given], method: Callable[[_Given], _Found]) -> tuple[_Given, _Found, float]:
    """Return what is solved, its outcome, and the seconds of the fastest run; short runs are repeated, being noisy."""
    seconds: list[float] = []
    while not seconds or (len(seconds) < _REPEATS and sum(seconds) < _SHORT):
        given = make()
        started = working_clock()
        found = method(given)
        seconds.append(working_clock() - started)
    return given, found, min(seconds)


def demonstrations(
    *instances: Callable[[], Any],
    small: Callable[[], Any],
    unit: str = "",
    problem: Callable[[Any], Problem],
    brute_force: str,
    complete: Callable[[Any], Complete],
    possible: Callable[[Any], int],
    used: Callable[[Any, Result], int] = lambda problem, result: result.columns_generated,
    named: Callable[[Any, Any], str] = lambda instance, answer: instance.name,
    prepare: Callable[[Any], object] = lambda instance: None,
) -> tuple[Callable[[], DemoLine], ...]:
    """Return the demo of a template: functions that solve one instance each, by brute force and by column generation.

    Parameters
    ----------
    instances
        Functions that make one instance each.
    small
        Makes an instance that brute force solves first, to compile its kernels. Column generation compiles by solving
        each instance once more than it is measured.
    unit
        Unit of objectives: ``"rolls"``.
    brute_force, complete
        Name of the brute-force method, and a function from an instance to its outcome.
    possible, used
        Number of columns in the complete formulation, and number of columns that a run generated.
    named
        Names an instance, given the answer of its run.
    prepare
        Computes data shared by instances of one kind; its time is not counted.
    """

    def line(make: Callable[[], Any]) -> DemoLine:
        def prepared() -> Any:
            instance = make()
            prepare(instance)
            return instance

        complete(small())
        solve(problem(make()))
        instance, (objective, proved), brute_force_seconds = _fastest(prepared, complete)
        stated, result, seconds = _fastest(lambda: problem(prepared()), solve)  # with the check of the answer
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
            unit=unit,
        )

    return tuple(partial(line, make) for make in instances)
