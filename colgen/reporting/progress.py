"""Progress: rounds as log lines, as a live line on a terminal, or as one quiet line in a notebook.

All format strings of the log are here.
"""

from __future__ import annotations

import importlib
import logging
import math
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from colgen.core.result import Iteration
from colgen.core.sense import Sense
from colgen.core.text import counted, number, percent
from colgen.reporting.live_log import LogFile
from colgen.solvers.compiling import compile_seconds, compiled_now

logger = logging.getLogger("colgen")

_QUIET = 0.25
"""Seconds from one look of a notebook's line to the next."""

HEADER = "  round  nodes phase     objective         bound     incumbent  gap %  columns   rows   new  seconds"


def line(iteration: Iteration, sense: Sense, nodes: int) -> str:
    """One round as a line of the log; the bound is the one on all answers, or the node's own before there is one.

    ``nodes``: how many have been looked at so far, as in the summary of the result.  The number of a node says when it
    was made, and is larger: open nodes have numbers too.
    """
    i = iteration
    bound = i.global_bound if math.isfinite(i.global_bound) else i.dual_bound
    return (
        f"{i.number:7d} {nodes:6d} {i.phase:5d} {_number(i.objective)} {_number(bound)} {_number(i.incumbent)} "
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
    if _in_notebook():
        return _quiet_line(sense)
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
    """Show the newest round under a header, redrawn a few times a second, and the kernel that is being compiled."""
    newest: list[Iteration] = []
    nodes: set[int] = set()

    def picture() -> Text:
        lines = [line(i, sense, len(nodes)) for i in newest]
        if kernel := compiled_now():
            lines.append(f"compiling {kernel} (once per machine; {compile_seconds():.0f} s so far)")
        return Text("\n".join([HEADER, *lines]), no_wrap=True, overflow="crop")

    def listen(iteration: Iteration) -> None:
        nodes.add(iteration.node)
        newest[:] = [iteration]

    with Live(get_renderable=picture, console=console, refresh_per_second=8):
        yield listen


@contextmanager
def _lines(console: Console, sense: Sense) -> Iterator[Callable[[Iteration], None]]:
    """Plain lines: the first rounds, then at most one a second, then the last."""
    state: dict[str, float | Iteration | None] = {"printed": -math.inf, "pending": None}
    print_line, nodes = console.file.write, set[int]()
    print_line(HEADER + "\n")

    def listen(iteration: Iteration) -> None:
        nodes.add(iteration.node)
        if iteration.number < 10 or iteration.seconds - float(state["printed"]) >= 1.0:  # type: ignore[arg-type]
            print_line(line(iteration, sense, len(nodes)) + "\n")
            state["printed"], state["pending"] = iteration.seconds, None
        else:
            state["pending"] = iteration

    yield listen
    if isinstance(state["pending"], Iteration):
        print_line(line(state["pending"], sense, len(nodes)) + "\n")


# --- in a notebook ---------------------------------------------------------------------------------------------------


def _in_notebook() -> bool:
    """Whether a kernel runs us, whose output cells can be written anew."""
    ipython: Any = sys.modules.get("IPython")  # without it nobody has a notebook open
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


@dataclass
class Pace:
    """How the gap came down so far, and how long it will take at that pace."""

    seconds: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)

    def look(self, seconds: float, gap: float) -> None:
        """Remember a gap that is a number."""
        if math.isfinite(gap):
            self.seconds.append(seconds)
            self.gaps.append(gap)

    @property
    def left(self) -> float:
        """Seconds until the gap is closed if it shrinks as it did in the second half of the run; inf if it did not."""
        if not self.seconds:
            return math.inf
        now, gap = self.seconds[-1], self.gaps[-1]
        middle = bisect_left(self.seconds, now / 2)
        closed = self.gaps[middle] - gap
        return gap * (now - self.seconds[middle]) / closed if closed > 0.0 else math.inf


def quiet(iteration: Iteration, sense: Sense, pace: Pace, nodes: int) -> str:
    """One round in a line of words, with the time that is left at this pace."""
    i = iteration
    bound = i.global_bound if math.isfinite(i.global_bound) else i.dual_bound
    parts = [f"round {i.number:,}, {counted(nodes, 'node')}"]
    if math.isfinite(i.incumbent):
        parts += [f"best answer {number(i.incumbent, 8)}"]
    elif i.phase == 2 and math.isfinite(i.objective):
        parts += [f"restricted master {number(i.objective, 8)}"]
    parts += [f"bound {number(bound, 8)}"] if math.isfinite(bound) and i.phase == 2 else []
    gap = i.gap(sense)
    parts += [f"gap {percent(gap)}"] if math.isfinite(gap) else []
    parts += [f"{i.seconds:.1f} s"]
    if gap > 0.0 and pace.left < math.inf:
        parts += [f"about {max(pace.left, 1.0):,.0f} s left at this pace"]
    return ", ".join(parts)


@contextmanager
def _quiet_line(sense: Sense) -> Iterator[Callable[[Iteration], None]]:
    """One line in the output of a notebook's cell, written anew a few times a second; the last round stays."""
    shown = importlib.import_module("IPython.display")
    handle = shown.display(shown.Pretty(""), display_id=True)
    pace, newest, last, nodes = Pace(), None, -math.inf, set[int]()

    def show(iteration: Iteration) -> None:
        handle.update(shown.Pretty(quiet(iteration, sense, pace, len(nodes))))

    def listen(iteration: Iteration) -> None:
        nonlocal newest, last
        newest = iteration
        nodes.add(iteration.node)
        if iteration.seconds - last >= _QUIET:
            last = iteration.seconds
            pace.look(last, iteration.gap(sense))
            show(iteration)

    try:
        yield listen
    finally:
        if newest is not None:
            show(newest)
