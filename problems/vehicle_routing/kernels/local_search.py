"""Local search over routes: segments change places, between two routes and within one, as long as that shortens them.

Between two routes, a segment of up to three customers or the whole rest is exchanged for one of the other route, the
empty one included: that is relocation, or-opt, swap and 2-opt* in one neighbourhood.  Within a route a segment is
turned round (2-opt) or moved (or-opt).  The distance of each exchange is known from six arcs; routes are walked through
only where it is shorter.

Source: E. Taillard, P. Badeau, M. Gendreau, F. Guertin, J.-Y. Potvin, *A tabu search heuristic for the vehicle routing
problem with soft time windows*, Transportation Science 31 (1997), for the exchange of segments.
"""

from __future__ import annotations

import numpy as np

from colgen.problems.vehicle_routing.kernels.tours import Data, Floats, Ints
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, overwrite

_LONGEST = 3
"""Customers of a segment that is exchanged; one more stands for the whole rest of the route."""

_LESS = 1e-9
"""A change counts if it saves more than this share of the longest distance: sums are not exact."""


@njit(cache=True)
def improve(data: Data, routes: Ints, ends: Ints, most: int) -> tuple[Ints, Ints]:
    """Routes that no exchange shortens.

    Parameters
    ----------
    routes, ends
        The customers of the routes one after the other, and where each route ends.
    most
        Routes wanted at most: one is opened only if there are fewer.
    """
    n, count = len(data.demand) - 1, len(ends)
    rows = count + 1 if count < most else count  # the last one is empty, for whoever wants a route alone
    table = np.zeros((rows, n + 2), np.int64)
    length = np.zeros(rows, np.int64)
    begin = 0
    for r in range(count):
        length[r] = ends[r] - begin
        overwrite(table[r, : length[r]], routes[begin : ends[r]])
        begin = ends[r]
    least = _LESS * data.distance.max()
    changed = True
    while changed:
        changed = False
        for r in range(rows):
            while _within(data, table, length, r, least):
                changed = True
            for s in range(r + 1, rows):
                while _between(data, table, length, r, s, least):
                    changed = True
    found, where = np.empty(n, np.int64), np.empty(rows, np.int64)
    total, number = 0, 0
    for r in range(rows):
        if length[r]:
            overwrite(found[total : total + length[r]], table[r, : length[r]])
            total += length[r]
            where[number] = total
            number += 1
    return found[:total], where[:number]


@inner
def distance_if_possible(data: Data, route: Ints, length: int) -> float:
    """Distance of a route, infinite if a vehicle cannot drive it."""
    load, at, now, found = 0.0, 0, data.ready[0], 0.0
    for k in range(length):
        i = route[k]
        load += data.demand[i]
        found += data.distance[at, i]
        now = max(now + data.service[at] + data.distance[at, i], data.ready[i])
        if load > data.capacity or now > data.due[i]:
            return np.inf
        at = i
    if now + data.service[at] + data.distance[at, 0] > data.due[0]:
        return np.inf
    return float(found + data.distance[at, 0])


@njit(cache=True, no_cpython_wrapper=True)
def _between(data: Data, table: Ints, length: Ints, r: int, s: int, least: float) -> bool:
    """Do the first exchange between two routes that saves something; whether there was one."""
    d, one, other = data.distance, table[r], table[s]
    m, n = length[r], length[s]
    new_one, new_other = np.empty(m + n + 1, np.int64), np.empty(m + n + 1, np.int64)
    for a in range(m + 1):
        before = one[a - 1] if a else 0
        for b in range(n + 1):
            ahead = other[b - 1] if b else 0
            for p in range(_LONGEST + 2):
                end = m if p > _LONGEST else a + p
                if end > m or (p > _LONGEST and m - a <= _LONGEST):
                    continue
                after = one[end] if end < m else 0
                for q in range(_LONGEST + 2):
                    stop = n if q > _LONGEST else b + q
                    if stop > n or (q > _LONGEST and n - b <= _LONGEST) or (end == a and stop == b):
                        continue
                    behind = other[stop] if stop < n else 0
                    change = -_around(d, before, one, a, end, after) - _around(d, ahead, other, b, stop, behind)
                    change += _around(d, before, other, b, stop, after) + _around(d, ahead, one, a, end, behind)
                    if change >= -least:
                        continue
                    u = _spliced(one, m, a, end, other, b, stop, new_one)
                    v = _spliced(other, n, b, stop, one, a, end, new_other)
                    if distance_if_possible(data, new_one, u) < np.inf and (
                        distance_if_possible(data, new_other, v) < np.inf
                    ):
                        overwrite(one[:u], new_one[:u])
                        overwrite(other[:v], new_other[:v])
                        length[r], length[s] = u, v
                        return True
    return False


@inner
def _around(d: Floats, before: int, route: Ints, begin: int, end: int, after: int) -> float:
    """Distance into a segment and out of it."""
    if begin == end:
        return float(d[before, after])
    return float(d[before, route[begin]] + d[route[end - 1], after])


@inner
def _spliced(route: Ints, length: int, begin: int, end: int, other: Ints, b: int, stop: int, out: Ints) -> int:
    """A route with a segment of another one in place of its own; returns its length."""
    k = 0
    for j in range(begin):
        out[k] = route[j]
        k += 1
    for j in range(b, stop):
        out[k] = other[j]
        k += 1
    for j in range(end, length):
        out[k] = route[j]
        k += 1
    return k


@njit(cache=True, no_cpython_wrapper=True)
def _within(data: Data, table: Ints, length: Ints, r: int, least: float) -> bool:
    """Do the first change within a route that saves something; whether there was one."""
    route, m = table[r], length[r]
    now = distance_if_possible(data, route, m)
    new = np.empty(m, np.int64)
    for a in range(m):
        for end in range(a + 1, m + 1):
            if end - a > 1:  # turned round
                overwrite(new, route[:m])
                overwrite(new[a:end], route[a:end][::-1])
                if distance_if_possible(data, new, m) < now - least:
                    overwrite(route[:m], new)
                    return True
            if end - a > _LONGEST:
                continue
            for to in range(m - (end - a) + 1):  # moved: before the customer that is then at this place
                if to == a:
                    continue
                _moved(route, m, a, end, to, new)
                if distance_if_possible(data, new, m) < now - least:
                    overwrite(route[:m], new)
                    return True
    return False


@inner
def _moved(route: Ints, length: int, begin: int, end: int, to: int, out: Ints) -> None:
    """A route whose segment begins at another place."""
    k, size = 0, end - begin
    for j in range(length):
        if j < begin or j >= end:
            out[k if k < to else k + size] = route[j]
            k += 1
    for j in range(size):
        out[to + j] = route[begin + j]
