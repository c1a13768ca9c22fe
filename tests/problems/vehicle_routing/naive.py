"""Vehicle routing by enumeration of all routes, and of all ways to divide the customers among them."""

import itertools
import math
from functools import cache


def all_routes(instance):
    """The elementary routes that a vehicle can drive."""
    return [
        route
        for size in range(1, instance.num_customers + 1)
        for route in itertools.permutations(instance.customers, size)
        if instance.fault(route) is None
    ]


def optimum(instance):
    """The least total distance, None if there is no answer."""
    shortest = {}
    for route in all_routes(instance):
        served = frozenset(route)
        shortest[served] = min(shortest.get(served, math.inf), instance.total([route]))

    @cache
    def best(left, vehicles):
        if not left:
            return 0.0
        if not vehicles:
            return math.inf
        first = min(left)
        return min(
            (cost + best(left - s, vehicles - 1) for s, cost in shortest.items() if first in s and s <= left),
            default=math.inf,
        )

    found = best(frozenset(instance.customers), instance.most)
    return None if math.isinf(found) else found
