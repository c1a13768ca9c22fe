"""The routes that a run starts from."""

from __future__ import annotations

from colgen.core.budget import Budget
from problems.vehicle_routing.heuristics import by_savings, improved
from problems.vehicle_routing.instance import Instance, Route

_ROUND = 2_000
"""Steps of ruin and recreate between two looks at the clock."""

_STEPS = 8
"""Times the square of the number of customers: steps of ruin and recreate in all, up to the most."""

_MOST = 30_000


def first_routes(instance: Instance, budget: Budget) -> list[Route]:
    """Good routes within a second or a few; more of them than vehicles where fewer are not found."""
    routes = by_savings(instance)
    if budget.expired:
        return routes
    return improved(instance, routes, steps=min(_STEPS * instance.num_customers**2, _MOST))
