"""Listing all routes that a better answer can use."""

from __future__ import annotations

import math

from colgen.branching.rules import Bound
from colgen.core.columns import Key
from colgen.core.tolerances import TOLERANCES, size
from colgen.enumeration import Enumerated, Enumeration
from colgen.fixing import ReductionContext
from colgen.problems.vehicle_routing.pricing import EDGE, RouteOracle


class RouteEnumeration(Enumeration):
    """All elementary routes within the gap, of those that visit the same customers the shortest.

    A route can be replaced by a shorter one over the same customers, in any answer.  Rows on edges may not survive
    that: they are left out of the program, whose answers are then answers of the whole problem, and as good as the
    node's best at least.

    Parameters
    ----------
    limit
        At most so many routes.
    seconds
        For the program over the list.
    effort
        For the list: see :meth:`colgen.solvers.paths.labelling.Labelling.enumerate`.
    """

    def __init__(self, oracle: RouteOracle, limit: int = 20_000, seconds: float = 30.0, effort: float = 5e9) -> None:
        self.oracle = oracle
        self.limit = limit
        self.seconds = seconds
        self.effort = effort

    def enumerate(self, context: ReductionContext) -> Enumerated | None:
        oracle, told = self.oracle, context.pricing
        layout = oracle.layout
        costs = oracle.arc_costs(context.duals, told)
        forbidden, rank_one = oracle.forbidden(told), oracle.rank_one(context.duals)

        def expired() -> bool:
            return context.budget.expired

        best = layout.solver.price(costs, rank_one=rank_one, forbidden=forbidden, expired=expired)
        if best.bound is None:
            return None
        # An answer's other routes may have the best reduced cost, which is negative where duals are not optimal.
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
