"""Bound nodes by a dual ascent inside one kernel: a few milliseconds per node, without a linear program."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import ColumnGeneration, Solution
from colgen.bounding.protocol import Bounded, Bounding, NodeState, Outcome, Parts
from colgen.core.tolerances import ROUNDING, TOLERANCES, fractionality
from colgen.problems.assignment.decisions import ASSIGN, USE
from colgen.problems.assignment.heuristics import AscentLimits
from colgen.problems.assignment.kernels.ascent import ascend, distinct
from colgen.problems.assignment.pricing import KnapsackOracle

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_REMEMBERED, _FADING = 64, 0.95
"""Number of last rounds, and weight factor per round, of the mean of the knapsack solutions."""

_SELDOM = 0.02
"""Sets with a smaller weight are left out of the mean."""


class KnapsackAscent(Bounding):
    """Bounds nodes by the Lagrangian bound near its maximum.

    The mean of the knapsack solutions approximates the relaxation.  The engine verifies the dual values by pricing
    once.  Column generation bounds the node instead in three cases: there is no incumbent, the relaxation itself is
    requested, or the mean is integral and leaves nothing to branch on.

    Parameters
    ----------
    root, below
        Limits of the ascent from scratch, and from known dual values.
    """

    def __init__(self, oracle: KnapsackOracle, root: AscentLimits, below: AscentLimits) -> None:
        self.oracle, self.root, self.below = oracle, root, below
        self._exact = ColumnGeneration()

    def bound(self, node: NodeState, parts: Parts) -> Bounded:
        run = parts.run
        if not math.isfinite(run.objective) or not parts.settings.stop_early:
            return self._exact.bound(node, parts)
        closed = self.oracle.closed(parts.context(node))
        duals = self._start(node, parts, closed)
        limits = self.root if node.duals is None and node.start is None else self.below
        step, value, last = limits.step, -math.inf, np.zeros((0, *closed.shape), dtype=np.bool_)
        for _ in range(limits.portions):
            if run.budget.expired or run.prunes(value):
                break
            here, sets, _, step = self._ascend(closed, duals, run.objective, limits.rounds, step, limits.patience)
            value, last = max(value, here), np.concatenate([last, sets])[-_REMEMBERED:]
        guess = {ASSIGN: duals, USE: -self.oracle.best(duals, closed)[0]}
        rounded = ROUNDING * sum(float(np.abs(values).sum()) for values in guess.values())
        if rounded > TOLERANCES.optimality * run.scale:  # penalties made duals so large that their sum is inexact
            return self._exact.bound(node, parts)
        if run.prunes(value):
            return Bounded(Outcome.PRUNED, value, duals=guess, start=duals)
        solution = self._mean(last)
        if run.budget.expired:
            return Bounded(Outcome.STOPPED, value, duals=guess, termination=run.budget.reason, solution=solution)
        if solution is None:
            return self._exact.bound(node, parts)
        return Bounded(Outcome.SOLVED, value, duals=guess, solution=solution, start=duals)

    def _ascend(
        self, closed: Mask, duals: Floats, target: float, rounds: int, step: float, patience: int
    ) -> tuple[float, Mask, Floats, float]:
        sizes, room = self.oracle.instance.in_units
        found: Any = ascend(self.oracle.instance.costs, closed, sizes, room, duals, target, rounds, step, patience)
        return found  # type: ignore[no-any-return]

    def _start(self, node: NodeState, parts: Parts, closed: Mask) -> Floats:
        """Return the better of the parent's dual values and those of the last relaxation, perhaps this node's own."""
        starts = [] if node.start is None else [np.array(node.start)]
        rows = parts.master.rows
        if node.duals is not None and rows is not None:
            starts.append(np.array(rows.guess(node.duals).array(ASSIGN)))
        starts = starts or [self.oracle.instance.costs.min(axis=0)]
        return max(starts, key=lambda duals: float(duals.sum() - self.oracle.best(duals, closed)[0].sum()))

    def _mean(self, sets: Mask) -> Solution | None:
        """Return the mean of the knapsack solutions as a relaxation.  None if machines share no task."""
        shares = _FADING ** np.arange(len(sets))[::-1]
        shares = shares / shares.sum()
        machines, rounds, totals = distinct(sets, shares)
        often = totals >= _SELDOM
        machines, totals = machines[often], totals[often]
        chosen = sets[rounds[often], machines]
        taken = np.zeros(sets.shape[1:])
        np.add.at(taken, machines, chosen * totals[:, None])
        split = taken[:, (taken > 0.0).sum(axis=0) > 1]
        if not any(fractionality(value) for value in split.ravel().tolist()):
            return None
        columns = tuple(zip(self.oracle.encode_sets(machines, chosen), totals.tolist(), strict=True))
        return Solution(math.fsum(column.cost * share for column, share in columns), columns)
