"""Maximum spanning arborescence of a list of arcs, for those who solve many small ones: no matrix, no reduced costs.

The same algorithm as :mod:`colgen.solvers.trees.arborescence`, which see for the source.  A contracted set keeps its
vertices as a linked list and looks its entering arcs through again: O(a) for each set on the way, of which there are
few where vertices have few heads to choose from.  All that it works in is passed in.
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
    leave_out,
    part_vertices,
    pay,
    root_price,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@inner
def _best_arc(sets, node, tails, incoming, weights, shift):  # type: ignore[no-untyped-def]
    """The largest weight of an arc into a set, less what its head has paid, and that arc, -1 if there is none."""
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
    """The least and the largest weight of an arc that may be used."""
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
    """The best tree of arcs.

    Parameters
    ----------
    tails, modifiers, incoming
        Ends of the arcs, in the order of the vertex m that they enter: ``incoming[m] : incoming[m + 1]``.  The root is
        vertex 0; arcs into it are not looked at.  Shapes (arcs,), (arcs,) and (n + 2,).
    weights
        Of the arcs; -inf where one must not be used.
    single_root
        Exactly one arc leaves the root.
    heads
        Filled with the tail of the arc into each vertex; shape (n + 1,), element 0 is left alone.
    sets
        Room for n + 1 vertices, to work in.

    Returns
    -------
    tuple[float, bool]
        The weight, -inf if there is no tree; and whether there is one.
    """
    size = incoming.shape[0] - 1
    shift = 0.0
    if single_root:
        least, largest = _range(weights, incoming[1], incoming[size])
        if largest == -np.inf:
            return (0.0, True) if size == 1 else (-np.inf, False)
        shift = root_price(least, largest, size)
    part_vertices(sets)
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
    # The arc into a set decides which arc of its cycle is left out: the outermost sets first.
    total, roots = 0.0, 0
    for node in range(count - 1, 0, -1):
        if sets.on_path[node]:
            continue
        arc = chosen[node]
        heads[modifiers[arc]] = tails[arc]
        total += weights[arc]
        roots += tails[arc] == 0
        leave_out(sets, modifiers[arc], node)
    if single_root and roots != 1:
        return -np.inf, False
    return total, True
