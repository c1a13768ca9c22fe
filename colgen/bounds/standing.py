"""Where column generation stands at a node: the best bound that its rounds have proved, and where."""

from __future__ import annotations

import math
from dataclasses import dataclass

from colgen.bounds.bounding import Bounded, Outcome
from colgen.bounds.pricing_round import Priced
from colgen.core.duals import DualPoint
from colgen.core.result import Termination
from colgen.core.sense import Sense
from colgen.core.tolerances import TOLERANCES, size
from colgen.master.protocol import MasterSolution


@dataclass
class Standing:
    """What the rounds at a node have proved so far in the phase that they are in.

    Attributes
    ----------
    solved
        The last restricted master.
    bound, duals
        The best dual bound, and where it was proved; another phase has another objective, so another dual function.
    cleaned_at
        The objective at which columns were last deleted.
    own
        The best dual bound of these rounds alone: with what was known before, ``bound``.
    known
        A bound that was proved before, and where; it is one of phase 2.
    """

    sense: Sense
    known: tuple[float, DualPoint] | None = None
    solved: MasterSolution | None = None
    phase: int = 0
    bound: float = 0.0
    own: float = 0.0
    duals: DualPoint = None
    cleaned_at: float = 0.0

    def __post_init__(self) -> None:
        self.bound = self.own = self.sense.ideal
        self.cleaned_at = self.sense.hopeless

    def moves_on(self, solved: MasterSolution) -> bool:
        """Take in a restricted master; whether another phase begins with it."""
        self.solved = solved
        if solved.phase == self.phase:
            return False
        self.phase, self.bound, self.own, self.duals = solved.phase, self.sense.ideal, self.sense.ideal, None
        if solved.phase == 2 and self.known is not None:
            self.bound, self.duals = self.known
        self.cleaned_at = self.sense.hopeless
        return True

    def learn(self, priced: Priced) -> None:
        """Take in a round of pricing."""
        if priced.real is not None:
            self._learn_real(*priced.real)
        if self.sense.is_better(self.own, priced.bound):
            self.own = priced.bound
        if self.duals is None or self.sense.is_better(self.bound, priced.bound):
            self.bound, self.duals = priced.bound, priced.duals

    def _learn_real(self, bound: float, duals: DualPoint) -> None:
        """Keep a bound of phase 2 that was proved in phase 1.

        That there is no answer at all, rows may say that are still to come: the master proves it once it has them.
        """
        if math.isfinite(bound) and (self.known is None or self.sense.is_better(self.known[0], bound)):
            self.known = bound, duals

    def keep(self) -> None:
        """Let what is proved hold on, whatever phase comes next."""
        if self.phase == 2:
            self.known = self.bound, self.duals

    def progresses(self, scale: float) -> bool:
        """Whether the objective has moved since columns were last deleted, and may be again.

        Without progress in between, columns could be deleted and generated again for ever.
        """
        assert self.solved is not None
        objective = self.solved.objective
        if not self.sense.is_better(objective, self.cleaned_at, TOLERANCES.pruning * size(scale, objective)):
            return False
        self.cleaned_at = objective
        return True

    @property
    def node_bound(self) -> float:
        """On the node's answers: phase 1 proves nothing about those."""
        return self.bound if self.phase == 2 else self.sense.ideal

    def bounded(self, outcome: Outcome, termination: Termination | None = None, weakness: str = "") -> Bounded:
        """What is to be said of the node."""
        return Bounded(outcome, self.node_bound, self.solved, termination, self.duals, weakness, proved=True)
