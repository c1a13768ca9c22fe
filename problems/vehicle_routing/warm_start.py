"""The routes that a run starts from."""

from __future__ import annotations

from colgen.core.budget import Budget
from colgen.problems.vehicle_routing.heuristics import by_pyvrp, by_savings, improved
from colgen.problems.vehicle_routing.instance import Route, RoutingInstance

_STEPS = 8
"""Times the square of the number of customers: steps of ruin and recreate."""

_TEMPERATURES = (0.1, 0.3, 1.0, 0.3)
"""Of runs of ruin and recreate from the same routes, as shares of the mean distance."""

_SETTLED = 50
"""Up to so many customers, and wherever windows say in which order they are served, the first run finds good routes;
beyond, it ends a percent off in one instance of three."""

_MOST = 30_000
"""But no more of them than these, a few seconds."""


def first_routes(instance: RoutingInstance, budget: Budget, pyvrp: float = 0.0) -> list[Route]:
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
    crowded = instance.windows is None and instance.num_customers > _SETTLED
    savings = by_savings(instance)
    routes = savings
    for seed, hot in enumerate(_TEMPERATURES if crowded else _TEMPERATURES[:1]):
        found = improved(instance, savings, steps=steps, seed=seed, hot=hot, expired=lambda: budget.expired)
        routes = min(routes, found, key=lambda some: (max(len(some), instance.most), instance.total(some)))
    if pyvrp > 0.0 and not budget.expired:
        others = by_pyvrp(instance, min(pyvrp, budget.seconds_left))
        if others is not None and (len(routes) > instance.most or instance.total(others) < instance.total(routes)):
            return others
    return routes
