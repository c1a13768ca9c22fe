"""The k best projective trees, from the chart of any parser of :mod:`colgen.solvers.trees.eisner`.

An A* search over partial derivations, top down.  Its estimate, the values of the items still to be built, is exact, so
that with the further one preferred among equals no more than k derivations are carried on at any depth.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner
from colgen.solvers.stopping import Expired, never
from colgen.solvers.trees.eisner_items import IMPOSSIBLE, Floats, Ints, Rest, room_for_ways, scores_of, value_of
from colgen.solvers.trees.eisner_search import expand, goal

Number = TypeVar("Number", np.float64, np.int64)

_STEPS = 400_000
"""Ways to build an item that are looked at between two looks at the clock."""

_STATES, _CELLS, _HEAP, _FOUND = range(4)


class Derivations(NamedTuple):
    """Partial derivations, and the trees that were found.

    Attributes
    ----------
    state
        Of each partial derivation: the one that it came from, the item built, its stack of open items, its depth.
    cell
        Of each cell of a stack: the item, and the next cell.
    key, heap
        Of each derivation: minus its value; and a heap of those to be carried on.
    values, trees
        Of the trees found, best first.
    counts
        How many derivations, cells, derivations in the heap and trees there are.
    """

    state: Ints
    cell: Ints
    key: Floats
    heap: Ints
    values: Floats
    trees: Ints
    counts: Ints


def k_best(
    k: int,
    arc: Floats,
    rest: Rest,
    chart: Floats,
    expired: Expired = never,
) -> tuple[Floats, Ints, bool]:
    """Values and heads of the k best trees from a full chart, best first; all trees if there are fewer.

    The last result is False if the search ended because ``expired()``: the trees are then the best, and fewer than k.
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
            d = d._replace(values=_longer(d.values, k), trees=_longer(d.trees, k))
        if d.counts[_STATES] + size + 1 > len(d.state):
            d = d._replace(state=_longer(d.state), key=_longer(d.key), heap=_longer(d.heap))
        if d.counts[_CELLS] + 2 * size + 2 > len(d.cell):
            d = d._replace(cell=_longer(d.cell))


def _longer(array: NDArray[Number], most: int = 1 << 62) -> NDArray[Number]:
    """An array of twice the length, or the most, with the same beginning."""
    return np.concatenate([array, np.empty_like(array)])[:most]


@inner
def _before(a: int, b: int, key: Floats, state: Ints) -> bool:
    """Whether state a is taken before b: that of greater value, the further one of equals."""
    if key[a] != key[b]:
        return bool(key[a] < key[b])
    return bool(state[a, 3] > state[b, 3]) or (state[a, 3] == state[b, 3] and a < b)


@inner
def _take_best(d):  # type: ignore[no-untyped-def]
    """Take the best derivation from the heap: the last takes its place, and sinks."""
    heap, key, state = d.heap, d.key, d.state
    best = heap[0]
    d.counts[_HEAP] -= 1
    waiting = d.counts[_HEAP]
    last, place = heap[waiting], 0
    while True:
        child = 2 * place + 1
        if child >= waiting:
            break
        if child + 1 < waiting and _before(heap[child + 1], heap[child], key, state):
            child += 1
        if not _before(heap[child], last, key, state):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = last
    return best


@inner
def _put(d, number):  # type: ignore[no-untyped-def]
    """Put a derivation into the heap."""
    heap, place = d.heap, d.counts[_HEAP]
    while place > 0 and _before(number, heap[(place - 1) // 2], d.key, d.state):
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = number
    d.counts[_HEAP] += 1


@njit(cache=True, no_cpython_wrapper=True)
def _write_tree(d, at, scores, ways):  # type: ignore[no-untyped-def]
    """Write the tree of a complete derivation."""
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
    """Go on with the search, for so many derivations or until an array is full."""
    scores, size = scores_of(arc, rest), len(arc)
    ways = room_for_ways(size)
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
