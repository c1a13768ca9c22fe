"""Ruin and recreate: strings of neighbouring customers leave their routes and are inserted anew, under annealing.

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
    listed,
    put_in,
    refresh,
    take_out,
)
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, int64
from colgen.solvers.sorting import order_by

_REMOVED = 10
"""Customers that leave their routes, on average."""
_STRING = 10
"""At most so many of one route."""
_BLINK = 0.01
"""How often a place is overlooked."""


class _Room(NamedTuple):
    """Room to work in: customers that are in no route, routes that some have left, keys and what sorts them."""

    absent: Any
    touched: Any
    keys: Any
    order: Any


class _Routings(NamedTuple):
    """The present routes, those that are tried, and the best ones."""

    now: Tours
    trial: Tours
    best: Tours


@njit(cache=True)
def ruin_and_recreate(
    data: Data, routes: Ints, ends: Ints, most: int, steps: int, hot: float, cold: float, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """The best routes that are met.

    Parameters
    ----------
    routes, ends
        Where to start: the customers of the routes one after the other, and where each route ends.
    most
        Routes wanted at most: one more costs as much as all distances.
    steps
        How often customers are taken out.
    hot, cold
        Temperatures at the beginning and at the end, in units of distance.

    Returns
    -------
    tuple of arrays
        As ``routes`` and ``ends``.
    """
    n = len(data.demand) - 1
    near, there_and_back = np.empty((n + 1, n), np.int64), np.empty(n)
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            there_and_back[j - 1] = data.distance[i, j] + data.distance[j, i]
        order_by(there_and_back, n, near[i])
        for k in range(n):
            near[i, k] += 1
    extra = data.distance.sum() / len(data.demand)  # of one route too many
    routings = _Routings(build(data, routes, ends), build(data, routes, ends), build(data, routes, ends))
    room = _Room(np.empty(n, np.int64), np.empty(n + 1, np.bool_), np.empty(n), np.empty(n, np.int64))
    _anneal(data, routings, near, room, most, extra, steps, hot, cold, rng)
    return listed(routings.best)


@inner
def _anneal(
    data: Data, routings: _Routings, near: Ints, room: _Room, most: int, extra: float, steps: int, hot: float,
    cold: float, rng: np.random.Generator,
) -> None:  # fmt: skip
    """Change the present routes again and again; at first they are the best ones."""
    now, trial, best = routings
    cost = _cost(data, now, most, extra)
    best_cost = cost
    for step in range(steps):
        temperature = hot * (cold / hot) ** (step / steps)
        copy_to(now, trial)
        count = _ruin(data, trial, near, room, rng)
        _recreate(data, trial, room, count, most, extra, rng)
        new = _cost(data, trial, most, extra)
        if new < cost - temperature * math.log(1.0 - rng.random()):
            copy_to(trial, now)
            cost = new
            if new < best_cost:
                copy_to(trial, best)
                best_cost = new


@inner
def _cost(data: Data, tours: Tours, most: int, extra: float) -> float:
    """Distance, and what routes too many cost; a late one costs more than any distance.

    A route without some of its customers is late where detours are shorter than the direct way: no triangle inequality
    is asked for, and distances that were truncated do not satisfy it.
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
def _ruin(data: Data, tours: Tours, near: Ints, room: _Room, rng: np.random.Generator) -> int:
    """Take strings of customers out of routes around one customer; returns how many have left."""
    absent, touched = room.absent, room.touched
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
        # The string, with what is skipped in it, covers the customer: it begins so many places before it.
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
    data: Data, tours: Tours, room: _Room, count: int, most: int, extra: float, rng: np.random.Generator
) -> None:
    """Put customers back, one after the other, each where it is cheapest."""
    absent, key, order = room.absent, room.keys, room.order
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
        if where < 0 or used < most:  # a route of its own is opened where it must be, or is cheaper
            alone = data.distance[0, i] + data.distance[i, 0] + (extra if used >= most else 0.0)
            if alone < best:
                where, behind = free, 0
        put_in(data, tours, i, where, behind)
