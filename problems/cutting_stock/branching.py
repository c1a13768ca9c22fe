"""Branching and fixing on arc flows."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from colgen import Decision, OnOriginalVariable, Solution
from colgen.branching.rules import Bound
from colgen.core.tolerances import TOLERANCES, fractionality
from colgen.fixing import ReducedCostFixing
from colgen.pricing.oracles import PricedMarginals
from colgen.problems.cutting_stock.instance import Pattern
from colgen.problems.cutting_stock.layout import PatternArcsForbidden, PatternLayout, as_arc, decompose_flows
from colgen.problems.cutting_stock.pricing import ARC, PatternOracle
from colgen.problems.cutting_stock.rolls import assign
from colgen.solvers.packing.knapsack import PackingNetwork

_WIDE = 0.3
"""Weight of an item's width in the score of an arc, relative to the fractionality."""


class OnArcFlow(OnOriginalVariable):
    """Branch on the number of rolls that have a piece of an item at a position, summed over kinds; wide items first.

    An item with demand 1 is assigned to one half of its positions or the other.  For other items one arc is bounded.
    Only plans that cut each item exactly as often as demanded are kept; one of them is optimal.  If the upper child
    would put all pieces of an item at one position, it forbids the item's other arcs instead, which needs no row.
    There is no upper child with more pieces than that.

    Notes
    -----
    The arcs of a plan form paths from position 0.  Integer arc flows do too, and their paths end where patterns of the
    relaxation end.  If the patterns fit onto integer numbers of rolls of each kind, so do the paths.  A transportation
    problem with integer supplies and demands has an integer solution if it is feasible.
    """

    makes: Sequence[type[Decision]] = (Bound, PatternArcsForbidden)

    def __init__(self, layout: PatternLayout, oracles: Sequence[PatternOracle]) -> None:
        super().__init__(layout.arcs, block=ARC)
        self.layout = layout
        self.oracles = oracles

    def score(self, variable: Hashable, value: float) -> float:
        rank, _ = as_arc(variable)
        # Wide items shape the rest of a pattern, so among equally fractional arcs theirs come first.
        return fractionality(value) + self._width_score(rank)

    def _width_score(self, rank: int) -> float:
        return _WIDE * (1.0 - rank / len(self.layout.widths))

    def branch(self, solution: Solution) -> Sequence[Sequence[Decision]]:
        halves = self._halves(solution) if self.layout.tabulated else ()
        if halves:
            return halves
        children = []
        for (decision,) in super().branch(solution):
            if not isinstance(decision, Bound) or decision.lower <= self.demand(decision):
                children.append((self._without_row(decision) if self.layout.tabulated else decision,))
            # A larger lower bound means more pieces than demanded, which no kept plan has.
        return children

    def demand(self, decision: Bound) -> float:
        """Return the demand of the item whose arc a decision bounds."""
        rank, _ = as_arc(decision.key[1])
        return float(self.layout.demands[rank])

    def _halves(self, solution: Solution) -> Sequence[Sequence[Decision]]:
        """Return children that put an item of demand 1 into the left or the right half of its positions.

        This settles the item's arc in few levels, while forbidding one of many arcs settles hardly anything.
        """
        flows: dict[int, list[tuple[int, float]]] = {}
        for variable, value in self.values(solution).items():
            rank, position = as_arc(variable)
            if self.layout.demands[rank] == 1:
                flows.setdefault(rank, []).append((position, value))
        best, chosen = 0.0, None
        for rank, arcs in flows.items():
            if len(arcs) == 1 or not any(fractionality(value) for _, value in arcs):
                continue
            arcs.sort()
            left = np.cumsum([value for _, value in arcs])
            balance = (np.minimum(left, left[-1] - left) / left[-1])[:-1]
            k = int(np.argmax(balance))
            if balance[k] > TOLERANCES.integrality and balance[k] + self._width_score(rank) > best:
                best, chosen = float(balance[k]) + self._width_score(rank), (rank, arcs[k][0])
        if chosen is None:
            return ()
        rank, position = chosen
        net = self.layout.network
        first, last = int(net.first_arc[rank]), int(net.first_arc[rank + 1])
        split = first + int(np.searchsorted(net.positions[first:last], position, side="right"))
        halves = (slice(first, split), slice(split, last))
        return [(PatternArcsForbidden(self.layout, _all_but(net, half)),) for half in halves]

    def _without_row(self, decision: Decision) -> Decision:
        """Return an equivalent decision without a row, if there is one."""
        if not isinstance(decision, Bound) or (decision.upper > 0.0 and decision.lower < self.demand(decision)):
            return decision
        rank, position = as_arc(decision.key[1])
        net = self.layout.network
        arc = net.arc(rank, position)
        if decision.upper <= 0.0:
            return PatternArcsForbidden(self.layout, _all_but(net, slice(arc, arc + 1)))
        allowed = _all_but(net, slice(int(net.first_arc[rank]), int(net.first_arc[rank + 1])))
        allowed[arc] = True
        return PatternArcsForbidden(self.layout, allowed)

    def recover(self, solution: Solution) -> Solution | None:
        """Return integer patterns from integer arc flows, on the rolls that the solution uses."""
        width = self.layout.width_of_item
        lengths = [
            (sum(int(width[item]) * copies for item, copies in pattern), pattern, rolls)
            for pattern, rolls in self.decompose(solution).items()
        ]
        uses = assign([oracle.kind.width for oracle in self.oracles], lengths, solution)
        if uses is None:
            return None
        columns = tuple((self.oracles[kind].encode(pattern), float(rolls)) for pattern, rolls, kind in uses)
        return Solution(math.fsum(column.cost * rolls for column, rolls in columns), columns)

    def decompose(self, solution: Solution) -> dict[Pattern, int]:
        """Return the patterns of integer arc flows and their numbers of rolls."""
        flows = [(*as_arc(variable), round(value)) for variable, value in self.values(solution).items()]
        patterns: dict[Pattern, int] = {}
        for ranks, rolls in decompose_flows(flows, self.layout.widths):
            pattern = self.layout.pattern(np.bincount(ranks, minlength=len(self.layout.widths)))
            patterns[pattern] = patterns.get(pattern, 0) + rolls
        return patterns


def _all_but(net: PackingNetwork, closed: slice) -> NDArray[np.bool_]:
    """Return a mask of all arcs outside a slice."""
    mask = np.ones(net.num_arcs, dtype=np.bool_)
    mask[closed] = False
    return mask


class PatternArcFixing(ReducedCostFixing):
    """Forbid the arcs of each kind of roll whose best patterns waste more than the gap."""

    makes: Sequence[type[Decision]] = (PatternArcsForbidden,)

    def __init__(self, layout: PatternLayout, oracles: Sequence[PatternOracle], share: float = 0.02) -> None:
        def decide(number: int, marginals: PricedMarginals, worse: NDArray[np.bool_]) -> Sequence[Decision]:
            allowed = np.zeros(layout.network.num_arcs, dtype=np.bool_)
            allowed[np.asarray(marginals.names)[~worse]] = True
            kind = None if len(oracles) == 1 else number
            return (PatternArcsForbidden(layout, allowed, exhaustive=False, kind=kind),)

        super().__init__(oracles, share=share, decide=decide)
        self.layout = layout
