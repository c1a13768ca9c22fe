"""Nodes bounded by an ascent inside one kernel: a few milliseconds each, and no linear program."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import ColumnGeneration, Solution
from colgen.bounding.protocol import Bounded, Bounding, NodeState, Outcome, Parts
from colgen.core.tolerances import ROUNDING, TOLERANCES, fractionality
from colgen.problems.assignment.decisions import ASSIGN, USE
from colgen.problems.assignment.heuristics import Way
from colgen.problems.assignment.kernels.ascent import ascend, distinct
from colgen.problems.assignment.pricing import KnapsackOracle

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_REMEMBERED, _FADING = 64, 0.95
"""The relaxation's solution is the mean of what knapsacks took in so many last rounds, the last ones most of all."""

_SELDOM = 0.02
"""What has less of the mean is left out of it."""


class KnapsackAscent(Bounding):
    """The Lagrangian bound near its maximum, and what the knapsacks took on the way as the relaxation's solution.

    The engine prices at the dual values once, and believes that.  Where there is no answer yet, where the relaxation
    itself is wanted, or where the mean is whole, which leaves nothing to branch on, column generation has the word.

    Parameters
    ----------
    root, below
        How far the ascent goes where it starts from nothing, and where it starts from dual values that are known.
    """

    def __init__(self, oracle: KnapsackOracle, root: Way, below: Way) -> None:
        self.oracle, self.root, self.below = oracle, root, below
        self._exact = ColumnGeneration()

    def bound(self, node: NodeState, parts: Parts) -> Bounded:
        run = parts.run
        if not math.isfinite(run.objective) or not parts.settings.stop_early:
            return self._exact.bound(node, parts)
        closed = self.oracle.closed(parts.context(node))
        duals = self._start(node, parts, closed)
        way = self.root if node.duals is None and node.start is None else self.below
        step, value, last = way.step, -math.inf, np.zeros((0, *closed.shape), dtype=np.bool_)
        for _ in range(way.portions):
            if run.budget.expired or run.prunes(value):
                break
            here, sets, _, step = self._ascend(closed, duals, run.objective, way.rounds, step, way.patience)
            value, last = max(value, here), np.concatenate([last, sets])[-_REMEMBERED:]
        guess = {ASSIGN: duals, USE: -self.oracle.best(duals, closed)[0]}
        rounded = ROUNDING * sum(float(np.abs(values).sum()) for values in guess.values())
        if rounded > TOLERANCES.optimality * run.scale:  # a penalty has driven them so far that they cancel out
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
        """The better of the parent's dual values and those of the last relaxation, which may be this node's own."""
        known = [] if node.start is None else [np.array(node.start)]
        rows = parts.master.rows
        if node.duals is not None and rows is not None:
            known.append(np.array(rows.guess(node.duals).array(ASSIGN)))
        known = known or [self.oracle.instance.costs.min(axis=0)]
        return max(known, key=lambda duals: float(duals.sum() - self.oracle.best(duals, closed)[0].sum()))

    def _mean(self, sets: Mask) -> Solution | None:
        """The mean of what the machines took as a solution of the relaxation; None if machines share no task."""
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
        columns = tuple(zip(self.oracle.encoded(machines, chosen), totals.tolist(), strict=True))
        return Solution(math.fsum(column.cost * share for column, share in columns), columns)
