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

import numpy as np

from colgen.solvers.arrays import as_indices
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner
from colgen.solvers.paths.labelling.boxes import charged
from colgen.solvers.paths.labelling.clock import OutOfTimeError
from colgen.solvers.paths.labelling.directions import tails_of
from colgen.solvers.paths.labelling.extension import Extend, came_over
from colgen.solvers.paths.labelling.layout import Floats, Ints, Side, Words, begun
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
    empty = begun(side, 2 + n)
    found: dict[bytes, tuple[float, Ints]] = {}
    compared = 0
    for begin in begins:
        if not len(begin):
            continue
        costs, routes, lengths = np.zeros(_STEPS + 1), np.zeros((_STEPS + 1, n), dtype=np.int64), begin[:0]
        route, lengths = np.zeros(n, dtype=np.int64), np.zeros(_STEPS + 1, dtype=np.int64)
        route[: len(begin)] = begin
        count, tried = _walk(
            side, task.written[0].extend, between, network.source, network.sink, route, len(begin), cutoff,
            empty.open_words, empty.open_numbers, costs, routes, lengths,
        )  # fmt: skip
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


@inner
def _paid(
    side: Side, extend: Extend, between: Ints, source: int, sink: int, route: Ints, length: int, words: Words,
    numbers: Floats,
) -> float:  # fmt: skip
    """What a route costs, with all that it is charged; infinite if it may not be driven."""
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


@njit(cache=True, nogil=True)
def _walk(
    side: Side, extend: Extend, between: Ints, source: int, sink: int, route: Ints, length: int, cutoff: float,
    words: Words, numbers: Floats, costs: Floats, routes: Ints, lengths: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Go from route to route; those cheaper than the cutoff are written down.

    Returns
    -------
    tuple
        How many these are, and how many routes were compared.
    """
    n = len(between)
    rests, inside = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_)
    other = np.zeros(n + 1, dtype=np.int64)
    for k in range(length):
        inside[route[k]] = True
    cost = _paid(side, extend, between, source, sink, route, length, words, numbers)
    found, compared, best = 0, 0, cost
    for step in range(len(costs)):
        if cost == np.inf:
            break
        if cost < cutoff:
            costs[found], lengths[found] = cost, length
            routes[found, :length] = route[:length]
            found += 1
        arcs = 0.0
        for k in range(length + 1):
            arcs += side.costs[between[route[k - 1] if k else source, route[k] if k < length else sink]]
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
                gone = side.costs[between[before, route[place] if place < length else sink]]
                if kind > 0:
                    gone += side.costs[between[route[place], after]]
                for vertex in range(n):
                    if kind == 2:
                        if vertex > 0 or length == 1 or between[before, after] < 0:
                            break
                        change = side.costs[between[before, after]] - gone
                    else:
                        if inside[vertex] or between[before, vertex] < 0 or between[vertex, after] < 0:
                            continue
                        change = side.costs[between[before, vertex]] + side.costs[between[vertex, after]] - gone
                    bar = least
                    if (kind < 2 and rests[vertex] > step) or (kind > 0 and rests[route[place]] > step):
                        bar = min(least, best)
                    compared += 1
                    if arcs + change >= bar:
                        continue
                    size = _changed(route, length, place, vertex, kind, other)
                    paid = _paid(side, extend, between, source, sink, other, size, words, numbers)
                    if paid < bar:
                        least, its_place, its_vertex, its_kind = paid, place, vertex, kind
        if its_kind < 0:
            break
        if its_kind > 0:
            gone_vertex = route[its_place]
            inside[gone_vertex], rests[gone_vertex] = False, step + _REST
        if its_kind < 2:
            inside[its_vertex], rests[its_vertex] = True, step + _REST
        length = _changed(route, length, its_place, its_vertex, its_kind, other)
        route[:length] = other[:length]
        cost = least
        best = min(best, cost)
    return found, compared
