"""Output of all commands: messages, tables of figures, JSON, errors in one sentence."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
import traceback
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from colgen.cli.arguments import BAD_INPUT, DIAGNOSTIC
from colgen.cli.template import Figure
from colgen.core.errors import ColgenError, InputError
from colgen.core.files import write_text
from colgen.core.text import LONGEST, is_terminal, one_line, significant


def say(text: str) -> None:
    """Print a line on standard error, unless that is closed."""
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


def console() -> Console:
    """Return standard output, wide enough that tables are not folded if it is not a terminal."""
    return Console() if is_terminal(sys.stdout) else Console(width=240)


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
        console().print(_figures_table(title, figures))


def _plain(figure: Figure) -> dict[str, Any]:
    value = figure.value if math.isfinite(figure.value) else None
    return {"name": figure.name, "value": value, "unit": figure.unit, "n": figure.n}


def _figures_table(title: str, figures: Iterable[Figure]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("name", overflow="fold")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("note", overflow="fold")
    for figure in figures:
        table.add_row(
            Text(figure.name), significant(figure.value), Text(figure.unit), f"{figure.n:,}", Text(figure.note)
        )
    return table
