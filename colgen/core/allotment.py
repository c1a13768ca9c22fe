"""Shares of the work of a run for its parts, which grow with what a part gains."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from colgen.solvers.work import SECOND, work

_FIRST, _MOST, _LEAST = 0.25, 0.5, 0.03
"""Initial, largest and least share of a part.  A turn that gains something doubles it; any other turn halves it."""

_GRANT = 5 * SECOND
"""Work that each part may do in addition to its share, so that small instances are solved without limits."""


@dataclass
class Turn:
    """One call of a part.  The part sets ``gained`` if the call has brought the run forward."""

    part: str
    began: int
    gained: bool = False
    nested: int = 0

    @property
    def done(self) -> int:
        """Work of this turn so far, without nested turns."""
        return work() - self.began - self.nested


class Allotment:
    """The work of a run and of each of its parts.

    A part may work while it has done less than its share of all work and a grant.  Work is counted by the searches
    (:mod:`colgen.solvers.work`), so that the same run has the same limits with any number of workers and on any
    machine.  All of a run's work must be inside :meth:`counting`; the work of a nested turn belongs to that turn.
    """

    def __init__(self) -> None:
        self._before = 0
        self._began: int | None = None
        self._spent: dict[str, int] = {}
        self._shares: dict[str, float] = {}
        self._turns: list[Turn] = []

    @property
    def total(self) -> int:
        """All work of the run so far."""
        return self._before if self._began is None else self._before + work() - self._began

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count the work that this thread does inside."""
        self._began = work()
        try:
            yield
        finally:
            self._before, self._began = self.total, None

    def spent(self, part: str) -> int:
        """Return the work of a part in its turns so far."""
        return self._spent.get(part, 0)

    def left(self, part: str) -> float:
        """Return the work that a part may do now; 0 or less if it has used up its share."""
        return _GRANT + self._shares.get(part, _FIRST) * self.total - self.spent(part)

    @property
    def remaining(self) -> float:
        """The work that the present turn may still do, at least 0; infinite outside of turns."""
        if not self._turns:
            return math.inf
        return max(self.left(self._turns[-1].part) - self._turns[-1].done, 0.0)

    @contextmanager
    def turn(self, part: str) -> Iterator[Turn]:
        """Count the work inside as that of a part, and adapt its share to whether it gains anything."""
        turn = Turn(part, work())
        self._turns.append(turn)
        try:
            yield turn
        finally:
            self._turns.pop()
            self._spent[part] = self.spent(part) + turn.done
            if self._turns:
                self._turns[-1].nested += work() - turn.began
            share = self._shares.get(part, _FIRST) * (2.0 if turn.gained else 0.5)
            self._shares[part] = min(max(share, _LEAST), _MOST)
