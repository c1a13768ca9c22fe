"""A local search for cheap routes, which proves nothing.

From a route to the best one that differs from it in one vertex: inserted, left out, or put in another's place.  The
vertex that was moved rests for some steps, unless moving it leads to a route cheaper than any met so far; so the search
leaves the places that it has seen.  What a route costs more than its arcs is never negative: only those are walked
along whose arcs alone are cheaper than the best neighbour.

Source: G. Desaulniers, F. Lessard, A. Hadjar, *Tabu search, partial elementarity, and generalized k-path inequalities
for the vehicle routing problem with time windows*, Transportation Science 42 (2008).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from colgen.solvers.arrays import as_indices
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import folded, inner
from colgen.solvers.paths.labelling.boxes import charged
from colgen.solvers.paths.labelling.clock import OutOfTimeError
from colgen.solvers.paths.labelling.directions import tails_of
from colgen.solvers.paths.labelling.extension import Extend, came_over
from colgen.solvers.paths.labelling.layout import Floats, Ints, Side, Words, begun
from colgen.solvers.paths.labelling.neighbourhoods import Mask
from colgen.solvers.paths.labelling.runs import Found
from colgen.solvers.paths.labelling.task import Task

_STEPS = 60
"""From each route that the search begins with."""

_REST = 6
"""Steps that a vertex is left alone after it was moved."""

_ALONE = 20
"""Routes of one vertex that the search begins with, at most: the cheapest ones."""


def tabu(task: Task, starts: Iterable[Sequence[int]], wanted: int, cutoff: float) -> Found:
    """Routes with their costs, whether the search came to its end, and how many routes were compared."""
    network, side = task.network, task.side(task.ahead)
    n, tails = network.num_vertices, tails_of(side)
    between = np.full((n, n), -1, dtype=np.int64)
    order = np.argsort(-side.costs, kind="stable")  # of parallel arcs the cheapest is written last
    between[tails[order], side.heads[order]] = order
    first, last = between[network.source], between[:, network.sink]
    alone = np.flatnonzero((first >= 0) & (last >= 0))
    alone = alone[np.argsort(side.costs[first[alone]] + side.costs[last[alone]], kind="stable")[:_ALONE]]
    begins = [_inner(task, route) for route in starts] + [np.array([vertex]) for vertex in alone]
    rows = begun(side, 2 + n)
    roads = _Roads(between, network.source, network.sink, rows.open_words, rows.open_numbers)
    found: dict[bytes, tuple[float, Ints]] = {}
    compared = 0
    for begin in begins:
        if not len(begin):
            continue
        costs, routes = np.zeros(_STEPS + 1), np.zeros((_STEPS + 1, n), dtype=np.int64)
        route, lengths = np.zeros(n, dtype=np.int64), np.zeros(_STEPS + 1, dtype=np.int64)
        route[: len(begin)] = begin
        extend = task.written[0].extend
        count, tried = _walk(side, extend, roads, route, len(begin), cutoff, costs, routes, lengths)
        compared += tried
        for k in range(count):
            path = np.concatenate([[network.source], routes[k, : lengths[k]], [network.sink]])
            arcs = side.numbers[between[path[:-1], path[1:]]]
            found[arcs.tobytes()] = (float(costs[k]), arcs)
        try:
            task.clock.charge(0, 0)
        except OutOfTimeError:
            return list(found.values()), False, compared
    return list(found.values()), True, compared


def _inner(task: Task, route: Sequence[int]) -> Ints:
    """The vertices of a route between its ends, each where it is visited first."""
    network = task.network
    visited = as_indices(route, "starts", upper=network.num_vertices, shape=(None,))
    visited = visited[(visited != network.source) & (visited != network.sink)]
    return np.asarray(visited[np.sort(np.unique(visited, return_index=True)[1])])


class _Roads(NamedTuple):
    """Where routes are driven.

    Attributes
    ----------
    between
        The arc from each vertex to each other one, -1 where there is none.
    source, sink
        Where routes begin and end.
    words, numbers
        Room for the labels of a route, the first of them at the source.
    """

    between: Ints
    source: int
    sink: int
    words: Words
    numbers: Floats


@inner
def _paid(side: Side, extend: Extend, roads: _Roads, route: Ints, length: int) -> float:
    """What a route costs, with all that it is charged; infinite if it may not be driven."""
    between, source, sink, words, numbers = roads
    tail, total = source, 0.0
    for k in range(length + 1):
        head = route[k] if k < length else sink
        arc = between[tail, head]
        if arc < 0:
            return np.inf
        total = came_over(side, extend, arc, words, numbers, k, words, numbers, k + 1)
        if total == np.inf:
            return total
        tail = head
    if len(side.boxes.charge):
        total += charged(side.boxes, side.rule.memory, words, length, words, length)
    return total


@inner
def _changed(route: Ints, length: int, place: int, vertex: int, kind: int, other: Ints) -> int:
    """Write the route that a move leads to, and return its length.

    A vertex is inserted before a place (0), put in its place (1), or left out (2).
    """
    new = 0
    for k in range(length + 1):
        if k == place and kind < 2:
            other[new] = vertex
            new += 1
        if k < length and not (k == place and kind > 0):
            other[new] = route[k]
            new += 1
    return new


@inner
def _arcs_cost(costs: Floats, roads: _Roads, route: Ints, length: int) -> float:
    """What the arcs of a route cost."""
    between, source, sink = roads.between, roads.source, roads.sink
    total = 0.0
    for k in range(length + 1):
        total += costs[between[route[k - 1] if k else source, route[k] if k < length else sink]]
    return total


class _Rests(NamedTuple):
    """Which vertices are left alone.

    Attributes
    ----------
    until
        By vertex the step until which it rests.
    inside
        Whether the route visits it.
    """

    until: Ints
    inside: Mask


class _Move(NamedTuple):
    """A change of a route: place, vertex, and kind as of :func:`_changed`, -1 for none; and what it leads to costs."""

    place: int
    vertex: int
    kind: int
    cost: float


@folded
def _best_move(
    side: Side, extend: Extend, roads: _Roads, route: Ints, length: int, rests: _Rests, step: int, best: float,
    other: Ints,
) -> tuple[_Move, int]:  # fmt: skip
    """The move to the cheapest route, and how many routes were compared.

    Vertices that rest are moved only for a route cheaper than ``best``.
    """
    costs, between, source, sink = side.costs, roads.between, roads.source, roads.sink
    arcs, compared = _arcs_cost(costs, roads, route, length), 0
    least, its_place, its_vertex, its_kind = np.inf, -1, -1, -1
    for place in range(length + 1):
        before = route[place - 1] if place else source
        for kind in range(3):
            if kind > 0 and place == length:
                continue
            after = sink
            if kind == 0 and place < length:
                after = route[place]
            elif kind > 0 and place + 1 < length:
                after = route[place + 1]
            gone = costs[between[before, route[place] if place < length else sink]]
            if kind > 0:
                gone += costs[between[route[place], after]]
            for vertex in range(len(between)):
                if kind == 2:
                    if vertex > 0 or length == 1 or between[before, after] < 0:
                        break
                    change = costs[between[before, after]] - gone
                else:
                    if rests.inside[vertex] or between[before, vertex] < 0 or between[vertex, after] < 0:
                        continue
                    change = costs[between[before, vertex]] + costs[between[vertex, after]] - gone
                bar = least
                if (kind < 2 and rests.until[vertex] > step) or (kind > 0 and rests.until[route[place]] > step):
                    bar = min(least, best)
                compared += 1
                if arcs + change >= bar:
                    continue
                size = _changed(route, length, place, vertex, kind, other)
                paid = _paid(side, extend, roads, other, size)
                if paid < bar:
                    least, its_place, its_vertex, its_kind = paid, place, vertex, kind
    return _Move(its_place, its_vertex, its_kind, least), compared


@njit(cache=True, nogil=True)
def _walk(
    side: Side, extend: Extend, roads: _Roads, route: Ints, length: int, cutoff: float, costs: Floats, routes: Ints,
    lengths: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Go from route to route; those cheaper than the cutoff are written down.

    Returns
    -------
    tuple
        How many these are, and how many routes were compared.
    """
    n = len(roads.between)
    rests = _Rests(np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_))
    other = np.zeros(n + 1, dtype=np.int64)
    for k in range(length):
        rests.inside[route[k]] = True
    cost = _paid(side, extend, roads, route, length)
    found, compared, best = 0, 0, cost
    for step in range(len(costs)):
        if cost == np.inf:
            break
        if cost < cutoff:
            costs[found], lengths[found] = cost, length
            routes[found, :length] = route[:length]
            found += 1
        move, tried = _best_move(side, extend, roads, route, length, rests, step, best, other)
        compared += tried
        if move.kind < 0:
            break
        if move.kind > 0:
            gone = route[move.place]
            rests.inside[gone], rests.until[gone] = False, step + _REST
        if move.kind < 2:
            rests.inside[move.vertex], rests.until[move.vertex] = True, step + _REST
        length = _changed(route, length, move.place, move.vertex, move.kind, other)
        route[:length] = other[:length]
        cost = move.cost
        best = min(best, cost)
    return found, compared
