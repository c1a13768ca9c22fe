"""Branching on assignments of tasks to machines, and fixing by reduced cost."""

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
    """A machine performs a task, or does not.  No row is needed: the other machines lose the task."""

    makes: Sequence[type[Decision]] = (Bound, AssignmentsForbidden)

    def __init__(self, shape: tuple[int, int]) -> None:
        super().__init__(takes, block=TAKES)
        self.shape = shape

    def values(self, solution: Solution) -> dict[Hashable, float]:
        """Return values of tasks that several machines share.  A mean may give a sole taker less than 1."""
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
    """Forbids assignments that the Lagrangian bound excludes from improving solutions."""

    makes: Sequence[type[Decision]] = (AssignmentsForbidden,)

    def __init__(self, oracle: KnapsackOracle, share: float = 0.02) -> None:
        super().__init__(oracle, share=share, decide=self._closed)
        self._shape = oracle.instance.costs.shape

    def _closed(self, number: int, marginals: PricedMarginals, worse: NDArray[np.bool_]) -> Sequence[Decision]:
        return (AssignmentsForbidden(TAKES, worse.reshape(self._shape), exhaustive=False),)
