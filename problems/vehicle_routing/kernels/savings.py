"""Savings algorithm: repeatedly merge the two routes with the largest saving, if one vehicle can drive the result.

Source: G. Clarke and J. W. Wright, *Scheduling of vehicles from a central depot to a number of delivery points*,
Operations Research 12 (1964); with time windows, M. M. Solomon, Operations Research 35 (1987).
"""

from __future__ import annotations

import numpy as np

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, int64
from colgen.solvers.paths.tours import Data, Ints, Tours, empty, put_in, refresh, to_arrays
from colgen.solvers.sorting import order_by


@njit(cache=True)
def savings(data: Data) -> tuple[Ints, Ints]:
    """Return the concatenated customers of the routes, and the end of each route."""
    n, distance, capacity = len(data.begin) - 1, data.costs[0], data.capacities[0, 0]
    tours = empty(data)
    for i in range(1, n + 1):
        put_in(data, tours, i, i - 1, int64(0))
    saved, order = np.empty(n * n), np.empty(n * n, np.int64)
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            k = (i - 1) * n + j - 1
            saved[k] = distance[i, j] - distance[i, 0] - distance[0, j] if i != j else 1.0
    order_by(saved, n * n, order)  # savings are negative here
    for place in range(n * n):
        k = order[place]
        if saved[k] >= 0.0:
            break
        i, j = k // n + 1, k % n + 1
        r, s = tours.owner[i], tours.owner[j]
        if r == s or tours.last[r] != i or tours.first[s] != j or tours.load[r, 0] + tours.load[s, 0] > capacity:
            continue
        if _meets(data, tours, i, j):
            _join(data, tours, r, s)
    routes, ends, _ = to_arrays(tours)
    return routes, ends


@inner
def _meets(data: Data, tours: Tours, i: int, j: int) -> bool:
    """Return whether the route that ends with i can continue with the one that starts with j in time."""
    late = False
    for t in range(data.steps.shape[1]):
        late |= tours.early[t, i] + data.steps[0, t, i, j] > tours.late[t, j]
    return not late


@inner
def _join(data: Data, tours: Tours, r: int, s: int) -> None:
    """Append route s to route r."""
    i, j = tours.last[r], tours.first[s]
    tours.succ[i], tours.pred[j] = j, i
    tours.last[r] = tours.last[s]
    tours.load[r, 0] += tours.load[s, 0]
    tours.stops[r] += tours.stops[s]
    tours.first[s], tours.last[s], tours.load[s, 0], tours.stops[s] = 0, 0, 0.0, 0
    while j != 0:
        tours.owner[j] = r
        j = tours.succ[j]
    refresh(data, tours, r)
