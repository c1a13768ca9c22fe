"""Limits of a search: time, effort, labels."""

from __future__ import annotations

import math

from colgen.solvers.stopping import Expired

EFFORT = 3_000_000
"""Arcs and pairs between two checks of the clock: a few hundredths of a second."""


class LabelLimitError(MemoryError):
    """A search needs more labels than the limit."""


class OutOfTimeError(Exception):
    """The caller stopped the search."""


class OutOfEffortError(Exception):
    """An attempt exceeded its effort limit."""


class Clock:
    """Time and effort limits of a search."""

    def __init__(self, expired: Expired, left: float = math.inf) -> None:
        self.expired, self.left = expired, left

    @property
    def effort(self) -> int:
        """Effort limit of the next kernel call."""
        return int(min(self.left, EFFORT))

    def charge(self, given: int, left: int) -> None:
        """Subtract the effort of a call.  Raise an error if time or effort is used up."""
        self.left -= given - left
        if self.expired():
            raise OutOfTimeError
        if self.left <= 0:
            raise OutOfEffortError
