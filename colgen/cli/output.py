"""Output of all commands: messages, tables of figures, JSON, errors in one sentence."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import re
import sys
import traceback
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from colgen.cli.arguments import BAD_INPUT, DIAGNOSTIC
from colgen.core.errors import ColgenError, InputError
from colgen.core.files import write_text
from colgen.core.text import LONGEST, one_line, significant, wrap

if TYPE_CHECKING:
    from colgen.cli.template import Figure


def say(text: str) -> None:
    """Print a line on standard error, unless that is closed; it is broken at blanks to fit a terminal."""
    with contextlib.suppress(OSError, ValueError):
        print(wrap(text, sys.stderr), file=sys.stderr, flush=True)


def show(lines: Iterable[str]) -> None:
    """Print lines that fit the terminal, with the colours of :func:`paint` where it has them."""
    output = Console(highlight=False)
    for line in lines:
        output.print(paint(wrap(line)), soft_wrap=True)


def paint(text: str) -> Text:
    """Return a text: green where a run proved its optimum, red where it has no answer, yellow where it stopped.

    ``rich`` leaves the colours out if the output is not a terminal, or if NO_COLOR is set.
    """
    from colgen.core.result import Termination

    painted = Text(text)
    colours = {
        Termination.OPTIMAL: "green",
        Termination.INFEASIBLE: "red",
        Termination.UNBOUNDED: "red",
        Termination.UNBOUNDED_OR_INFEASIBLE: "red",
        Termination.FAULT: "red",
    }
    for end in Termination:
        words, colon, _ = end.value.removesuffix(".").partition(":")
        painted.highlight_regex(r"\s+".join(map(re.escape, words.split())) + f"(?={colon})", colours.get(end, "yellow"))
    return painted


def explain(error: Exception, with_traceback: bool, who: str = "colgen: ") -> int:
    """Print an error in one sentence; return the exit code."""
    if with_traceback:
        say("".join(traceback.format_exception(error)).rstrip())
    if isinstance(error, InputError):
        say(one_line(f"{who}{error}"))
        return BAD_INPUT
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        say(one_line(f"{who}{where}{error.strerror or error}"))
        return BAD_INPUT
    if isinstance(error, ColgenError):
        say(one_line(f"{who}{error}", None))
    else:
        more = "" if with_traceback else " (--traceback prints where)"
        say(one_line(f"{who}unexpected {type(error).__name__}: {error}", LONGEST - len(more)) + more)
    return DIAGNOSTIC


def write_json(content: Any, destination: str) -> None:
    """Write plain data to a file, or to standard output if ``destination`` is ``-``."""
    try:
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False, default=_from_numpy)
    except (TypeError, ValueError) as error:
        raise ColgenError(f"the template's data cannot be written as JSON: {error}") from error
    if destination == "-":
        print(text)
    else:
        write_text(destination, text + "\n")


def _from_numpy(value: Any) -> Any:
    """Convert a numpy number or array to plain data."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not plain data")


def show_figures(arguments: argparse.Namespace, title: str, figures: Sequence[Figure]) -> None:
    """Print figures as a table, or write them as JSON, according to the arguments."""
    if arguments.json is not None:
        write_json([_plain(figure) for figure in figures], arguments.json)
    if arguments.json != "-":
        Console().print(_figures_table(title, figures))


def _plain(figure: Figure) -> dict[str, Any]:
    value = figure.value if math.isfinite(figure.value) else None
    return {"name": figure.name, "value": value, "unit": figure.unit, "n": figure.n}


def _figures_table(title: str, figures: Iterable[Figure]) -> Table:
    """Return a table with the note of each figure below its name."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("name", overflow="fold")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    for figure in figures:
        note = [Padding(Text(figure.note, "dim"), (0, 0, 0, 2))] if figure.note else []
        name = Group(Text(figure.name), *note)
        table.add_row(name, significant(figure.value), Text(figure.unit), f"{figure.n:,}")
    return table
