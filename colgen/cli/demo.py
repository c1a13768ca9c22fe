"""``colgen demo``: small instances by column generation and by brute force."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

from colgen.cli import template as templates
from colgen.cli.arguments import DIAGNOSTIC, PROVED
from colgen.cli.describing import load_all
from colgen.cli.output import console as output
from colgen.cli.output import explain, say
from colgen.cli.template import DemoLine, Template
from colgen.core.budget import exit_code
from colgen.core.tolerances import TOLERANCES
from colgen.core.wording import number, significant

_NEAR_ZERO = 1e-3
"""Below this, what is left of sums of scores near one is rounding."""

_COLUMNS: Sequence[tuple[str, int, Literal["left", "right"]]] = (
    ("template", 20, "left"),
    ("instance", 44, "left"),
    ("objective", 14, "right"),
    ("by brute force", 26, "right"),
    ("proof", 18, "left"),
    ("columns used of possible", 27, "right"),
    ("brute force", 34, "left"),
    ("its seconds", 13, "right"),
    ("column generation, seconds", 20, "right"),
)
"""Heading, share of the width, and side: each row is printed by itself, and all have to stand below the headings."""


def demo(arguments: argparse.Namespace) -> int:
    """Solve every template's small instances in both ways, and show each as soon as it is solved."""
    # Before the templates are imported: where all kernels are still to be compiled the last row comes minutes later.
    output().print("Column generation and brute force. What runs for the first time is compiled first, once.\n")
    chosen, broken = _chosen(arguments.templates)
    disagreeing: list[str] = []
    shown, interrupted, failed = 0, False, bool(broken)
    try:
        for template in chosen:
            for function in template.demo[: 1 if arguments.quick else None]:
                try:
                    with _waiting(template):
                        lines = function()
                except Exception as error:  # the other instances are still worth seeing
                    failed = True
                    explain(error, arguments.traceback, f"colgen, {template.name}: ")
                    continue
                for line in lines:
                    output().print(_row(template.name, line, with_headings=not shown))
                    shown += 1
                    if _contradicts(line):
                        disagreeing.append(f"{template.name}, {line.instance}")
    except KeyboardInterrupt:
        interrupted = True
    if not (interrupted or any(template.demo for template in chosen)):
        print("No installed template has a demo.")
    for where in disagreeing:
        say(f"colgen: WRONG ANSWER: column generation and brute force disagree on {where}.")
    if interrupted:
        say("Interrupted by the user.")
        return exit_code()
    return DIAGNOSTIC if disagreeing or failed else PROVED


def _chosen(names: Sequence[str]) -> tuple[list[Template], int]:
    """The templates asked for, in that order, or all, what is compiled soonest first; and how many are broken."""
    if names:
        return [templates.load_template(name) for name in names], 0
    loaded, broken = load_all()
    return sorted(loaded, key=lambda template: template.compiling), broken


@contextmanager
def _waiting(template: Template) -> Iterator[None]:
    """Say on a terminal what is waited for, until it is there."""
    terminal = Console(stderr=True)
    if not terminal.is_terminal:
        yield
        return
    how_long = f" (compiling, the first time about {template.compiling:.0f} s)" if template.compiling else ""
    with Status(f"{template.name}{how_long}", console=terminal):
        yield


def _row(name: str, line: DemoLine, with_headings: bool) -> Table:
    """A row of the table, below the headings if it is the first."""
    table = Table(box=None, expand=True, show_header=with_headings, pad_edge=False, padding=(0, 2, 0, 0))
    for heading, share, side in _COLUMNS:
        table.add_column(heading, ratio=share, justify=side, overflow="fold")
    brute = Text("-" if line.brute_force_objective is None else number(line.brute_force_objective))
    if line.brute_force_objective is not None and not line.brute_force_proved:
        after = "" if line.brute_force_seconds is None else f" in {significant(line.brute_force_seconds)} s"
        brute.append(f", not proved{after}")
    elif _contradicts(line):
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
    return table


def _contradicts(line: DemoLine) -> bool:
    """Whether a proved optimum lies outside what column generation has proved: from its objective to its dual bound."""
    optimum = line.brute_force_objective
    if optimum is None or not line.brute_force_proved:
        return False
    ends = (line.objective, line.objective if line.dual_bound is None else line.dual_bound)
    # Relative to the numbers compared; where all are zero but for rounding, to the demo's scores, which are near one.
    room = TOLERANCES.optimality * max(_NEAR_ZERO, *(abs(value) for value in (optimum, *ends) if math.isfinite(value)))
    return not min(ends) - room <= optimum <= max(ends) + room
