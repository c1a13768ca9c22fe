"""The k best projective trees, from the chart of any parser of :mod:`colgen.solvers.trees.eisner`.

A* search over partial derivations, top down.  Its estimate, the sum of the values of the open items, is exact.  With
deeper derivations preferred among equals, at most k derivations are extended at any depth.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner
from colgen.solvers.stopping import Expired, never
from colgen.solvers.trees.eisner_items import IMPOSSIBLE, Floats, Ints, Rest, allocate_ways, scores_of, value_of
from colgen.solvers.trees.eisner_search import expand, goal

Number = TypeVar("Number", np.float64, np.int64)

_STEPS = 400_000
"""Ways to build an item that are visited between two checks of the clock."""

_STATES, _CELLS, _HEAP, _FOUND = range(4)


class Derivations(NamedTuple):
    """Partial derivations, and the trees found."""

    state: Ints  # for each partial derivation: its predecessor, the item built, its stack of open items, its depth
    cell: Ints  # for each cell of a stack: the item, and the next cell
    # key, heap: minus the value of each derivation, and a heap of those to extend
    key: Floats
    heap: Ints
    # values, trees: trees found, best first
    values: Floats
    trees: Ints
    counts: Ints  # numbers of derivations, cells, derivations in the heap, and trees


def k_best(
    k: int,
    arc: Floats,
    rest: Rest,
    chart: Floats,
    expired: Expired = never,
) -> tuple[Floats, Ints, bool]:
    """Return values and heads of the k best trees from a full chart, best first, or of all trees if there are fewer.

    The third result is False if ``expired()`` ended the search.  The trees are then the best, but fewer than k.
    """
    size = len(arc)
    most = min(k, 64)
    d = Derivations(
        np.empty((1024, 4), dtype=np.int64),
        np.empty((2048, 2), dtype=np.int64),
        np.empty(1024),
        np.empty(1024, dtype=np.int64),
        np.empty(most),
        np.empty((most, size), dtype=np.int64),
        np.zeros(4, dtype=np.int64),
    )
    root = goal(rest[0], size)
    if chart[root] > IMPOSSIBLE:
        d.state[0], d.cell[0], d.key[0], d.heap[0] = (-1, -1, 0, 0), (root, -1), -chart[root], 0
        d.counts[:_FOUND] = 1
    while True:
        _search(max(_STEPS // size, 1), arc, rest, chart, d)
        found = int(d.counts[_FOUND])
        done = d.counts[_HEAP] == 0 or found == k
        if done or expired():
            return d.values[:found], d.trees[:found], bool(done)
        if found == len(d.values):
            d = d._replace(values=_extend(d.values, k), trees=_extend(d.trees, k))
        if d.counts[_STATES] + size + 1 > len(d.state):
            d = d._replace(state=_extend(d.state), key=_extend(d.key), heap=_extend(d.heap))
        if d.counts[_CELLS] + 2 * size + 2 > len(d.cell):
            d = d._replace(cell=_extend(d.cell))


def _extend(array: NDArray[Number], most: int = 1 << 62) -> NDArray[Number]:
    """Return a copy of twice the length, at most ``most``, with the same beginning."""
    return np.concatenate([array, np.empty_like(array)])[:most]


@inner
def _precedes(a: int, b: int, key: Floats, state: Ints) -> bool:
    """Return whether state a precedes b: larger value first, then the deeper one."""
    if key[a] != key[b]:
        return bool(key[a] < key[b])
    return bool(state[a, 3] > state[b, 3]) or (state[a, 3] == state[b, 3] and a < b)


@inner
def _take_best(d):  # type: ignore[no-untyped-def]
    """Remove the best derivation from the heap."""
    heap, key, state = d.heap, d.key, d.state
    best = heap[0]
    d.counts[_HEAP] -= 1
    waiting = d.counts[_HEAP]
    last, place = heap[waiting], 0
    while True:
        child = 2 * place + 1
        if child >= waiting:
            break
        if child + 1 < waiting and _precedes(heap[child + 1], heap[child], key, state):
            child += 1
        if not _precedes(heap[child], last, key, state):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = last
    return best


@inner
def _put(d, number):  # type: ignore[no-untyped-def]
    heap, place = d.heap, d.counts[_HEAP]
    while place > 0 and _precedes(number, heap[(place - 1) // 2], d.key, d.state):
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = number
    d.counts[_HEAP] += 1


@njit(cache=True, no_cpython_wrapper=True)
def _write_tree(d, at, scores, ways):  # type: ignore[no-untyped-def]
    found = d.counts[_FOUND]
    d.values[found] = -d.key[at]
    d.trees[found] = -1
    step = at
    while step > 0:
        _, h, m = expand(d.state[step, 1], scores, ways)
        if m >= 0:
            d.trees[found, m] = h
        step = d.state[step, 0]
    d.counts[_FOUND] += 1


@njit(cache=True)
def _search(steps: int, arc: Floats, rest: Rest, chart: Floats, d: Derivations) -> None:
    """Continue the search for up to ``steps`` derivations, or until an array is full."""
    scores, size = scores_of(arc, rest), len(arc)
    ways = allocate_ways(size)
    state, cell, counts = d.state, d.cell, d.counts
    while (
        steps > 0
        and counts[_HEAP] > 0
        and counts[_FOUND] < len(d.values)
        and counts[_STATES] + size + 1 <= len(state)
        and counts[_CELLS] + 2 * size + 2 <= len(cell)
    ):
        steps -= 1
        at = _take_best(d)
        top = state[at, 2]
        if top < 0:
            _write_tree(d, at, scores, ways)
            continue
        opened, others = cell[top, 0], cell[top, 1]
        count, _, _ = expand(opened, scores, ways)
        for way in range(count):
            value = value_of(ways, way, chart)
            if value < IMPOSSIBLE:
                continue
            stack, new = others, counts[_STATES]
            for item in (ways.second[way], ways.first[way]):
                if item >= 0:
                    cell[counts[_CELLS], 0], cell[counts[_CELLS], 1] = item, stack
                    stack = counts[_CELLS]
                    counts[_CELLS] += 1
            state[new, 0], state[new, 1], state[new, 2], state[new, 3] = at, opened, stack, state[at, 3] + 1
            d.key[new] = d.key[at] + max(chart[opened] - value, 0.0)
            _put(d, new)
            counts[_STATES] += 1
