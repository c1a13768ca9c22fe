"""The template without guesses: what boundings and branching rules are compared on."""

from __future__ import annotations

from collections.abc import Sequence

from colgen import Bounding, Choice, ColumnGeneration, Heuristic, MostFractional, RestrictedMIP, WarmStart
from colgen.core.budget import Budget
from colgen.problems.assignment.template import Assignment


class Unguessed(Assignment):
    """Starts from nothing, looks for answers in the restricted master alone, and branches on the most fractional."""

    def warm_start(self, budget: Budget) -> WarmStart:
        return WarmStart()

    def bounding(self) -> Bounding:
        return ColumnGeneration()

    def heuristics(self) -> Sequence[Heuristic]:
        return (RestrictedMIP(),)

    def choice(self) -> Choice:
        return MostFractional()
