"""Shares of the work of a run for its parts, which grow with what a part gains."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from colgen.core.numbers import real
from colgen.solvers.work import SECOND, work

_FIRST, _MOST, _LEAST = 0.25, 0.5, 0.03
"""Initial, largest and least share of a part.  A turn that gains something doubles it; any other turn halves it."""

PART_FEATURES = ("total", "spent", "turns", "gains", "since_gain", "last_work", "share")
"""Names of the features of a part, in the order of :attr:`PartHistory.values`."""

_GRANT = 5 * SECOND
"""Work that each part may do in addition to its share, so that small instances are solved without limits."""


@dataclass(frozen=True)
class PartHistory:
    """What a part of a run has done and gained so far.

    Attributes
    ----------
    part
        Its name: ``"enumeration"``, ``"listing"`` of paths, ``"fixing"``, ``"branching"`` (trials of children), or the
        class of a heuristic, such as ``"Diving"``.
    values
        Shape (features,); the names are in :data:`PART_FEATURES`: the work of the run and of the part, its turns, those
        that gained something (a better solution, a closed node), the turns since the last gain (all without one), the
        work of the last turn, and the present share.  Work is counted as in :mod:`colgen.solvers.work`.
    """

    part: str
    values: NDArray[np.float64]


class WorkShares(Protocol):
    """Decides how much of a run's work a part may do; a learner implements it.  It changes seconds, never a bound."""

    def share(self, history: PartHistory) -> float:
        """Return the share of all work, from 0 to 1, that the part may do until its next turn has ended."""


class Doubling:
    """The default: a quarter at first, doubled by a turn that gains something and halved by any other."""

    def share(self, history: PartHistory) -> float:
        _, _, turns, _, since_gain, _, share = map(float, history.values)
        return min(max(share * (0.5 if since_gain else 2.0), _LEAST), _MOST) if turns else share


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


@dataclass
class _Past:
    """The turns of a part.  ``share`` is that of the last turn; ``next`` that of the next one, once it is known."""

    spent: int = 0
    turns: int = 0
    gains: int = 0
    since_gain: int = 0
    last_work: int = 0
    share: float = _FIRST
    next: float | None = None


class Allotment:
    """The work of a run and of each of its parts.

    A part may work while it has done less than its share of all work and a grant.  Work is counted by the searches
    (:mod:`colgen.solvers.work`), so that the same run has the same limits with any number of workers and on any
    machine.  All of a run's work must be inside :meth:`counting`; the work of a nested turn belongs to that turn.

    Attributes
    ----------
    rule
        Decides the share of a part after each of its turns.
    """

    def __init__(self, rule: WorkShares | None = None) -> None:
        self.rule = Doubling() if rule is None else rule
        self._before = 0
        self._began: int | None = None
        self._past: dict[str, _Past] = {}
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
        return self._past_of(part).spent

    def last_work(self, part: str) -> int:
        """Return the work of the last turn of a part, 0 without one."""
        return self._past_of(part).last_work

    def left(self, part: str) -> float:
        """Return the work that a part may do now; 0 or less if it has used up its share and the grant."""
        return _GRANT + self.left_of_share(part)

    def left_of_share(self, part: str) -> float:
        """Return the work that a part may do now without the grant."""
        past = self._past_of(part)
        if past.next is None:
            turns = (past.turns, past.gains, past.since_gain, past.last_work)
            values = np.array([self.total, past.spent, *turns, past.share], dtype=np.float64)
            given = self.rule.share(PartHistory(part, values))
            past.share = past.next = real(given, f"{type(self.rule).__name__}.share()", high=1.0)
        return past.next * self.total - past.spent

    def _past_of(self, part: str) -> _Past:
        return self._past.setdefault(part, _Past())

    @property
    def remaining(self) -> float:
        """The work that the present turn may still do, at least 0; infinite outside of turns."""
        if not self._turns:
            return math.inf
        return max(self.left(self._turns[-1].part) - self._turns[-1].done, 0.0)

    @contextmanager
    def turn(self, part: str) -> Iterator[Turn]:
        """Count the work inside as that of a part, and adapt its share to whether it gains anything."""
        self.left(part)  # so that each turn has a share of its own
        turn = Turn(part, work())
        self._turns.append(turn)
        try:
            yield turn
        finally:
            self._turns.pop()
            past = self._past_of(part)
            past.last_work, past.next = turn.done, None
            past.spent += past.last_work
            past.turns, past.gains = past.turns + 1, past.gains + turn.gained
            past.since_gain = 0 if turn.gained else past.since_gain + 1
            if self._turns:
                self._turns[-1].nested += work() - turn.began
