"""When a search ends: time, what an attempt may take, and how many labels it may hold."""

from __future__ import annotations

import math

from colgen.solvers.stopping import Expired

EFFORT = 3_000_000
"""Arcs and pairs of labels that are looked at between two looks at the clock: some hundredths of a second."""


class LabelLimitError(MemoryError):
    """A search needs more labels than it may hold."""


class OutOfTimeError(Exception):
    """The caller wants to end."""


class OutOfEffortError(Exception):
    """An attempt has taken what it was worth."""


class Clock:
    """When to end, and what an attempt may take."""

    def __init__(self, expired: Expired, left: float = math.inf) -> None:
        self.expired, self.left = expired, left

    @property
    def effort(self) -> int:
        """Of the next call of a kernel."""
        return int(min(self.left, EFFORT))

    def charge(self, given: int, left: int) -> None:
        """Count what a call took, and look whether that was all."""
        self.left -= given - left
        if self.expired():
            raise OutOfTimeError
        if self.left <= 0:
            raise OutOfEffortError
