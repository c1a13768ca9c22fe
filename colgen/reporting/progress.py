"""Progress: rounds as log lines, or as one line of words on a terminal and in a notebook.

All format strings of the log are here.
"""

from __future__ import annotations

import importlib
import logging
import math
import sys
import time
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
from colgen.core.text import number, percent, plural
from colgen.reporting.live_log import LogFile
from colgen.solvers.compiling import compile_seconds, compiled_now

logger = logging.getLogger("colgen")

_QUIET = 0.25
"""Seconds between two updates of the line in a notebook."""

HEADER = "  round  nodes phase     objective         bound     incumbent  gap %  columns   rows   new  seconds"


def line(iteration: Iteration, sense: Sense, nodes: int) -> str:
    """Return a round as a log line. The bound is that of the node as long as there is no global one.

    ``nodes`` counts evaluated nodes, as in the summary of the result. Node numbers are larger, because open nodes have
    them too.
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
    """Return the listener of rounds: none, the caller's function, a live line, or a printer of lines."""
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
    """Write rounds to a file, and show them too if wanted."""
    with listening(log.show, sense) as show:

        def listen(iteration: Iteration) -> None:
            log(iteration)
            if show is not None:
                show(iteration)

        try:
            yield listen
        finally:
            log.close()


@dataclass
class Pace:
    """The progress of the gap, and the remaining time at this pace."""

    seconds: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)

    def look(self, seconds: float, gap: float) -> None:
        """Store a gap if it is finite."""
        if math.isfinite(gap):
            self.seconds.append(seconds)
            self.gaps.append(gap)

    @property
    def left(self) -> float:
        """Seconds until the gap closes at the pace of the second half of the run; infinite without progress."""
        if not self.seconds:
            return math.inf
        now, gap = self.seconds[-1], self.gaps[-1]
        middle = bisect_left(self.seconds, now / 2)
        closed = self.gaps[middle] - gap
        return gap * (now - self.seconds[middle]) / closed if closed > 0.0 else math.inf


def quiet(iteration: Iteration, sense: Sense, pace: Pace, nodes: int) -> str:
    """Return a round in one line of words, with the remaining time."""
    i = iteration
    bound = i.global_bound if math.isfinite(i.global_bound) else i.dual_bound
    parts = [f"round {i.number:,}, {plural(nodes, 'node')}"]
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
def _live(console: Console, sense: Sense) -> Iterator[Callable[[Iteration], None]]:
    """Show the newest round in words and the kernel being compiled, redrawn 8 times per second, until the run ends."""
    newest: list[Iteration] = []
    pace, nodes = Pace(), set[int]()

    def picture() -> Text:
        lines = []
        for i in newest:
            pace.look(i.seconds, i.gap(sense))
            lines.append(quiet(i, sense, pace, len(nodes)))
        if kernel := _kernel():
            lines.append(f"{kernel} (once per machine; {compile_seconds():.0f} s so far)")
        return Text("\n".join(lines))

    def listen(iteration: Iteration) -> None:
        nodes.add(iteration.node)
        newest[:] = [iteration]

    with Live(get_renderable=picture, console=console, refresh_per_second=8, transient=True):
        yield listen


def _kernel() -> str:
    """Return which kernel is being compiled, with its module; empty if there is none."""
    kernel = compiled_now()
    return f"compiling {'.'.join(kernel.split('.')[-2:])}" if kernel else ""


@contextmanager
def showing(doing: Callable[[], str]) -> Iterator[None]:
    """Show on standard error, if it is a terminal, what is done, the kernel being compiled, and the seconds so far."""
    console, began = Console(stderr=True), time.monotonic()
    if not console.is_terminal:
        yield
        return

    def picture() -> Text:
        kernel = f": {_kernel()}" if _kernel() else ""
        return Text(f"{doing()}{kernel}, {time.monotonic() - began:.0f} s")

    # Standard output stays as it is: Numba's colours, imported meanwhile, keep the stream for the end of the process.
    with Live(get_renderable=picture, console=console, refresh_per_second=8, transient=True, redirect_stdout=False):
        yield


@contextmanager
def _lines(console: Console, sense: Sense) -> Iterator[Callable[[Iteration], None]]:
    """Print the first rounds, then at most one per second, then the last."""
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
    """Return whether this is a notebook, whose output can be updated."""
    ipython: Any = sys.modules.get("IPython")  # never imported outside notebooks by colgen itself
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


@contextmanager
def _quiet_line(sense: Sense) -> Iterator[Callable[[Iteration], None]]:
    """Show one line in the output of a notebook cell, updated a few times per second. The last round stays."""
    display = importlib.import_module("IPython.display")
    handle = display.display(display.Pretty(""), display_id=True)
    pace, newest, last, nodes = Pace(), None, -math.inf, set[int]()

    def show(iteration: Iteration) -> None:
        handle.update(display.Pretty(quiet(iteration, sense, pace, len(nodes))))

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
