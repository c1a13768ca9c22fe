"""The k best projective trees, from the chart of any parser of :mod:`colgen.solvers.trees.eisner`.

An A* search over partial derivations, top down.  Its estimate, the values of the items still to be built, is exact, so
that with the further one preferred among equals no more than k derivations are carried on at any depth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit
from colgen.solvers.trees.eisner_items import IMPOSSIBLE, Floats, Ints, Rest, room_for_ways, scores_of, value_of
from colgen.solvers.trees.eisner_search import expand, goal

Number = TypeVar("Number", np.float64, np.int64)

_STEPS = 400_000
"""Ways to build an item that are looked at between two looks at the clock."""

_STATES, _CELLS, _HEAP, _FOUND = range(4)


def k_best(
    k: int,
    arc: Floats,
    rest: Rest,
    chart: Floats,
    expired: Callable[[], bool] = lambda: False,
) -> tuple[Floats, Ints, bool]:
    """Values and heads of the k best trees from a full chart, best first; all trees if there are fewer.

    The last result is False if the search ended because ``expired()``: the trees are then the best, and fewer than k.
    """
    size = len(arc)
    most = min(k, 64)
    values, trees = np.empty(most), np.empty((most, size), dtype=np.int64)
    state, cell = np.empty((1024, 4), dtype=np.int64), np.empty((2048, 2), dtype=np.int64)
    key, heap = np.empty(1024), np.empty(1024, dtype=np.int64)
    counts = np.zeros(4, dtype=np.int64)
    root = goal(rest[0], size)
    if chart[root] > IMPOSSIBLE:
        state[0], cell[0], key[0], heap[0] = (-1, -1, 0, 0), (root, -1), -chart[root], 0
        counts[:_FOUND] = 1
    while True:
        _search(
            max(_STEPS // size, 1),
            arc,
            rest,
            chart,
            state,
            cell,
            key,
            heap,
            counts,
            values,
            trees,
        )
        found = int(counts[_FOUND])
        if counts[_HEAP] == 0 or found == k:
            return values[:found], trees[:found], True
        if expired():
            return values[:found], trees[:found], False
        if found == len(values):
            values, trees = _longer(values, k), _longer(trees, k)
        if counts[_STATES] + size + 1 > len(state):
            state, key, heap = _longer(state), _longer(key), _longer(heap)
        if counts[_CELLS] + 2 * size + 2 > len(cell):
            cell = _longer(cell)


def _longer(array: NDArray[Number], most: int = 1 << 62) -> NDArray[Number]:
    """An array of twice the length, or the most, with the same beginning."""
    return np.concatenate([array, np.empty_like(array)])[:most]


@njit(cache=True)
def _before(a: int, b: int, key: Floats, state: Ints) -> bool:
    """Whether state a is taken before b: that of greater value, the further one of equals."""
    if key[a] != key[b]:
        return bool(key[a] < key[b])
    return bool(state[a, 3] > state[b, 3]) or (state[a, 3] == state[b, 3] and a < b)


@njit(cache=True)
def _search(
    steps: int,
    arc: Floats,
    rest: Rest,
    chart: Floats,
    state: Ints,
    cell: Ints,
    key: Floats,
    heap: Ints,
    counts: Ints,
    values: Floats,
    trees: Ints,
) -> None:
    """Go on with the search, for so many derivations or until an array is full.

    Parameters
    ----------
    state
        Of each partial derivation: the one that it came from, the item built, its stack of open items, its depth.
    cell
        Of each cell of a stack: the item, and the next cell.
    key, heap
        Of each derivation: minus its value; and a heap of those to be carried on.
    counts
        How many derivations, cells, derivations in the heap and trees there are.
    """
    scores, size = scores_of(arc, rest), len(arc)
    ways = room_for_ways(size)
    states, cells, waiting, found = counts[0], counts[1], counts[2], counts[3]
    while (
        steps > 0
        and waiting > 0
        and found < len(values)
        and states + size + 1 <= len(state)
        and cells + 2 * size + 2 <= len(cell)
    ):
        steps -= 1
        at = heap[0]
        waiting -= 1
        last, place = heap[waiting], 0
        while True:  # the last takes the first one's place, and sinks
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
        top = state[at, 2]
        if top < 0:
            values[found] = -key[at]
            trees[found] = -1
            step = at
            while step > 0:
                _, h, m = expand(state[step, 1], scores, ways)
                if m >= 0:
                    trees[found, m] = h
                step = state[step, 0]
            found += 1
            continue
        opened, others = cell[top, 0], cell[top, 1]
        count, _, _ = expand(opened, scores, ways)
        for way in range(count):
            value = value_of(ways, way, chart)
            if value < IMPOSSIBLE:
                continue
            stack = others
            for item in (ways.second[way], ways.first[way]):
                if item >= 0:
                    cell[cells, 0], cell[cells, 1] = item, stack
                    stack = cells
                    cells += 1
            state[states, 0], state[states, 1], state[states, 2], state[states, 3] = at, opened, stack, state[at, 3] + 1
            key[states] = key[at] + max(chart[opened] - value, 0.0)
            place = waiting
            while place > 0 and _before(states, heap[(place - 1) // 2], key, state):
                heap[place] = heap[(place - 1) // 2]
                place = (place - 1) // 2
            heap[place] = states
            states += 1
            waiting += 1
    counts[0], counts[1], counts[2], counts[3] = states, cells, waiting, found
