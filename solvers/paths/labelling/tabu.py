"""Local search for cheap routes.  It gives no bound.

Each step moves to the best route that differs in one vertex: inserted, removed or replaced.  A moved vertex is tabu for
some steps, unless moving it gives the cheapest route so far.  Charges beyond arc costs are nonnegative.  A neighbour is
therefore evaluated only if its arc costs alone are below the best neighbour.

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
from colgen.solvers.paths.labelling.boxes import box_charge
from colgen.solvers.paths.labelling.clock import OutOfTimeError
from colgen.solvers.paths.labelling.directions import tails_of
from colgen.solvers.paths.labelling.extension import Extend, extend_label
from colgen.solvers.paths.labelling.layout import Floats, Ints, Side, Words, start_labels
from colgen.solvers.paths.labelling.neighbourhoods import Mask
from colgen.solvers.paths.labelling.runs import Found
from colgen.solvers.paths.labelling.task import Task

_STEPS = 60
"""Steps from each initial route."""

_REST = 6
"""Steps for which a moved vertex is tabu."""

_ALONE = 20
"""Maximum number of single-vertex routes to start from, the cheapest ones."""


def tabu(task: Task, starts: Iterable[Sequence[int]], wanted: int, cutoff: float) -> Found:
    """Return routes with costs, completeness, and the number of compared routes."""
    network, side = task.network, task.side(task.ahead)
    n, tails = network.num_vertices, tails_of(side)
    between = np.full((n, n), -1, dtype=np.int64)
    order = np.argsort(-side.costs, kind="stable")  # the cheapest parallel arc is written last
    between[tails[order], side.heads[order]] = order
    first, last = between[network.source], between[:, network.sink]
    alone = np.flatnonzero((first >= 0) & (last >= 0))
    alone = alone[np.argsort(side.costs[first[alone]] + side.costs[last[alone]], kind="stable")[:_ALONE]]
    begins = [_inner(task, route) for route in starts] + [np.array([vertex]) for vertex in alone]
    rows = start_labels(side, 2 + n)
    space = _Space(between, network.source, network.sink, rows.open_words, rows.open_numbers)
    found: dict[bytes, tuple[float, Ints]] = {}
    compared = 0
    for begin in begins:
        if not len(begin):
            continue
        costs, routes = np.zeros(_STEPS + 1), np.zeros((_STEPS + 1, n), dtype=np.int64)
        route, lengths = np.zeros(n, dtype=np.int64), np.zeros(_STEPS + 1, dtype=np.int64)
        route[: len(begin)] = begin
        extend = task.functions[0].extend
        count, tried = _walk(side, extend, space, route, len(begin), cutoff, costs, routes, lengths)
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
    """Return the vertices between source and sink in order of first visit."""
    network = task.network
    visited = as_indices(route, "starts", upper=network.num_vertices, shape=(None,))
    visited = visited[(visited != network.source) & (visited != network.sink)]
    return np.asarray(visited[np.sort(np.unique(visited, return_index=True)[1])])


class _Space(NamedTuple):
    """The arcs between vertices (-1: none), the ends, and buffers for the labels of a route."""

    between: Ints
    source: int
    sink: int
    words: Words
    numbers: Floats


@inner
def _route_cost(side: Side, extend: Extend, space: _Space, route: Ints, length: int) -> float:
    """Return the cost of a route with all charges; infinity if it is infeasible."""
    between, source, sink, words, numbers = space
    tail, total = source, 0.0
    for k in range(length + 1):
        head = route[k] if k < length else sink
        arc = between[tail, head]
        if arc < 0:
            return np.inf
        total = extend_label(side, extend, arc, words, numbers, k, words, numbers, k + 1)
        if total == np.inf:
            return total
        tail = head
    if len(side.boxes.charge):
        total += box_charge(side.boxes, side.rule.memory, words, length, words, length)
    return total


@inner
def _apply(route: Ints, length: int, place: int, vertex: int, kind: int, other: Ints) -> int:
    """Write the route after a move and return its length.

    ``kind``: insert a vertex before a place (0), replace the vertex there (1), or remove it (2).
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
def _arcs_cost(costs: Floats, space: _Space, route: Ints, length: int) -> float:
    """Return the arc costs of a route."""
    between, source, sink = space.between, space.source, space.sink
    total = 0.0
    for k in range(length + 1):
        total += costs[between[route[k - 1] if k else source, route[k] if k < length else sink]]
    return total


class _TabuState(NamedTuple):
    """For each vertex, the step until which it is tabu, and whether the route visits it."""

    until: Ints
    inside: Mask


class _Move(NamedTuple):
    """A move: place, vertex, kind as in :func:`_apply` (-1: none), and the cost of the resulting route."""

    place: int
    vertex: int
    kind: int
    cost: float


@folded
def _best_move(
    side: Side, extend: Extend, space: _Space, route: Ints, length: int, state: _TabuState, step: int, best: float,
    other: Ints,
) -> tuple[_Move, int]:  # fmt: skip
    """Return the move to the cheapest route, and the number of compared routes.

    Tabu vertices are moved only for a route below ``best``.
    """
    costs, between, source, sink = side.costs, space.between, space.source, space.sink
    arcs, compared = _arcs_cost(costs, space, route, length), 0
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
                    if state.inside[vertex] or between[before, vertex] < 0 or between[vertex, after] < 0:
                        continue
                    change = costs[between[before, vertex]] + costs[between[vertex, after]] - gone
                bar = least
                if (kind < 2 and state.until[vertex] > step) or (kind > 0 and state.until[route[place]] > step):
                    bar = min(least, best)
                compared += 1
                if arcs + change >= bar:
                    continue
                size = _apply(route, length, place, vertex, kind, other)
                paid = _route_cost(side, extend, space, other, size)
                if paid < bar:
                    least, its_place, its_vertex, its_kind = paid, place, vertex, kind
    return _Move(its_place, its_vertex, its_kind, least), compared


@njit(cache=True, nogil=True)
def _walk(
    side: Side, extend: Extend, space: _Space, route: Ints, length: int, cutoff: float, costs: Floats, routes: Ints,
    lengths: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Store the routes below the cutoff on a walk from one route.  Return their number, and that of compared routes."""
    n = len(space.between)
    state = _TabuState(np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_))
    other = np.zeros(n + 1, dtype=np.int64)
    for k in range(length):
        state.inside[route[k]] = True
    cost = _route_cost(side, extend, space, route, length)
    found, compared, best = 0, 0, cost
    for step in range(len(costs)):
        if cost == np.inf:
            break
        if cost < cutoff:
            costs[found], lengths[found] = cost, length
            routes[found, :length] = route[:length]
            found += 1
        move, tried = _best_move(side, extend, space, route, length, state, step, best, other)
        compared += tried
        if move.kind < 0:
            break
        if move.kind > 0:
            gone = route[move.place]
            state.inside[gone], state.until[gone] = False, step + _REST
        if move.kind < 2:
            state.inside[move.vertex], state.until[move.vertex] = True, step + _REST
        length = _apply(route, length, move.place, move.vertex, move.kind, other)
        route[:length] = other[:length]
        cost = move.cost
        best = min(best, cost)
    return found, compared
