"""Branching and fixing on arc flows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from colgen import Bound, Decision, Marginals, OnOriginalVariable, ReducedCostFixing, Solution
from colgen.core.decision import fractionality
from problems.cutting_stock.instance import Pattern
from problems.cutting_stock.layout import ArcsForbidden, Layout, as_arc
from problems.cutting_stock.pricing import ARC, PatternOracle


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


class ArcFixing(ReducedCostFixing):
    """Forbids arcs that no better answer can use: an arc whose best pattern wastes more than the gap is in none."""

    def __init__(self, layout: Layout, oracle: PatternOracle, share: float = 0.02) -> None:
        super().__init__(oracle, share=share, decide=self._arcs)
        self.layout = layout

    def _arcs(self, number: int, marginals: Marginals, worse: NDArray[np.bool_]) -> Sequence[Decision]:
        allowed = np.zeros(self.layout.network.num_arcs, dtype=np.bool_)
        allowed[np.asarray(marginals.names)[~worse]] = True
        return (ArcsForbidden(self.layout, allowed, exhaustive=False),)
