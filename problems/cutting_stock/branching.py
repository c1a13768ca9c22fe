"""Branching and fixing on arc flows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from colgen import Bound, Decision, OnOriginalVariable, PricingContext, Reduction, ReductionContext, Solution
from colgen.core.budget import OutOfBudget
from colgen.core.decision import fractionality
from problems.cutting_stock.instance import Pattern
from problems.cutting_stock.layout import ArcsForbidden, Layout, as_arc
from problems.cutting_stock.pricing import ARC, PatternOracle
from solvers.packing.knapsack import arc_values, arc_work, best_from

_WORK = 1e9
"""Elementary steps above which fixing costs more than it saves: some seconds."""


class OnArcFlow(OnOriginalVariable):
    """Branch on the number of rolls that have a piece of an item at a position, wide items first.

    Plans that cut every item exactly as often as demanded are kept, and one of them is optimal.  So where the upper
    child would put all demanded pieces of an item at one position it forbids the item's other arcs instead, which needs
    no row; and there is no upper child with more pieces than that.
    """

    def __init__(self, layout: Layout, oracle: PatternOracle) -> None:
        super().__init__(layout.arcs, block=ARC)
        self.layout = layout
        self.oracle = oracle

    def score(self, variable: Hashable, value: float) -> float:
        rank, _ = as_arc(variable)
        # Wide items shape the rest of a pattern: their arcs come first among equally fractional ones.
        return fractionality(value) + 0.3 * (1.0 - rank / len(self.layout.widths))

    def branch(self, solution: Solution) -> Sequence[Sequence[Decision]]:
        children = []
        for (decision,) in super().branch(solution):
            if not isinstance(decision, Bound) or decision.lower <= self.demand(decision):
                children.append((self._without_row(decision),))
            # Otherwise more pieces than demanded: no plan that cuts exactly what is demanded needs that child.
        return children

    def demand(self, decision: Bound) -> float:
        """Demand of the item whose arc a decision bounds."""
        rank, _ = as_arc(decision.key[1])
        return float(self.layout.demands[rank])

    def _without_row(self, decision: Decision) -> Decision:
        if not isinstance(decision, Bound) or decision.lower < self.demand(decision):
            return decision
        rank, position = as_arc(decision.key[1])
        net = self.layout.network
        allowed = np.ones(net.num_arcs, dtype=np.bool_)
        allowed[net.first_arc[rank] : net.first_arc[rank + 1]] = False
        allowed[net.arc(rank, position)] = True
        return ArcsForbidden(self.layout, allowed)

    def recover(self, solution: Solution) -> Solution | None:
        """Whole patterns from whole arc flows: follow arcs from position 0 until all are used."""
        leaving: dict[int, list[list[int]]] = {}  # by position: ranks, each with how many rolls are left
        for variable, value in self.values(solution).items():
            rank, position = as_arc(variable)
            if round(value) > 0:
                leaving.setdefault(position, []).append([rank, round(value)])
        patterns: dict[Pattern, int] = {}
        while leaving.get(0):
            path, position = [], 0
            while leaving.get(position):
                path.append(leaving[position])
                position += int(self.layout.widths[path[-1][-1][0]])
            rolls = min(arcs[-1][1] for arcs in path)
            copies = np.zeros(len(self.layout.widths), dtype=np.int64)
            for arcs in path:
                copies[arcs[-1][0]] += 1
                arcs[-1][1] -= rolls
                if not arcs[-1][1]:
                    arcs.pop()
            pattern = self.layout.pattern(copies)
            patterns[pattern] = patterns.get(pattern, 0) + rolls
        columns = tuple((self.oracle.encode(p), float(n)) for p, n in patterns.items())
        return Solution(float(sum(patterns.values())), columns)


class ArcFixing(Reduction):
    """Forbids arcs that no better answer can use.

    With π scaled so that no pattern earns more than its roll, an answer of K rolls pays for the slack of every pattern
    in it out of K - bound: an arc whose best pattern has more slack than that is in no such answer.

    Parameters
    ----------
    share
        A new relaxation is worth it if at least this share of the arcs can go.
    """

    def __init__(self, layout: Layout, oracle: PatternOracle, share: float = 0.02) -> None:
        self.layout = layout
        self.oracle = oracle
        self.share = share

    def reduce(self, context: ReductionContext) -> Sequence[Decision]:
        look = context.budget.require
        try:
            net = self.oracle.network(PricingContext(context.sense, decisions=context.decisions, budget=context.budget))
            if arc_work(net) > _WORK:
                return ()
            profits = self.oracle.profits(net, context.duals)
            values = best_from(net, profits, look=look)
            scale = max(1.0, float(values[0, 0]))
            slack = 1.0 - arc_values(net, values, profits, look=look) / scale
        except OutOfBudget:
            return ()
        keep = slack <= context.slack + 1e-6
        if (~keep).sum() <= self.share * max(net.num_arcs, 1):
            return ()
        allowed = np.zeros(self.layout.network.num_arcs, dtype=np.bool_)
        allowed[keep if net.origin is None else net.origin[keep]] = True
        return (ArcsForbidden(self.layout, allowed, exhaustive=False),)
