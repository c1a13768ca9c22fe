"""When a long computation ends, and how much work a kernel is given before the next question.

Kernels do not look at the clock.  Their callers give each call some hundredths of a second's work and ask in between,
by one of two functions that the user passes:

* ``expired``, of what has a partial result: it returns True, and the computation returns what it has;
* ``look``, of what has none: it raises an exception of the caller's, which nothing here catches.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

Expired: TypeAlias = Callable[[], bool]
"""Whether to end now, with what there is."""

Look: TypeAlias = Callable[[], object]
"""Raises an exception if the computation must end now."""


def never() -> bool:
    """Return False: there is no limit."""
    return False


def after(seconds: float, expired: Expired = never) -> Expired:
    """Return a function that is true once so many seconds from now are over, or once ``expired()``."""
    deadline = time.monotonic() + seconds
    return lambda: time.monotonic() >= deadline or expired()


def look_away() -> None:
    """Do nothing: there is no limit."""


class Pace:
    """How much work to give a kernel so that a call takes about so many seconds.

    Parameters
    ----------
    work
        Of the first call, whose speed is unknown.
    seconds
        Of each further call.
    growth
        Work grows at most by this factor from call to call.
    least
        Work is never less.

    Attributes
    ----------
    work
        Of the next call, in any unit that the kernel counts.
    """

    def __init__(self, work: float, seconds: float, growth: float = 4.0, least: float = 1.0) -> None:
        self.work = work
        self._seconds, self._growth, self._least = seconds, growth, least
        self._began = time.monotonic()

    def start(self) -> None:
        """Begin to measure a call."""
        self._began = time.monotonic()

    def stop(self, done: float | None = None) -> None:
        """Set the work of the next call by the time of this one, and by what it has done; by default all its work."""
        seconds = max(time.monotonic() - self._began, 1e-6)
        reached = (self.work if done is None else done) * self._seconds / seconds
        self.work = max(min(reached, self._growth * self.work), self._least)
