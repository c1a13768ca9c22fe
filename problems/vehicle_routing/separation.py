"""Separation: capacity cuts first, which do not change pricing, then rank-1 cuts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from colgen import PricingContext, RankOne, RoundedCapacity, Separation, SeparationContext, Solution
from colgen.core.columns import Key, Row
from colgen.problems.vehicle_routing.branching import arcs_of
from colgen.problems.vehicle_routing.instance import RoutingInstance
from colgen.problems.vehicle_routing.pricing import ARC, RouteOracle, visits

_NARROWER = 0.9
"""After a failed enumeration, try again once the gap is below this share of the former gap."""

_EFFORT = 1e9
"""Effort limit of the enumeration, about ten seconds."""


class InTurn(Separation):
    """Separations in order: a later one runs only if the earlier ones find no cuts.

    Parameters
    ----------
    enough
        Whether the node can be closed without the cuts of the last separation, which make pricing expensive.
    """

    def __init__(self, *separations: Separation, enough: Callable[[SeparationContext], bool]) -> None:
        self.separations = separations
        self.enough = enough

    def suit(self, master: Any) -> None:
        for separation in self.separations:
            separation.suit(master)

    def restore(self, key: Key, lower: float, upper: float) -> Row | None:
        found = (separation.restore(key, lower, upper) for separation in self.separations)
        return next((row for row in found if row is not None), None)

    def restated(self, key: Key) -> Row | None:
        found = (separation.restated(key) for separation in self.separations)
        return next((row for row in found if row is not None), None)

    def separate(self, solution: Solution, context: SeparationContext) -> Sequence[Row]:
        for separation in self.separations:
            if separation is self.separations[-1] and not context.whole and self.enough(context):
                return ()
            rows = separation.separate(solution, context) if separation.applies(context.depth) else ()
            if rows:
                return rows
        return ()


class FewRoutesLeft:
    """Tests whether the routes within the gap are so few that a mixed-integer program over them is quick.

    Parameters
    ----------
    limit
        Maximum number of routes.
    gap
        Largest relative gap at which the enumeration is tried.
    """

    def __init__(self, oracle: RouteOracle, limit: int = 3_000, gap: float = 0.01) -> None:
        self.oracle, self.limit, self.gap = oracle, limit, gap
        self._too_wide = math.inf

    def __call__(self, context: SeparationContext) -> bool:
        slack = context.incumbent - context.bound
        if not context.gap <= self.gap or context.duals is None or slack > _NARROWER * self._too_wide:
            return False
        oracle, pricing = self.oracle, PricingContext(context.sense, budget=context.budget)
        found = oracle.layout.solver.enumerate(
            oracle.arc_costs(context.duals, pricing),
            slack,
            limit=self.limit,
            rank_one=oracle.rank_one(context.duals),
            costs=oracle.layout.distances,
            effort=_EFFORT,
            expired=lambda: context.budget.expired,
        )
        if not found.finished:
            self._too_wide = slack
        return found.finished


def capacity_then_rank_one(instance: RoutingInstance, oracle: RouteOracle) -> Separation:
    """Return a separation of rounded capacity cuts, then of rank-1 cuts over the customers' rows."""
    demands = {i: float(instance.demands[i]) for i in instance.customers}
    capacity = RoundedCapacity(arcs_of, demands, float(instance.capacity), block=ARC)  # type: ignore[arg-type]
    return InTurn(capacity, RankOne("visit", order=visits), enough=FewRoutesLeft(oracle))
