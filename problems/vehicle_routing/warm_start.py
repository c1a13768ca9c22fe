"""The routes that a run starts from."""

from __future__ import annotations

from colgen.core.budget import Budget
from problems.vehicle_routing.heuristics import by_pyvrp, by_savings, improved
from problems.vehicle_routing.instance import Instance, Route

_STEPS = 8
"""Times the square of the number of customers: steps of ruin and recreate."""

_MOST = 30_000
"""But no more of them than these, a few seconds."""


def first_routes(instance: Instance, budget: Budget, pyvrp: float = 0.0) -> list[Route]:
    """Good routes within a second or a few; more of them than vehicles where fewer are not found.

    Parameters
    ----------
    pyvrp
        So many seconds are given to PyVRP, and the better routes are taken.

    Raises
    ------
    InputError
        If PyVRP is wanted and not installed.
    """
    steps = min(_STEPS * instance.num_customers**2, _MOST)
    routes = improved(instance, by_savings(instance), steps=steps, expired=lambda: budget.expired)
    if pyvrp > 0.0 and not budget.expired:
        others = by_pyvrp(instance, min(pyvrp, budget.seconds_left))
        if others is not None and (len(routes) > instance.most or instance.total(others) < instance.total(routes)):
            return others
    return routes
