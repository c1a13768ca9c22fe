"""Brute force for vehicle routing: all routes, and all partitions of the customers into routes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache

from colgen.problems.vehicle_routing import RoutingInstance

_FEW = 6
"""Largest number of customers for which all routes are enumerated."""

_LATE = 1e-15
"""Rounding error per term of a sum, relative to the horizon."""


def all_routes(instance: RoutingInstance) -> list[tuple[int, ...]]:
    """Return the feasible elementary routes."""
    return [
        route
        for size in range(1, instance.num_customers + 1)
        for route in itertools.permutations(instance.customers, size)
        if drives(instance, route)
    ]


def optimum(instance: RoutingInstance) -> float | None:
    """Return the minimum total distance, or None if infeasible."""
    distance = _enumerate_routes(instance) if instance.num_customers <= _FEW else _solve_over_sets(instance)
    return None if math.isinf(distance) else distance


def _enumerate_routes(instance: RoutingInstance) -> float:
    shortest: dict[frozenset[int], float] = {}
    for route in all_routes(instance):
        served = frozenset(route)
        shortest[served] = min(shortest.get(served, math.inf), length(instance, route))

    @cache
    def best(left: frozenset[int], vehicles: int) -> float:
        if not left:
            return 0.0
        first = min(left)
        parts = [part for part in shortest if first in part and part <= left] if vehicles else []
        return min((shortest[part] + best(left - part, vehicles - 1) for part in parts), default=math.inf)

    return best(frozenset(instance.customers), instance.most)


def _solve_over_sets(instance: RoutingInstance) -> float:
    """Solve by a dynamic program over sets and last customers, with Pareto-optimal pairs of distance and time."""
    n, d = instance.num_customers, instance.distances
    windows = instance.windows or ((0.0, math.inf),) * (n + 1)
    service = instance.service or (0.0,) * (n + 1)
    late = _LATE * (n + 1) * windows[0][1] if instance.windows else 0.0

    def extend(way: tuple[float, float], at: int, i: int) -> tuple[float, float] | None:
        now = max(way[1] + (service[at] + d[at][i] if instance.windows else 0.0), windows[i][0])
        return None if now > windows[i][1] + late else (way[0] + d[at][i], now)

    ways: dict[tuple[int, int], list[tuple[float, float]]] = {(0, 0): [(0.0, windows[0][0])]}
    shortest = [math.inf] * (1 << n)
    for served in range(1 << n):  # subsets have smaller numbers
        if sum(instance.demands[i] for i in range(1, n + 1) if served >> (i - 1) & 1) > instance.capacity:
            continue
        for last in range(n + 1):
            here = ways.get((served, last), [])
            kept = [a for a in here if not any(b != a and b[0] <= a[0] and b[1] <= a[1] for b in here)]
            for way in set(kept):
                home = extend(way, last, 0)
                if home is not None and served:
                    shortest[served] = min(shortest[served], home[0])
                for i in range(1, n + 1):
                    after = None if served >> (i - 1) & 1 else extend(way, last, i)
                    if after is not None:
                        ways.setdefault((served | 1 << (i - 1), i), []).append(after)
    best = [0.0] + [math.inf] * ((1 << n) - 1)
    for _ in range(instance.most):
        more = list(best)
        for left in range(1, 1 << n):
            first, part = left & -left, left
            while part:  # all subsets with the first customer
                if part & first and shortest[part] < math.inf:
                    more[left] = min(more[left], shortest[part] + best[left ^ part])
                part = (part - 1) & left
        if more == best:
            break
        best = more
    return best[-1]


def length(instance: RoutingInstance, route: Sequence[int]) -> float:
    """Return the distance of a route."""
    return math.fsum(instance.distances[i][j] for i, j in itertools.pairwise((0, *route, 0)))


def drives(instance: RoutingInstance, route: Sequence[int]) -> bool:
    """Return whether a route is feasible, up to rounding errors of times."""
    if sum(instance.demands[i] for i in route) > instance.capacity:
        return False
    if instance.windows is None or instance.service is None:
        return True
    late = _LATE * len(instance.demands) * instance.windows[0][1]
    at, now = 0, instance.windows[0][0]
    for i in (*route, 0):
        now = max(now + instance.service[at] + instance.distances[at][i], instance.windows[i][0])
        if now > instance.windows[i][1] + late:
            return False
        at = i
    return True
