"""Enumeration of all routes that an improving solution can use."""

from __future__ import annotations

import math

from colgen.branching.rules import Bound
from colgen.core.columns import Key
from colgen.core.tolerances import TOLERANCES, size
from colgen.enumeration import Enumerated, Enumeration
from colgen.fixing import ReductionContext
from colgen.problems.vehicle_routing.pricing import EDGE, RouteOracle


class RouteEnumeration(Enumeration):
    """Enumerate the elementary routes within the gap, only the shortest for each set of customers.

    A shorter route over the same customers can replace a route in any solution.  It may violate rows on edges, so the
    mixed-integer program omits such rows.  Its solutions are feasible for the whole problem, and the best is no worse
    than the node's.

    Parameters
    ----------
    limit
        Maximum number of routes to enumerate.
    seconds
        Time limit of the mixed-integer program.
    effort
        Limit of the enumeration: see :meth:`colgen.solvers.paths.labelling.Labelling.enumerate`.
    """

    def __init__(self, oracle: RouteOracle, limit: int = 20_000, seconds: float = 30.0, effort: float = 5e9) -> None:
        self.oracle = oracle
        self.limit = limit
        self.seconds = seconds
        self.effort = effort

    def enumerate(self, context: ReductionContext) -> Enumerated | None:
        oracle, pricing = self.oracle, context.pricing
        layout = oracle.layout
        costs = oracle.arc_costs(context.duals, pricing)
        forbidden, rank_one = oracle.forbidden(pricing), oracle.rank_one(context.duals)

        def expired() -> bool:
            return context.budget.expired

        best = layout.solver.price(costs, rank_one=rank_one, forbidden=forbidden, expired=expired)
        if best.bound is None:
            return None
        # A solution's other routes may have the best reduced cost, which is negative if duals are not optimal.
        rounding = TOLERANCES.optimality * size(context.scale, context.bound)
        gap = context.slack + min(best.bound, 0.0) + rounding
        found = layout.solver.enumerate(
            costs,
            gap,
            limit=self.limit,
            rank_one=rank_one,
            forbidden=forbidden,
            costs=layout.distances,
            effort=self.effort,
            expired=expired,
        )
        if not found.finished:
            return None
        sides: dict[Key, tuple[float, float]] = {
            decision.key: (-math.inf, math.inf)
            for decision in context.decisions
            if isinstance(decision, Bound) and decision.key[0] == EDGE and decision.row() is not None
        }
        return Enumerated(oracle.batch(found, context.duals)[0], sides)
