"""Branching on whether a machine takes a task, and fixing of those that none of the better answers has there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from colgen import Decision, OnOriginalVariable, Solution
from colgen.branching.rules import Bound
from colgen.fixing import ReducedCostFixing
from colgen.pricing.oracles import PricedMarginals
from colgen.problems.assignment.decisions import TAKES, AssignmentsForbidden
from colgen.problems.assignment.pricing import KnapsackOracle, takes


class OnAssignments(OnOriginalVariable):
    """A machine takes a task, or does not: neither needs a row, since the other machines then may not take it."""

    makes: Sequence[type[Decision]] = (Bound, AssignmentsForbidden)

    def __init__(self, shape: tuple[int, int]) -> None:
        super().__init__(takes, block=TAKES)
        self.shape = shape

    def values(self, solution: Solution) -> dict[Hashable, float]:
        """Of tasks that several machines take: in a mean one may take a task nearly always, and no other ever."""
        values = super().values(solution)
        takers = Counter(cast(tuple[int, int], pair)[1] for pair in values)
        return {pair: value for pair, value in values.items() if takers[cast(tuple[int, int], pair)[1]] > 1}

    def imposed(self, bound: Bound) -> Decision:
        machine, task = cast(tuple[int, int], bound.key[1])
        closed = np.zeros(self.shape, dtype=np.bool_)
        closed[:, task] = bound.lower > 0.0
        closed[machine, task] = bound.upper <= 0.0
        return AssignmentsForbidden(TAKES, closed)


class AssignmentFixing(ReducedCostFixing):
    """Forbids the assignments that no better answer has: those that the Lagrangian bound rules out."""

    makes: Sequence[type[Decision]] = (AssignmentsForbidden,)

    def __init__(self, oracle: KnapsackOracle, share: float = 0.02) -> None:
        super().__init__(oracle, share=share, decide=self._closed)
        self._shape = oracle.instance.costs.shape

    def _closed(self, number: int, marginals: PricedMarginals, worse: NDArray[np.bool_]) -> Sequence[Decision]:
        return (AssignmentsForbidden(TAKES, worse.reshape(self._shape), exhaustive=False),)
