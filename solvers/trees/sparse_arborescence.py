"""Maximum spanning arborescence of a list of arcs, without a matrix or reduced costs, for many small instances.

The algorithm and its sources are those of :mod:`colgen.solvers.trees.arborescence`.  A contracted set stores its
vertices in a linked list, and its a entering arcs are scanned again.  This takes O(a) time per set on the path.  There
are few sets if vertices have few possible heads.  All arrays are passed in.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner
from colgen.solvers.trees.arborescence import (
    Sets,
    contract,
    extend_path,
    mark_entered,
    narrower_price,
    pay,
    reset_sets,
    root_price,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@inner
def _best_arc(sets, node, tails, incoming, weights, shift):  # type: ignore[no-untyped-def]
    """Return the largest reduced weight of an arc into a set, and that arc, or -1."""
    best, arc = -np.inf, -1
    vertex = sets.first[node]
    while vertex >= 0:
        for e in range(incoming[vertex], incoming[vertex + 1]):
            tail = tails[e]
            value = weights[e] - sets.paid[vertex]
            if tail == 0:
                value -= shift
            if value > best and sets.top[tail] != node:
                best, arc = value, e
        vertex = sets.following[vertex]
    return best, arc


@inner
def _range(weights, first, last):  # type: ignore[no-untyped-def]
    least, largest = np.inf, -np.inf
    for e in range(first, last):
        if weights[e] > -np.inf:
            least, largest = min(least, weights[e]), max(largest, weights[e])
    return least, largest


@njit(cache=True, borrows=True)
def best_of_arcs(
    tails: Ints,
    modifiers: Ints,
    incoming: Ints,
    weights: Floats,
    single_root: bool,
    heads: Ints,
    sets: Sets,
) -> tuple[float, bool]:
    """Return the weight of the best tree of arcs, -inf if none exists, and whether there is one.

    Parameters
    ----------
    tails : (arcs,) array; the root is vertex 0
    modifiers : (arcs,) array of the vertices that the arcs enter, ascending; arcs into the root are ignored
    incoming : (n + 2,) array; vertex m has the arcs ``incoming[m] : incoming[m + 1]``
    weights : weights of the arcs; -inf forbids an arc
    single_root : whether exactly one arc leaves the root
    heads : (n + 1,) array, output: the tail of the arc into each vertex; element 0 is unchanged
    sets : workspace for n + 1 vertices
    """
    size = incoming.shape[0] - 1
    if not single_root:
        return _search(tails, modifiers, incoming, weights, single_root, 0.0, heads, sets)
    if size == 1:
        return 0.0, True
    least, largest, most, scale = np.inf, -np.inf, 0.0, 0.0
    for m in range(1, size):
        low, best = _range(weights, incoming[m], incoming[m + 1])
        if best == -np.inf:
            return -np.inf, False
        least, largest = min(least, low), max(largest, best)
        most, scale = most + best, scale + abs(best)
    price = root_price(least, largest, size)
    total, feasible = _search(tails, modifiers, incoming, weights, single_root, price, heads, sets)
    if feasible:
        smaller = narrower_price(price, most, scale, total)
        if smaller > 0.0:
            return _search(tails, modifiers, incoming, weights, single_root, smaller, heads, sets)
    return total, feasible


@inner
def _search(
    tails: Ints,
    modifiers: Ints,
    incoming: Ints,
    weights: Floats,
    single_root: bool,
    shift: float,
    heads: Ints,
    sets: Sets,
) -> tuple[float, bool]:
    """Return the result of :func:`best_of_arcs` if the root's arcs have a price ``shift``."""
    size = incoming.shape[0] - 1
    reset_sets(sets)
    path, top, chosen = sets.path, sets.top, sets.chosen
    count = size
    for start in range(1, size):
        if sets.connected[top[start]]:
            continue
        path[0], sets.on_path[top[start]], length = top[start], 1, 1
        while length > 0:
            node = path[length - 1]
            best, arc = _best_arc(sets, node, tails, incoming, weights, shift)
            if arc < 0:
                return -np.inf, False
            chosen[node] = arc
            pay(sets, node, best)
            length, position = extend_path(sets, length, tails[arc])
            if position >= 0:
                contract(sets, position, length, count)
                length = position + 1
                count += 1
    # The arc into a set determines the dropped arc of its cycle: outermost sets first.
    total, roots = 0.0, 0
    for node in range(count - 1, 0, -1):
        if sets.on_path[node]:
            continue
        arc = chosen[node]
        heads[modifiers[arc]] = tails[arc]
        total += weights[arc]
        roots += tails[arc] == 0
        mark_entered(sets, modifiers[arc], node)
    if single_root and roots != 1:
        return -np.inf, False
    return total, True
