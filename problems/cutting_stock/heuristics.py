"""Rounding a fractional cutting plan: whole rolls of its patterns, then best fit for the rest."""

from __future__ import annotations

import math

import numpy as np

from colgen import Column, Heuristic, HeuristicContext, Solution
from colgen.core.tolerances import TOLERANCES
from colgen.problems.cutting_stock.baseline import best_fit_decreasing
from colgen.problems.cutting_stock.instance import CuttingStockInstance, Pattern
from colgen.problems.cutting_stock.pricing import PatternOracle


class PlanRounding(Heuristic):
    """Round the patterns' values down, or up if nothing is cut in excess; pack what is left best fit decreasing."""

    quick = True
    every = 1

    def __init__(self, instance: CuttingStockInstance, oracle: PatternOracle) -> None:
        self.instance = instance
        self.oracle = oracle

    def search(self, context: HeuristicContext) -> Solution | None:
        used = sorted(context.relaxation.columns, key=lambda pair: -pair[1])
        plans = [self._plan(used, up) for up in (False, True)]
        return as_solution(min(plans, key=self.instance.objective), self.oracle)

    def _plan(self, used: list[tuple[Column, float]], up: bool) -> list[tuple[Pattern, int]]:
        left = np.array(self.instance.demands, dtype=np.int64)
        plan: list[tuple[Pattern, int]] = []
        for column, value in used:
            pattern: Pattern = column.structure
            wanted = math.ceil(value - TOLERANCES.integrality) if up else math.floor(value + TOLERANCES.integrality)
            rolls = min(wanted, *(int(left[item]) // copies for item, copies in pattern))
            if rolls > 0:
                plan.append((pattern, rolls))
                for item, copies in pattern:
                    left[item] -= copies * rolls
        return plan + best_fit_decreasing(self.instance, left.tolist())


def as_solution(plan: list[tuple[Pattern, int]], oracle: PatternOracle) -> Solution:
    """A cutting plan as a solution of the master."""
    merged: dict[Pattern, int] = {}
    for pattern, rolls in plan:
        merged[pattern] = merged.get(pattern, 0) + rolls
    return Solution(float(sum(merged.values())), tuple((oracle.encode(p), float(n)) for p, n in merged.items()))
