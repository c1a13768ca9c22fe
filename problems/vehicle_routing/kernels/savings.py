"""Savings algorithm: repeatedly merge the two routes with the largest saving, if one vehicle can drive the result.

Source: G. Clarke and J. W. Wright, *Scheduling of vehicles from a central depot to a number of delivery points*,
Operations Research 12 (1964); with time windows, M. M. Solomon, Operations Research 35 (1987).
"""

from __future__ import annotations

import numpy as np

from colgen.problems.vehicle_routing.kernels.tours import Data, Ints, Tours, empty, put_in, refresh, to_arrays
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, int64
from colgen.solvers.sorting import order_by


@njit(cache=True)
def savings(data: Data) -> tuple[Ints, Ints]:
    """Return the concatenated customers of the routes, and the end of each route."""
    n = len(data.demand) - 1
    tours = empty(n)
    for i in range(1, n + 1):
        put_in(data, tours, i, i - 1, int64(0))
    saved, order = np.empty(n * n), np.empty(n * n, np.int64)
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            k = (i - 1) * n + j - 1
            saved[k] = data.distance[i, j] - data.distance[i, 0] - data.distance[0, j] if i != j else 1.0
    order_by(saved, n * n, order)  # savings are negative here
    for place in range(n * n):
        k = order[place]
        if saved[k] >= 0.0:
            break
        i, j = k // n + 1, k % n + 1
        r, s = tours.owner[i], tours.owner[j]
        if r == s or tours.last[r] != i or tours.first[s] != j or tours.load[r] + tours.load[s] > data.capacity:
            continue
        if tours.early[i] + data.service[i] + data.distance[i, j] <= tours.late[j]:
            _join(data, tours, r, s)
    return to_arrays(tours)


@inner
def _join(data: Data, tours: Tours, r: int, s: int) -> None:
    """Append route s to route r."""
    i, j = tours.last[r], tours.first[s]
    tours.succ[i], tours.pred[j] = j, i
    tours.last[r] = tours.last[s]
    tours.load[r] += tours.load[s]
    tours.stops[r] += tours.stops[s]
    tours.first[s], tours.last[s], tours.load[s], tours.stops[s] = 0, 0, 0.0, 0
    while j != 0:
        tours.owner[j] = r
        j = tours.succ[j]
    refresh(data, tours, r)
