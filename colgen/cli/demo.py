"""``colgen demo``: small instances by column generation and by brute force."""

from __future__ import annotations

import argparse
import math

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from colgen.cli.arguments import DIAGNOSTIC, PROVED
from colgen.cli.describing import load_all
from colgen.cli.output import console as output
from colgen.cli.output import explain, say
from colgen.cli.template import DemoLine
from colgen.core.budget import exit_code
from colgen.core.wording import number, significant

_SAME = 1e-6
"""Relative difference up to which optima are the same."""

_NEAR_ZERO = 1e-3
"""Below this, what is left of sums of scores near one is rounding."""


def demo(arguments: argparse.Namespace) -> int:
    """Solve every template's small instances in both ways."""
    templates, broken = load_all()
    functions = [(template, function) for template in templates for function in template.demo]
    lines: list[tuple[str, DemoLine]] = []
    interrupted = False
    failed = bool(broken)
    terminal = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=terminal, transient=True, disable=not terminal.is_terminal) as progress:
        task = progress.add_task("demo", total=len(functions))
        try:
            for template, function in functions:
                progress.update(task, description=template.name)
                try:
                    lines += [(template.name, line) for line in function()]
                except Exception as error:  # the other instances are still worth seeing
                    failed = True
                    explain(error, arguments.traceback, f"colgen, {template.name}: ")
                progress.advance(task)
        except KeyboardInterrupt:
            interrupted = True

    table = Table(title="Column generation and brute force", title_justify="left")
    for heading in ("template", "instance"):
        table.add_column(heading, overflow="fold")
    table.add_column("objective", justify="right")
    table.add_column("by brute force", justify="right")
    table.add_column("proof", overflow="fold")
    table.add_column("columns used of possible", justify="right")
    table.add_column("brute force", overflow="fold")
    table.add_column("its seconds", justify="right")
    table.add_column("column generation, seconds", justify="right")
    disagreeing = []
    for name, line in lines:
        brute = Text("-" if line.brute_force_objective is None else number(line.brute_force_objective))
        if line.brute_force_objective is not None and not line.brute_force_proved:
            after = "" if line.brute_force_seconds is None else f" in {significant(line.brute_force_seconds)} s"
            brute.append(f", not proved{after}")
        elif _contradicts(line):
            disagreeing.append(f"{name}, {line.instance}")
            brute = Text(f"{brute} DISAGREES", style="bold reverse red")
        table.add_row(
            name,
            Text(line.instance),
            number(line.objective),
            brute,
            Text(line.proof),
            f"{line.columns_used:,} of {line.columns_possible:,}",
            Text(line.brute_force),
            "-" if line.brute_force_seconds is None else significant(line.brute_force_seconds),
            significant(line.seconds),
        )
    if lines:
        output().print(table)
    elif not functions and not interrupted:
        print("No installed template has a demo.")
    for where in disagreeing:
        say(f"colgen: WRONG ANSWER: column generation and brute force disagree on {where}.")
    if interrupted:
        say("Interrupted by the user.")
        return exit_code()
    return DIAGNOSTIC if disagreeing or failed else PROVED


def _contradicts(line: DemoLine) -> bool:
    """Whether a proved optimum lies outside what column generation has proved: from its objective to its dual bound."""
    optimum = line.brute_force_objective
    if optimum is None:
        return False
    ends = (line.objective, line.objective if line.dual_bound is None else line.dual_bound)
    # Relative to the numbers compared; where all are zero but for rounding, to the demo's scores, which are near one.
    room = _SAME * max(_NEAR_ZERO, *(abs(value) for value in (optimum, *ends) if math.isfinite(value)))
    return not min(ends) - room <= optimum <= max(ends) + room
