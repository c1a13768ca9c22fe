"""Time limits of long computations, and the amount of work per kernel call.

Kernels do not read the clock.  Their callers give each call a few hundredths of a second of work.  In between they
check the time with one of two functions that the user passes:

* ``expired``, for computations with a partial result: it returns True, and the computation returns its result so far.
* ``look``, for computations without one: it raises an exception of the user's, which is not caught here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

Expired: TypeAlias = Callable[[], bool]
"""Return True once the computation must end with its result so far."""

Look: TypeAlias = Callable[[], object]
"""Raise an exception once the computation must end."""


def never() -> bool:
    """Return False: no time limit."""
    return False


def after(seconds: float, expired: Expired = never) -> Expired:
    """Return a function that is true ``seconds`` from now, or earlier once ``expired()`` is."""
    deadline = time.monotonic() + seconds
    return lambda: time.monotonic() >= deadline or expired()


def look_away() -> None:
    """Do nothing: no time limit."""


class Pace:
    """Amount of work per kernel call, adjusted so that a call takes a given time.

    The speed of the first call, with ``work``, is unknown.  Each further call should take ``seconds``.  Its work grows
    at most by the factor ``growth`` and is at least ``least``.  The attribute ``work`` is the work of the next call, in
    any unit that the kernel counts.
    """

    def __init__(self, work: float, seconds: float, growth: float = 4.0, least: float = 1.0) -> None:
        self.work = work
        self._seconds, self._growth, self._least = seconds, growth, least
        self._began = time.monotonic()

    def start(self) -> None:
        """Start timing a call."""
        self._began = time.monotonic()

    def stop(self, done: float | None = None) -> None:
        """Set the work of the next call from the time of this one and the work ``done``, by default all of it."""
        seconds = max(time.monotonic() - self._began, 1e-6)
        reached = (self.work if done is None else done) * self._seconds / seconds
        self.work = max(min(reached, self._growth * self.work), self._least)
