"""Limits of a search: time, effort, labels."""

from __future__ import annotations

import math

from colgen.solvers.arrays import ArrayError
from colgen.solvers.stopping import Expired
from colgen.solvers.work import STEP, add_work

EFFORT = 3_000_000
"""Arcs and pairs between two checks of the clock: a few hundredths of a second."""


class LabelLimitError(MemoryError):
    """A search needs more labels than the limit."""


class OutOfTimeError(Exception):
    """The caller stopped the search."""


class OutOfEffortError(Exception):
    """An attempt exceeded its effort limit."""


class Clock:
    """Time and effort limits of a search.

    Parameters
    ----------
    expired : whether the caller stops the search
    left : effort limit of the present attempt
    most : effort limit of all attempts together
    """

    def __init__(self, expired: Expired, left: float = math.inf, most: float = math.inf) -> None:
        for effort in (left, most):
            if not effort >= 0:
                raise ArrayError(f"effort: expected a number of at least 0, got {effort!r}")
        self.expired = expired
        # Kernels count whole steps: with a fraction left they would be called without end.
        self.left, self.most = (effort if math.isinf(effort) else math.floor(effort) for effort in (left, most))
        self.spent = 0

    @property
    def effort(self) -> int:
        """Effort limit of the next kernel call."""
        return int(min(self.left, max(self.most - self.spent, 0), EFFORT))

    def spend(self, given: int, left: int) -> None:
        """Subtract the effort of a call."""
        self.left -= given - left
        self.spent += given - left
        add_work(STEP * (given - left))

    def charge(self, given: int, left: int) -> None:
        """Subtract the effort of a call that was not completed.  Raise an error if time or effort is used up."""
        self.spend(given, left)
        if self.spent >= self.most or self.expired():
            raise OutOfTimeError
        if self.left <= 0:
            raise OutOfEffortError
