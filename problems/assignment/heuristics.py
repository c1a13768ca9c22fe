"""Local search from what the relaxation says."""

from __future__ import annotations

import math

import numpy as np

from colgen import Heuristic, HeuristicContext, Solution
from colgen.problems.assignment.pricing import KnapsackOracle
from colgen.problems.assignment.warm_start import likely, searched


class Shifting(Heuristic):
    """Each task goes to the machine that the relaxation likes best; local search mends what does not fit.

    The search keeps to assignments that the node allows: those are few once the others are fixed, and the best of them.

    Parameters
    ----------
    moves
        Of the search.
    every
        At each so-manieth level of the tree.
    """

    def __init__(self, oracle: KnapsackOracle, moves: int = 1_000, every: int = 6) -> None:
        self.oracle = oracle
        self.moves = moves
        self.every = every

    def search(self, context: HeuristicContext) -> Solution | None:
        instance, run = self.oracle.instance, context.run
        shares = np.zeros(instance.costs.shape)
        for column, value in context.relaxation.columns:
            machine, tasks = column.structure
            shares[machine, list(tasks)] += value
        if not instance.fits().any(axis=0).all():
            return None
        best, cost = searched(
            instance,
            likely(instance, shares),
            self.moves,
            run.budget,
            seed=len(run.iterations),
            allowed=self.oracle.open_lately(),
        )
        return self.oracle.as_solution(best) if math.isfinite(cost) and cost < run.objective else None
