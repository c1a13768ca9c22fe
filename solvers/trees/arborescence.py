r"""Maximum spanning arborescence: max Σ w_hm over trees of arcs h → m that reach every vertex from the root 0.

Chu, Liu and Edmonds' algorithm on a dense matrix: from a vertex not yet connected, follow best entering arcs backwards
until the path meets what is connected (done with these) or itself (contract the cycle, go on).  Each contraction merges
columns of the matrix, so that the time is O(n²) in all, which no algorithm can beat on dense graphs.

The algorithm is primal-dual.  With a dual value y_S for each vertex and each contracted set S, the program

    min Σ_S y_S   subject to   Σ_{S: h not in S, m in S} y_S ≥ w_hm   for each arc,   y_S ≤ 0 where |S| ≥ 2

is solved as well, and the reduced cost of an arc, w_hm - Σ_S y_S ≤ 0, bounds what a tree loses if the arc is forced in.

With the option ``single_root`` exactly one arc leaves the root.  A constant that exceeds any difference between two
trees is taken from each arc of the root: the best tree then has as few of them as there can be.  That is exact, and
so are the reduced costs, because it takes the same from every tree with one such arc.

Source: J. Edmonds, *Optimum branchings*, J. Research of the National Bureau of Standards 71B (1967); R. E. Tarjan,
*Finding optimum branchings*, Networks 7 (1977); P. M. Camerini, L. Fratta, F. Maffioli, *A note on finding optimum
branchings*, Networks 9 (1979), for the expansion.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_numbers
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import folded, inner

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def arborescence(weights: ArrayLike, *, single_root: bool = False) -> tuple[Ints, float] | None:
    """A spanning arborescence of largest weight.

    Parameters
    ----------
    weights
        w_hm by tail and head, shape (n + 1, n + 1), root 0; -inf where there is no arc.  Column 0 and the diagonal are
        not looked at.
    single_root
        Exactly one arc leaves the root.

    Returns
    -------
    tuple[Ints, float] | None
        The tail of the arc into each vertex, shape (n + 1,), -1 for the root; and the weight.  None if there is none.

    Raises
    ------
    ValueError
        If the weights are not a square matrix, or NaN or +inf.
    """
    w = checked(weights)
    heads, _, _, feasible = solve_arborescence(w, single_root)
    if not feasible:
        return None
    return heads, _weight(w, heads)


def reduced_costs(weights: ArrayLike, *, single_root: bool = False) -> Floats | None:
    """Reduced costs of all arcs, zero on the best tree: no tree with arc (h, m) has more than the best weight + r_hm.

    Shape and missing arcs as in :func:`arborescence`; None if there is no tree.
    """
    _, _, reduced, feasible = solve_arborescence(checked(weights), single_root)
    return np.minimum(reduced, 0.0) if feasible else None


def checked(weights: ArrayLike) -> Floats:
    """The weights as an array, -inf in column 0 and on the diagonal."""
    w = np.array(as_numbers(weights, "weights"))
    if w.ndim != 2 or w.shape[0] != w.shape[1] or not len(w):
        raise ValueError(f"expected a square matrix of weights, not shape {w.shape}")
    w[:, 0] = -np.inf
    np.fill_diagonal(w, -np.inf)
    if np.isnan(w).any() or (w == np.inf).any():
        raise ValueError("expected weights that are numbers or -inf, not NaN or +inf")
    return w


def _weight(weights: Floats, heads: Ints) -> float:
    tokens = np.arange(1, len(heads))
    return float(weights[heads[1:], tokens].sum())


# --- vertices and contracted sets ------------------------------------------------------------------------------------


class Sets(NamedTuple):
    """Vertices and contracted sets of them, and the path of best entering arcs that is followed backwards.

    Attributes
    ----------
    chosen
        The arc into each: its tail or its number.
    parent
        The set around each, -1 where there is none.
    first, last
        The first and the last vertex of each.
    connected, on_path
        Whether the root reaches each, and whether it is on the path.
    path
        The path.
    top, following
        Of vertices: the outermost set around each; the next vertex of the same set, -1 after the last.
    paid
        Duals of the sets that contain a vertex, so far.
    """

    chosen: Ints
    parent: Ints
    first: Ints
    last: Ints
    connected: Ints
    on_path: Ints
    path: Ints
    top: Ints
    following: Ints
    paid: Floats


@njit(cache=True)
def room_for_sets(size: int) -> Sets:
    """Room for so many vertices and the sets of them."""
    rows = np.empty((9, 2 * size), dtype=np.int64)
    return Sets(rows[0], rows[1], rows[2], rows[3], rows[4], rows[5], rows[6], rows[7], rows[8], np.empty(size))


@inner
def part_vertices(sets: Sets) -> None:
    """Let each vertex be alone, with no arc into it."""
    size = sets.paid.shape[0]
    for node in range(2 * size):
        sets.parent[node], sets.first[node], sets.last[node] = -1, node, node
        sets.connected[node], sets.on_path[node] = node == 0, 0
    for vertex in range(size):
        sets.top[vertex], sets.following[vertex], sets.paid[vertex] = vertex, -1, 0.0


@folded
def pay(sets: Sets, node: int, dual: float) -> None:
    """Let the vertices of a set pay its dual value."""
    vertex = sets.first[node]
    while vertex >= 0:
        sets.paid[vertex] += dual
        vertex = sets.following[vertex]


@folded
def extend_path(sets: Sets, length: int, tail: int) -> tuple[int, int]:
    """Let an arc with this tail lead the path on.

    Its length, 0 where the root reaches it now; and the place where a cycle begins, or -1.
    """
    path, other = sets.path, sets.top[tail]
    if sets.connected[other]:
        for k in range(length):
            sets.connected[path[k]], sets.on_path[path[k]] = 1, 0
        return 0, -1
    if not sets.on_path[other]:
        path[length], sets.on_path[other] = other, 1
        return length + 1, -1
    position = length - 1
    while path[position] != other:
        position -= 1
    return length, position


@folded
def contract(sets: Sets, position: int, length: int, merged: int) -> None:
    """Let the sets of a cycle, the path from a position on, become one."""
    path, first, last = sets.path, sets.first, sets.last
    for k in range(position, length):
        member = path[k]
        sets.parent[member], sets.on_path[member] = merged, 0
        vertex = first[member]
        while vertex >= 0:
            sets.top[vertex] = merged
            vertex = sets.following[vertex]
        if k > position:
            sets.following[last[path[k - 1]]] = first[member]
    first[merged], last[merged] = first[path[position]], last[path[length - 1]]
    path[position], sets.on_path[merged] = merged, 1


@folded
def leave_out(sets: Sets, vertex: int, node: int) -> None:
    """Mark a set, and those in it that its arc into a vertex enters: no other arc into these is in the tree."""
    decided = sets.on_path  # all 0 once no path is followed
    while vertex != node:
        decided[vertex] = 1
        vertex = sets.parent[vertex]
    decided[node] = 1


@njit(cache=True, no_cpython_wrapper=True)
def root_price(least: float, largest: float, size: int) -> float:
    """A price of the root's arcs: trees differ in less than ``size`` arcs, whose weights lie between two numbers."""
    price = size * (largest - least)
    if price == 0.0:  # any price will do where all trees weigh the same
        price = abs(largest) if largest != 0.0 else 1.0
    return price


# --- dense matrices --------------------------------------------------------------------------------------------------


@folded
def _range(weights: Floats) -> tuple[float, float]:
    """The least and the largest weight of an arc."""
    least, largest = np.inf, -np.inf
    for h in range(weights.shape[0]):
        for m in range(1, weights.shape[0]):
            if weights[h, m] > -np.inf:
                least = min(least, weights[h, m])
                largest = max(largest, weights[h, m])
    return least, largest


@folded
def _best_tail(row: Floats, top: Ints, node: int) -> tuple[float, int]:
    """The largest weight from a vertex outside a set, and that vertex, -1 if there is none."""
    best, arg = -np.inf, -1
    for h in range(row.shape[0]):
        if top[h] != node and row[h] > best:
            best, arg = row[h], h
    return best, arg


@folded
def _write_inner(sets: Sets, position: int, length: int, weights: Floats, shift: float, reduced: Floats) -> None:
    """Write the reduced costs of the arcs between the sets of a cycle."""
    path, first, following = sets.path, sets.first, sets.following
    for a in range(position, length):
        v = first[path[a]]
        while v >= 0:
            for b in range(position, length):
                if a != b:
                    u = first[path[b]]
                    while u >= 0:
                        reduced[v, u] = weights[v, u] - (shift if v == 0 else 0.0) - sets.paid[u]
                        u = following[u]
            v = following[v]


@folded
def _merge_columns(
    path: Ints, position: int, length: int, into: Floats, target: Ints, dual: Floats, merged: int
) -> None:
    """Write the best arc from each vertex into the set that a cycle becomes."""
    for h in range(into.shape[1]):
        best, arg = -np.inf, -1
        for k in range(position, length):
            member = path[k]
            value = into[member, h] - dual[member]
            if value > best:
                best, arg = value, target[member, h]
        into[merged, h] = best
        target[merged, h] = arg


@inner
def _expand(sets, count, target, heads):  # type: ignore[no-untyped-def]
    """Write the tree, the outermost sets first: the arc into a set decides which arc of its cycle is left out."""
    for node in range(count - 1, 0, -1):
        if not sets.on_path[node]:
            h = sets.chosen[node]
            m = target[node, h]
            heads[m] = h
            leave_out(sets, m, node)


@njit(cache=True)
def solve_arborescence(weights, single_root):  # type: ignore[no-untyped-def]
    """Heads, dual objective, reduced costs (numbers only where an arc is), and whether there is a tree at all.

    ``weights`` must be -inf in column 0 and on the diagonal.  With ``single_root`` the dual objective counts the
    constant that was taken from the root's arc back in.
    """
    size = weights.shape[0]
    heads = np.full(size, -1)
    reduced = np.full((size, size), -np.inf)
    if size == 1:
        return heads, 0.0, reduced, True
    shift = 0.0
    if single_root:
        least, largest = _range(weights)
        if largest == -np.inf:
            return heads, -np.inf, reduced, False
        shift = root_price(least, largest, size)
    # The best arc from each vertex into a set: its weight, less the duals of the sets it enters, and its head.
    into = np.empty((2 * size, size))
    target = np.empty((2 * size, size), dtype=np.int64)
    for m in range(1, size):
        for h in range(size):
            into[m, h] = weights[h, m] - (shift if h == 0 else 0.0)
            target[m, h] = m
    dual = np.zeros(2 * size)
    sets = room_for_sets(size)
    part_vertices(sets)
    path, top = sets.path, sets.top
    count, objective = size, 0.0
    for start in range(1, size):
        if sets.connected[top[start]]:
            continue
        path[0], sets.on_path[top[start]], length = top[start], 1, 1
        while length > 0:
            node = path[length - 1]
            best, arg = _best_tail(into[node], top, node)
            if arg < 0:
                return heads, -np.inf, reduced, False
            dual[node], sets.chosen[node] = best, arg
            objective += best
            pay(sets, node, best)
            length, position = extend_path(sets, length, arg)
            if position >= 0:
                _write_inner(sets, position, length, weights, shift, reduced)
                _merge_columns(path, position, length, into, target, dual, count)
                contract(sets, position, length, count)
                length = position + 1
                count += 1
    for h in range(size):
        for m in range(1, size):
            if top[h] != top[m]:
                reduced[h, m] = weights[h, m] - (shift if h == 0 else 0.0) - sets.paid[m]
    _expand(sets, count, target, heads)
    if single_root:
        roots = 0
        for m in range(1, size):
            if heads[m] == 0:
                roots += 1
        if roots > 1:
            return heads, -np.inf, reduced, False
        objective += shift
    return heads, objective, reduced, True


@njit(cache=True, borrows=True)
def is_tree(heads: Ints, mark: Ints) -> bool:
    """Whether every vertex reaches the root, given the tail of the arc into each; ``mark``, as long, is for work."""
    n = heads.shape[0] - 1
    mark[:] = 0
    mark[0] = -1
    for m in range(1, n + 1):
        vertex = m
        while mark[vertex] == 0:
            mark[vertex] = m
            vertex = heads[vertex]
        if mark[vertex] == m:
            return False
        vertex = m
        while mark[vertex] == m:
            mark[vertex] = -1
            vertex = heads[vertex]
    return True
