"""Routes as linked lists with times, for insertion and removal of customers.

The state of a set of routes over customers 1 to n, at most n routes:

* ``pred[i]``, ``succ[i]``: neighbours of a customer in its route, 0 for the depot;
* ``owner[i]``: its route, -1 if it is in none;
* ``first[r]``, ``last[r]``: ends of a route, 0 if it is empty; ``load[r]``, ``stops[r]``;
* ``early[i]``: earliest start of service given the route before; ``late[i]``: latest start given the route after.  With
  both, an insertion is tested in constant time (Savelsbergh, 1992).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, overwrite

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Data(NamedTuple):
    """An instance as arrays."""

    distance: Any
    demand: Any
    capacity: float
    ready: Any
    due: Any
    service: Any


class Tours(NamedTuple):
    """A set of routes; the module describes the fields."""

    pred: Any
    succ: Any
    owner: Any
    first: Any
    last: Any
    load: Any
    stops: Any
    early: Any
    late: Any


@njit(cache=True, no_cpython_wrapper=True)
def empty(n: int) -> Tours:
    """Return a state without routes."""
    return Tours(
        np.zeros(n + 1, np.int64),
        np.zeros(n + 1, np.int64),
        np.full(n + 1, -1, np.int64),
        np.zeros(n + 1, np.int64),
        np.zeros(n + 1, np.int64),
        np.zeros(n + 1),
        np.zeros(n + 1, np.int64),
        np.zeros(n + 1),
        np.zeros(n + 1),
    )


@inner
def copy_to(source: Tours, target: Tours) -> None:
    """Overwrite ``target`` with ``source``."""
    overwrite(target.pred, source.pred)
    overwrite(target.succ, source.succ)
    overwrite(target.owner, source.owner)
    overwrite(target.first, source.first)
    overwrite(target.last, source.last)
    overwrite(target.load, source.load)
    overwrite(target.stops, source.stops)
    overwrite(target.early, source.early)
    overwrite(target.late, source.late)


@inner
def refresh(data: Data, tours: Tours, r: int) -> None:
    """Recompute the times of a route."""
    at, now = 0, data.ready[0]
    i = tours.first[r]
    while i != 0:
        now = max(now + data.service[at] + data.distance[at, i], data.ready[i])
        tours.early[i] = now
        at, i = i, tours.succ[i]
    after, then = 0, data.due[0]
    i = tours.last[r]
    while i != 0:
        then = min(then - data.service[i] - data.distance[i, after], data.due[i])
        tours.late[i] = then
        after, i = i, tours.pred[i]


@inner
def take_out(data: Data, tours: Tours, i: int) -> None:
    """Remove a customer from its route without updating times."""
    r, before, after = tours.owner[i], tours.pred[i], tours.succ[i]
    if before:
        tours.succ[before] = after
    else:
        tours.first[r] = after
    if after:
        tours.pred[after] = before
    else:
        tours.last[r] = before
    tours.owner[i] = -1
    tours.load[r] -= data.demand[i]
    tours.stops[r] -= 1


@inner
def put_in(data: Data, tours: Tours, i: int, r: int, before: int) -> None:
    """Insert a customer after ``before`` (0: at the beginning) and update times."""
    after = tours.succ[before] if before else tours.first[r]
    tours.pred[i], tours.succ[i], tours.owner[i] = before, after, r
    if before:
        tours.succ[before] = i
    else:
        tours.first[r] = i
    if after:
        tours.pred[after] = i
    else:
        tours.last[r] = i
    tours.load[r] += data.demand[i]
    tours.stops[r] += 1
    refresh(data, tours, r)


@inner
def fits(data: Data, tours: Tours, i: int, before: int, after: int) -> bool:
    """Return whether a customer can be served in time between two neighbours (0: the depot)."""
    start = tours.early[before] if before else data.ready[0]
    arrival = max(start + data.service[before] + data.distance[before, i], data.ready[i])
    if arrival > data.due[i]:
        return False
    end = tours.late[after] if after else data.due[0]
    return bool(arrival + data.service[i] + data.distance[i, after] <= end)


@njit(cache=True, no_cpython_wrapper=True)
def build(data: Data, routes: Ints, ends: Ints) -> Tours:
    """Return the state of routes given by concatenated customers and ends."""
    tours = empty(len(data.demand) - 1)
    begin = 0
    for r in range(len(ends)):
        at = 0
        for k in range(begin, ends[r]):
            i = routes[k]
            tours.pred[i], tours.owner[i] = at, r
            if at:
                tours.succ[at] = i
            else:
                tours.first[r] = i
            tours.succ[i] = 0
            tours.last[r] = i
            tours.load[r] += data.demand[i]
            tours.stops[r] += 1
            at = i
        begin = ends[r]
        refresh(data, tours, r)
    return tours


@njit(cache=True, no_cpython_wrapper=True)
def to_arrays(tours: Tours) -> tuple[Ints, Ints]:
    """Return the concatenated customers and the ends of the nonempty routes."""
    routes = np.empty(len(tours.pred), np.int64)
    ends = np.empty(len(tours.first), np.int64)
    count, number = 0, 0
    for r in range(len(tours.first)):
        i = tours.first[r]
        if i == 0:
            continue
        while i != 0:
            routes[count] = i
            count += 1
            i = tours.succ[i]
        ends[number] = count
        number += 1
    return routes[:count], ends[:number]
