"""Progress: rounds as log lines or as a live line on a terminal.  All format strings of the log are here."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from rich.console import Console
from rich.live import Live
from rich.text import Text

from colgen.core.result import Iteration
from colgen.core.sense import Sense
from colgen.reporting.live_log import LogFile

logger = logging.getLogger("colgen")

HEADER = "  round   node phase     objective         bound     incumbent  gap %  columns   rows   new  seconds"


def line(iteration: Iteration, sense: Sense) -> str:
    """One round as a line of the log; the bound is the one on all answers, or the node's own before there is one."""
    i = iteration
    bound = i.global_bound if math.isfinite(i.global_bound) else i.dual_bound
    return (
        f"{i.number:7d} {i.node:6d} {i.phase:5d} {_number(i.objective)} {_number(bound)} {_number(i.incumbent)} "
        f"{_gap(i.gap(sense))} {i.columns:8d} {i.rows:6d} {i.new_columns + i.new_rows:5d} {i.seconds:8.2f}"
    )


def _number(value: float) -> str:
    return f"{value:13.6f}" if math.isfinite(value) else " " * 12 + "-"


def _gap(gap: float) -> str:
    return f"{100 * gap:6.2f}" if math.isfinite(gap) else "     -"


def listening(
    progress: bool | Callable[[Iteration], None], sense: Sense
) -> AbstractContextManager[Callable[[Iteration], None] | None]:
    """What is to be called with every round: nothing, the caller's function, a live line, or a printer of lines."""
    if isinstance(progress, LogFile):
        return _logging(progress, sense)
    if callable(progress):
        return nullcontext(progress)
    if not progress:
        return nullcontext(None)
    console = Console(stderr=True)
    return _live(console, sense) if console.is_terminal else _lines(console, sense)


@contextmanager
def _logging(log: LogFile, sense: Sense) -> Iterator[Callable[[Iteration], None]]:
    """To a file, and to whoever looks on, if that is wanted too."""
    with listening(log.show, sense) as shown:

        def listen(iteration: Iteration) -> None:
            log(iteration)
            if shown is not None:
                shown(iteration)

        try:
            yield listen
        finally:
            log.close()


@contextmanager
def _live(console: Console, sense: Sense) -> Iterator[Callable[[Iteration], None]]:
    """The newest round under a header, redrawn a few times a second; the last one stays."""
    newest: list[Iteration] = []

    def picture() -> Text:
        return Text("\n".join([HEADER, *(line(i, sense) for i in newest)]), no_wrap=True, overflow="crop")

    def listen(iteration: Iteration) -> None:
        newest[:] = [iteration]

    with Live(get_renderable=picture, console=console, refresh_per_second=8):
        yield listen


@contextmanager
def _lines(console: Console, sense: Sense) -> Iterator[Callable[[Iteration], None]]:
    """Plain lines: the first rounds, then at most one a second, then the last."""
    state: dict[str, float | Iteration | None] = {"printed": -math.inf, "pending": None}
    print_line = console.file.write
    print_line(HEADER + "\n")

    def listen(iteration: Iteration) -> None:
        if iteration.number < 10 or iteration.seconds - float(state["printed"]) >= 1.0:  # type: ignore[arg-type]
            print_line(line(iteration, sense) + "\n")
            state["printed"], state["pending"] = iteration.seconds, None
        else:
            state["pending"] = iteration

    yield listen
    if isinstance(state["pending"], Iteration):
        print_line(line(state["pending"], sense) + "\n")
