"""Local search: exchange and move segments of routes until no change shortens them.

Between two routes, a segment of up to three customers or the rest of a route is exchanged for one of the other route,
possibly empty.  This covers relocation, or-opt, swap and 2-opt*.  Within a route a segment is reversed (2-opt) or moved
(or-opt).  Six arcs determine the change of distance.  Feasibility is checked only for improving exchanges.

Source: E. Taillard, P. Badeau, M. Gendreau, F. Guertin, J.-Y. Potvin, *A tabu search heuristic for the vehicle routing
problem with soft time windows*, Transportation Science 31 (1997), for the exchange of segments.
"""

from __future__ import annotations

import numpy as np

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, overwrite
from colgen.solvers.paths.tours import Data, Floats, Ints

_LONGEST = 3
"""Maximum number of customers of an exchanged segment; length 4 stands for the rest of the route."""

_LESS = 1e-9
"""Least saving, as a share of the longest distance: sums are inexact."""


@njit(cache=True)
def improve(data: Data, routes: Ints, ends: Ints, most: int) -> tuple[Ints, Ints]:
    """Return routes that no exchange shortens.

    Parameters
    ----------
    routes, ends
        The concatenated customers of the routes, and the end of each route.
    most
        Vehicle limit: a route is opened only below it.
    """
    n, count = len(data.begin) - 1, len(ends)
    rows = count + 1 if count < most else count  # an empty last route lets a segment open a new one
    table = np.zeros((rows, n + 2), np.int64)
    length = np.zeros(rows, np.int64)
    begin = 0
    for r in range(count):
        length[r] = ends[r] - begin
        overwrite(table[r, : length[r]], routes[begin : ends[r]])
        begin = ends[r]
    least = _LESS * data.costs[0].max()
    changed = True
    while changed:
        changed = False
        for r in range(rows):
            while _change_within(data, table, length, r, least):
                changed = True
            for s in range(r + 1, rows):
                while _exchange(data, table, length, r, s, least):
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
def route_distance(data: Data, route: Ints, length: int) -> float:
    """Return the distance of a route, infinity if it is infeasible."""
    load, at, found = 0.0, 0, 0.0
    for k in range(length):
        i = route[k]
        load += data.loads[0, i]
        found += data.costs[0, at, i]
        at = i
    if load > data.capacities[0, 0]:
        return np.inf
    for t in range(data.steps.shape[1]):
        at, now = 0, data.low[0, t, 0]
        for k in range(length):
            i = route[k]
            now = max(now + data.steps[0, t, at, i], data.low[0, t, i])
            if now > data.high[0, t, i]:
                return np.inf
            at = i
        if now + data.steps[0, t, at, 0] > data.high[0, t, 0]:
            return np.inf
    return float(found + data.costs[0, at, 0])


@njit(cache=True, no_cpython_wrapper=True)
def _exchange(data: Data, table: Ints, length: Ints, r: int, s: int, least: float) -> bool:
    """Perform the first exchange between two routes that saves distance.  Return whether there was one."""
    d, one, other = data.costs[0], table[r], table[s]
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
                    change = -_link(d, before, one, a, end, after) - _link(d, ahead, other, b, stop, behind)
                    change += _link(d, before, other, b, stop, after) + _link(d, ahead, one, a, end, behind)
                    if change >= -least:
                        continue
                    u = _splice(one, m, a, end, other, b, stop, new_one)
                    v = _splice(other, n, b, stop, one, a, end, new_other)
                    if route_distance(data, new_one, u) < np.inf and (route_distance(data, new_other, v) < np.inf):
                        overwrite(one[:u], new_one[:u])
                        overwrite(other[:v], new_other[:v])
                        length[r], length[s] = u, v
                        return True
    return False


@inner
def _link(d: Floats, before: int, route: Ints, begin: int, end: int, after: int) -> float:
    """Return the distance of the arcs that link a segment to its neighbours."""
    if begin == end:
        return float(d[before, after])
    return float(d[before, route[begin]] + d[route[end - 1], after])


@inner
def _splice(route: Ints, length: int, begin: int, end: int, other: Ints, b: int, stop: int, out: Ints) -> int:
    """Write to ``out`` a route with one segment replaced by another route's; return the length."""
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
def _change_within(data: Data, table: Ints, length: Ints, r: int, least: float) -> bool:
    """Perform the first change within a route that saves distance.  Return whether there was one."""
    route, m = table[r], length[r]
    now = route_distance(data, route, m)
    new = np.empty(m, np.int64)
    for a in range(m):
        for end in range(a + 1, m + 1):
            if end - a > 1:  # reversal
                overwrite(new, route[:m])
                overwrite(new[a:end], route[a:end][::-1])
                if route_distance(data, new, m) < now - least:
                    overwrite(route[:m], new)
                    return True
            if end - a > _LONGEST:
                continue
            for to in range(m - (end - a) + 1):  # move to position ``to``
                if to == a:
                    continue
                _move(route, m, a, end, to, new)
                if route_distance(data, new, m) < now - least:
                    overwrite(route[:m], new)
                    return True
    return False


@inner
def _move(route: Ints, length: int, begin: int, end: int, to: int, out: Ints) -> None:
    """Write to ``out`` a route with a segment moved to position ``to``."""
    k, size = 0, end - begin
    for j in range(length):
        if j < begin or j >= end:
            out[k if k < to else k + size] = route[j]
            k += 1
    for j in range(size):
        out[to + j] = route[begin + j]
