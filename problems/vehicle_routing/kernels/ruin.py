"""Ruin and recreate: remove strings of neighbouring customers and reinsert them, with simulated annealing.

Source: J. Christiaens and G. Vanden Berghe, *Slack induction by string removals for vehicle routing problems*,
Transportation Science 54 (2020).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from colgen.problems.vehicle_routing.kernels.tours import (
    Data,
    Ints,
    Tours,
    build,
    copy_to,
    fits,
    put_in,
    refresh,
    take_out,
    to_arrays,
)
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, int64
from colgen.solvers.sorting import order_by

_REMOVED = 10
"""Mean number of customers removed per step."""
_STRING = 10
"""Maximum number of customers removed from one route."""
_BLINK = 0.01
"""Probability that an insertion position is skipped."""


class _Buffers(NamedTuple):
    """Buffers: removed customers, flags of changed routes, sort keys, sort order."""

    absent: Any
    touched: Any
    keys: Any
    order: Any


class _RouteSets(NamedTuple):
    """The current, trial and best routes."""

    now: Tours
    trial: Tours
    best: Tours


@njit(cache=True)
def ruin_and_recreate(
    data: Data, routes: Ints, ends: Ints, most: int, steps: int, hot: float, cold: float, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Return the best routes found, as ``routes`` and ``ends``.

    Parameters
    ----------
    routes, ends
        Initial routes: their concatenated customers, and the end of each route.
    most
        Vehicle limit; each route above it costs the sum of all distances divided by n + 1.
    steps
        Number of removals.
    hot, cold
        Initial and final temperature, in units of distance.
    """
    n = len(data.demand) - 1
    near, there_and_back = np.empty((n + 1, n), np.int64), np.empty(n)
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            there_and_back[j - 1] = data.distance[i, j] + data.distance[j, i]
        order_by(there_and_back, n, near[i])
        for k in range(n):
            near[i, k] += 1
    extra = data.distance.sum() / len(data.demand)  # penalty of a route above the limit
    route_sets = _RouteSets(build(data, routes, ends), build(data, routes, ends), build(data, routes, ends))
    buffers = _Buffers(np.empty(n, np.int64), np.empty(n + 1, np.bool_), np.empty(n), np.empty(n, np.int64))
    _anneal(data, route_sets, near, buffers, most, extra, steps, hot, cold, rng)
    return to_arrays(route_sets.best)


@inner
def _anneal(
    data: Data, route_sets: _RouteSets, near: Ints, buffers: _Buffers, most: int, extra: float, steps: int, hot: float,
    cold: float, rng: np.random.Generator,
) -> None:  # fmt: skip
    """Anneal from the current routes, which are also the first best ones."""
    now, trial, best = route_sets
    cost = _cost(data, now, most, extra)
    best_cost = cost
    for step in range(steps):
        temperature = hot * (cold / hot) ** (step / steps)
        copy_to(now, trial)
        count = _ruin(data, trial, near, buffers, rng)
        _recreate(data, trial, buffers, count, most, extra, rng)
        new = _cost(data, trial, most, extra)
        if new < cost - temperature * math.log(1.0 - rng.random()):
            copy_to(trial, now)
            cost = new
            if new < best_cost:
                copy_to(trial, best)
                best_cost = new


@inner
def _cost(data: Data, tours: Tours, most: int, extra: float) -> float:
    """Return the distance plus penalties for routes above the limit and, larger than any distance, for late routes.

    Removing customers can make a route late if the triangle inequality fails, as for truncated distances.
    """
    found, used, late = 0.0, 0, 0
    for r in range(len(tours.first)):
        i = tours.first[r]
        if i:
            used += 1
            late += tours.early[i] > tours.late[i]
            found += data.distance[0, i]
            while i != 0:
                found += data.distance[i, tours.succ[i]]
                i = tours.succ[i]
    return found + extra * (max(used - most, 0) + 2 * len(data.demand) * late)


@inner
def _ruin(data: Data, tours: Tours, near: Ints, buffers: _Buffers, rng: np.random.Generator) -> int:
    """Remove strings of customers around a random customer.  Return how many were removed."""
    absent, touched = buffers.absent, buffers.touched
    n = len(data.demand) - 1
    used = 0
    for r in range(len(tours.first)):
        used += tours.first[r] != 0
    longest = min(float(_STRING), n / used)
    strings = int(rng.random() * (4.0 * _REMOVED / (1.0 + longest) - 1.0) + 1.0)
    for r in range(len(touched)):
        touched[r] = False
    count, done = 0, 0
    seed = 1 + int(rng.random() * n)
    for i in near[seed]:
        if done >= strings:
            break
        r = tours.owner[i]
        if r < 0 or touched[r]:
            continue
        touched[r] = True
        done += 1
        stops = tours.stops[r]
        size = int(rng.random() * min(float(stops), longest) + 1.0)
        size = min(size, stops)
        skipped = 0
        if size > 1 and size < stops and rng.random() < 0.5:
            skipped = 1
            while size + skipped < stops and rng.random() < _BLINK:
                skipped += 1
        # The removed string and the skipped part cover customer i, which is preceded by ``place`` customers.
        place, j = 0, tours.pred[i]
        while j != 0:
            place += 1
            j = tours.pred[j]
        span = size + skipped
        lowest, highest = max(0, place - span + 1), min(place, stops - span)
        begin = lowest + int(rng.random() * (highest - lowest + 1))
        hole = 1 + int(rng.random() * (size - 1)) if skipped else span
        j = tours.first[r]
        for _ in range(begin):
            j = tours.succ[j]
        for k in range(span):
            following = tours.succ[j]
            if k < hole or k >= hole + skipped:
                take_out(data, tours, j)
                absent[count] = j
                count += 1
            j = following
        refresh(data, tours, r)
    return count


@inner
def _recreate(
    data: Data, tours: Tours, buffers: _Buffers, count: int, most: int, extra: float, rng: np.random.Generator
) -> None:
    """Reinsert the removed customers one by one at their cheapest positions."""
    absent, key, order = buffers.absent, buffers.keys, buffers.order
    kind = int(rng.random() * (14 if data.due[0] < np.inf else 11))
    for k in range(count):
        i = absent[k]
        if kind < 4:
            key[k] = rng.random()
        elif kind < 8:
            key[k] = -data.demand[i]
        elif kind < 10:
            key[k] = -data.distance[0, i]
        elif kind < 11:
            key[k] = data.distance[0, i]
        elif kind < 12:
            key[k] = data.due[i] - data.ready[i]
        elif kind < 13:
            key[k] = data.ready[i]
        else:
            key[k] = -data.due[i]
    order_by(key, count, order)
    for k in range(count):
        i = absent[order[k]]
        best, where, behind, free, used = np.inf, int64(-1), int64(0), -1, 0
        for r in range(len(tours.first)):
            if tours.first[r] == 0:
                free = r
                continue
            used += 1
            if tours.load[r] + data.demand[i] > data.capacity:
                continue
            before = int64(0)
            while True:
                after = tours.succ[before] if before else tours.first[r]
                more = data.distance[before, i] + data.distance[i, after] - data.distance[before, after]
                if more < best and rng.random() >= _BLINK and fits(data, tours, i, before, after):
                    best, where, behind = more, r, before
                if after == 0:
                    break
                before = after
        if where < 0 or used < most:  # open a route if necessary or cheaper
            alone = data.distance[0, i] + data.distance[i, 0] + (extra if used >= most else 0.0)
            if alone < best:
                where, behind = free, 0
        put_in(data, tours, i, where, behind)
