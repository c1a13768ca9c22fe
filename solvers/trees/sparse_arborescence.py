"""Maximum spanning arborescence of a list of arcs, for those who solve many small ones: no matrix, no reduced costs.

The same algorithm as :mod:`colgen.solvers.trees.arborescence`, which see for the source.  A contracted set keeps its
vertices as a linked list and looks its entering arcs through again: O(a) for each set on the way, of which there are
few where vertices have few heads to choose from.  All that it works in is passed in.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True)
def workspace(size: int) -> tuple[Ints, Floats]:
    """What :func:`best_of_arcs` works in, for so many vertices."""
    return np.empty((9, 2 * size), dtype=np.int64), np.empty(size)


@njit(cache=True, borrows=True)
def best_of_arcs(
    tails: Ints,
    modifiers: Ints,
    incoming: Ints,
    weights: Floats,
    single_root: bool,
    heads: Ints,
    work: tuple[Ints, Floats],
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
    work
        A :func:`workspace` of n + 1 vertices.

    Returns
    -------
    tuple[float, bool]
        The weight, -inf if there is no tree; and whether there is one.
    """
    size = incoming.shape[0] - 1
    ints, paid = work
    # Of sets: the arc chosen into them, the set around them, their first and last vertex, whether the root reaches
    # them, whether they are on the path, the path.  Of vertices: the outermost set, the next vertex of the same set.
    chosen, parent, first, last, connected, on_path = ints[0], ints[1], ints[2], ints[3], ints[4], ints[5]
    path, top, following = ints[6], ints[7], ints[8]
    least, largest = np.inf, -np.inf
    if single_root:  # no two trees differ by more than n times the range
        for e in range(incoming[1], incoming[size]):
            if weights[e] > -np.inf:
                least, largest = min(least, weights[e]), max(largest, weights[e])
        if largest == -np.inf:
            return (0.0, True) if size == 1 else (-np.inf, False)
    shift = size * (largest - least) if single_root else 0.0
    if single_root and shift == 0.0:  # any price will do where all trees weigh the same
        shift = abs(largest) if largest != 0.0 else 1.0
    for node in range(2 * size):
        parent[node], first[node], last[node], connected[node], on_path[node] = -1, node, node, node == 0, 0
    for vertex in range(size):
        top[vertex], following[vertex], paid[vertex] = vertex, -1, 0.0
    count = size
    for start in range(1, size):
        node = top[start]
        if connected[node]:
            continue
        path[0], on_path[node], length = node, 1, 1
        while True:
            node = path[length - 1]
            best, arc = -np.inf, -1
            vertex = first[node]
            while vertex >= 0:
                for e in range(incoming[vertex], incoming[vertex + 1]):
                    tail = tails[e]
                    value = weights[e] - paid[vertex]
                    if tail == 0:
                        value -= shift
                    if value > best and top[tail] != node:
                        best, arc = value, e
                vertex = following[vertex]
            if arc < 0:
                return -np.inf, False
            chosen[node] = arc
            vertex = first[node]
            while vertex >= 0:
                paid[vertex] += best
                vertex = following[vertex]
            other = top[tails[arc]]
            if connected[other]:
                for k in range(length):
                    connected[path[k]], on_path[path[k]] = 1, 0
                break
            if not on_path[other]:
                path[length], on_path[other] = other, 1
                length += 1
                continue
            position = length - 1  # a cycle: its sets become one
            while path[position] != other:
                position -= 1
            for k in range(position, length):
                member = path[k]
                parent[member], on_path[member] = count, 0
                vertex = first[member]
                while vertex >= 0:
                    top[vertex] = count
                    vertex = following[vertex]
                if k > position:
                    following[last[path[k - 1]]] = first[member]
            first[count], last[count] = first[path[position]], last[path[length - 1]]
            path[position], on_path[count] = count, 1
            length = position + 1
            count += 1
    # The arc into a set decides which arc of its cycle is left out: the outermost sets first.
    total, roots = 0.0, 0
    decided = on_path  # of sets that are decided; all 0 by now
    for node in range(count - 1, 0, -1):
        if decided[node]:
            continue
        arc = chosen[node]
        inner = modifiers[arc]
        heads[inner] = tails[arc]
        total += weights[arc]
        roots += tails[arc] == 0
        while inner != node:
            decided[inner] = 1
            inner = parent[inner]
        decided[node] = 1
    if single_root and roots != 1:
        return -np.inf, False
    return total, True
