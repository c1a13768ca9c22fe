"""All patterns that a better cutting plan can use."""

from __future__ import annotations

import math

import numpy as np

from colgen import PricingContext, Solution
from colgen.branching.rules import Bound
from colgen.core.budget import OutOfBudget
from colgen.core.columns import Key
from colgen.core.terms import Count
from colgen.core.tolerances import TOLERANCES
from colgen.enumeration import Enumerated, Enumeration
from colgen.fixing import ReductionContext
from colgen.problems.cutting_stock.baseline import Rolls
from colgen.problems.cutting_stock.heuristics import as_solution
from colgen.problems.cutting_stock.instance import CuttingStockInstance
from colgen.problems.cutting_stock.layout import as_arc
from colgen.problems.cutting_stock.pricing import PatternOracle
from colgen.solvers.packing.knapsack import best_from, packings_above


class PatternEnumeration(Enumeration):
    """Patterns by their slack, with the narrowest items left out where they earn nothing.

    Every item is cut exactly as often as demanded: some best plan does, so the rows become equations.  Items whose dual
    value is zero fit nearly anywhere and multiply the patterns; the narrowest of them are left out (a relaxation: if
    even the rest does not fit then nothing does) and put into the waste of a plan afterwards.

    Parameters
    ----------
    limit
        At most so many patterns.
    """

    seconds = 30.0

    def __init__(self, instance: CuttingStockInstance, oracle: PatternOracle, limit: int = 10_000) -> None:
        self.instance = instance
        self.oracle = oracle
        self.limit = limit

    def enumerate(self, context: ReductionContext) -> Enumerated | None:
        try:
            return self._enumerate(context)
        except OutOfBudget:
            return None

    def _enumerate(self, context: ReductionContext) -> Enumerated | None:
        layout, look = self.oracle.layout, context.budget.require
        pricing = PricingContext(context.sense, decisions=context.decisions, budget=context.budget)
        net = self.oracle.network(pricing)
        profits = self.oracle.profits(net, context.duals)
        values = best_from(net, profits, look=look)
        # What the duals are divided by so that no pattern earns more than its roll.  Patterns that pay for cuts earn
        # less than the table says, how much is not told from it: all that earn a roll or nearly are listed then.
        scale = 1.0 if context.duals.terms(Count) else max(1.0, float(values[0, 0]))
        # Even a roll full of items that are left out must earn less than the tolerance below.
        worth = np.asarray(context.duals["demand"])[layout.item_of_rank]
        earning = np.flatnonzero(worth > TOLERANCES.reduced_cost / layout.roll)
        # Items with a branching row stay: the row may demand their pieces, and its dual may pay for them.
        bounded = [as_arc(d.key[1])[0] for d in context.decisions if isinstance(d, Bound) and d.row() is not None]
        core = max([int(earning.max(initial=-1)), *bounded]) + 1  # ranks from here on are left out
        core_net = net.first_items(core)
        packings = packings_above(
            core_net,
            best_from(core_net, profits[: core_net.num_arcs], look=look),
            profits[: core_net.num_arcs],
            scale * (1.0 - context.slack - TOLERANCES.optimality),
            self.limit,
            look=look,
        )
        if packings is None:
            return None
        sides: dict[Key, tuple[float, float]] = {}
        for rank, item in enumerate(layout.item_of_rank.tolist()):
            demand = float(self.instance.demands[item])
            sides["demand", item] = (demand, demand) if rank < core else (-math.inf, math.inf)
        return Enumerated([self.oracle.encode(layout.pattern(packing)) for packing in packings], sides)

    def complete(self, solution: Solution) -> Solution | None:
        """Put the items that were left out where they fit best, in new rolls if nowhere else."""
        left = list(self.instance.demands)
        rolls = Rolls(self.instance)
        for column, value in solution.columns:
            rolls.put(dict(column.structure), round(value))
            for item, copies in column.structure:
                left[item] -= copies * round(value)
        if not any(left):
            return solution
        for item in sorted(range(len(left)), key=lambda i: -self.instance.widths[i]):
            rolls.fit(item, left[item])
        return as_solution(rolls.plan(), self.oracle)
