r"""Maximum spanning arborescence: max Σ w_hm over trees of arcs h → m that reach every vertex from the root 0.

Chu, Liu and Edmonds' algorithm on a dense matrix.  From an unconnected vertex it follows best entering arcs backwards.
If the path meets a connected vertex, its vertices become connected.  If it meets itself, the cycle is contracted.  Each
contraction merges columns of the matrix, so the total time is O(n²), which is optimal on dense graphs.

The algorithm is primal-dual.  With a dual value y_S for each vertex and each contracted set S, it also solves

    min Σ_S y_S   subject to   Σ_{S: h not in S, m in S} y_S ≥ w_hm   for each arc,   y_S ≤ 0 where |S| ≥ 2.

The reduced cost of an arc, w_hm - Σ_S y_S ≤ 0, bounds the loss of a tree that contains the arc.

With ``single_root`` exactly one arc leaves the root.  Each arc of the root is reduced by a constant that exceeds the
difference between any two trees.  So the best tree has as few of these arcs as possible.  This is exact, also for
reduced costs, because all trees with one such arc lose the same.

Sources: J. Edmonds, *Optimum branchings*, J. Research of the National Bureau of Standards 71B (1967).  R. E. Tarjan,
*Finding optimum branchings*, Networks 7 (1977).  P. M. Camerini, L. Fratta, F. Maffioli, *A note on finding optimum
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
    """Return the heads and the weight of a spanning arborescence of largest weight, or None without one.

    Heads have shape (n + 1,): the tail of the arc into each vertex, -1 for the root.

    Parameters
    ----------
    weights : (n + 1, n + 1) array w_hm by tail and head, root 0
        -inf marks a missing arc.  Column 0 and the diagonal are ignored.
    single_root : whether exactly one arc leaves the root

    Raises
    ------
    ValueError
        If the weights are not a square matrix, or contain NaN or +inf.
    """
    w = check_weights(weights)
    heads, _, _, feasible = solve_arborescence(w, single_root)
    if not feasible:
        return None
    return heads, _weight(w, heads)


def reduced_costs(weights: ArrayLike, *, single_root: bool = False) -> Floats | None:
    """Return the reduced cost r_hm of each arc: a tree with arc (h, m) weighs at most the best weight + r_hm.

    They are zero on the best tree.  Arguments as for :func:`arborescence`.  None if there is no tree.
    """
    _, _, reduced, feasible = solve_arborescence(check_weights(weights), single_root)
    return np.minimum(reduced, 0.0) if feasible else None


def check_weights(weights: ArrayLike) -> Floats:
    """Return a copy of the weights with -inf in column 0 and on the diagonal."""
    w = np.array(as_numbers(weights, "weights"))
    if w.ndim != 2 or w.shape[0] != w.shape[1] or not len(w):
        raise ValueError(f"weights: expected a square matrix, got shape {w.shape}")
    w[:, 0] = -np.inf
    np.fill_diagonal(w, -np.inf)
    if np.isnan(w).any() or (w == np.inf).any():
        raise ValueError("weights: expected numbers or -inf, got NaN or +inf")
    return w


def _weight(weights: Floats, heads: Ints) -> float:
    tokens = np.arange(1, len(heads))
    return float(weights[heads[1:], tokens].sum())


# --- vertices and contracted sets ------------------------------------------------------------------------------------


class Sets(NamedTuple):
    """Vertices, contracted sets, and the path of best entering arcs that is followed backwards."""

    chosen: Ints  # the arc into each set: its tail or its number
    parent: Ints  # the set around each set, or -1
    # first, last: first and last vertex of each set
    first: Ints
    last: Ints
    # connected, on_path: whether the root reaches each set; whether the set is on the path
    connected: Ints
    on_path: Ints
    path: Ints
    # top, following: for each vertex: the outermost set around it; the next vertex of the same set, or -1
    top: Ints
    following: Ints
    paid: Floats  # for each vertex: sum of the dual values of the sets that contain it


@njit(cache=True)
def allocate_sets(size: int) -> Sets:
    """Allocate the arrays for ``size`` vertices and their contracted sets."""
    rows = np.empty((9, 2 * size), dtype=np.int64)
    return Sets(rows[0], rows[1], rows[2], rows[3], rows[4], rows[5], rows[6], rows[7], rows[8], np.empty(size))


@inner
def reset_sets(sets: Sets) -> None:
    """Reset all vertices to single sets without an entering arc."""
    size = sets.paid.shape[0]
    for node in range(2 * size):
        sets.parent[node], sets.first[node], sets.last[node] = -1, node, node
        sets.connected[node], sets.on_path[node] = node == 0, 0
    for vertex in range(size):
        sets.top[vertex], sets.following[vertex], sets.paid[vertex] = vertex, -1, 0.0


@folded
def pay(sets: Sets, node: int, dual: float) -> None:
    """Add the dual value of a set to the sums of its vertices."""
    vertex = sets.first[node]
    while vertex >= 0:
        sets.paid[vertex] += dual
        vertex = sets.following[vertex]


@folded
def extend_path(sets: Sets, length: int, tail: int) -> tuple[int, int]:
    """Extend the path by an arc with this tail.  Return its length and the start of a cycle, or -1.

    The length is 0 if the root now reaches the path.
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
    """Contract the sets on the path from ``position`` on, which form a cycle, into the set ``merged``."""
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
def mark_entered(sets: Sets, vertex: int, node: int) -> None:
    """Mark a set, and its subsets that its arc into ``vertex`` enters: no other arc of the tree does."""
    decided = sets.on_path  # all 0 once the path is empty
    while vertex != node:
        decided[vertex] = 1
        vertex = sets.parent[vertex]
    decided[node] = 1


@njit(cache=True, no_cpython_wrapper=True)
def root_price(least: float, largest: float, size: int) -> float:
    """Return a price of the root's arcs that exceeds the difference of any two trees, from the range of weights."""
    price = size * (largest - least)
    if price == 0.0:  # all trees weigh the same: any price is valid
        price = abs(largest) if largest != 0.0 else 1.0
    return price


@folded
def narrower_price(price: float, most: float, scale: float, weight: float) -> float:
    """Return a price of the root's arcs that exceeds the gain of any tree over one with one root and this weight.

    It is 0 if it is not much smaller than ``price``.  A price from the range of all weights hides small weights beside
    those of masked arcs, such as -1e30; a tree that avoids these gives a price at which small weights count.

    Parameters
    ----------
    most, scale
        Sums over the vertices of the largest weight of an arc into each, and of its absolute value.
    """
    smaller = 2.0 * (most - weight) + (scale if scale > 0.0 else 1.0)
    return smaller if smaller < 1e-3 * price else 0.0


# --- dense matrices --------------------------------------------------------------------------------------------------


@folded
def _sizes(weights: Floats) -> tuple[float, float, float, float]:
    """Return the least and the largest weight, and both sums; the last is infinite if a vertex has no arc."""
    least, largest, most, scale = np.inf, -np.inf, 0.0, 0.0
    for m in range(1, weights.shape[0]):
        best = -np.inf
        for h in range(weights.shape[0]):
            if weights[h, m] > -np.inf:
                least, best = min(least, weights[h, m]), max(best, weights[h, m])
        largest, most, scale = max(largest, best), most + best, scale + abs(best)
    return least, largest, most, scale


@folded
def _best_tail(row: Floats, top: Ints, node: int) -> tuple[float, int]:
    """Return the largest weight of an arc from a vertex outside the set, and that vertex, or -1."""
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
    """Write the best arc from each vertex into the contracted set."""
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
    """Write the tree, outermost sets first: the arc into a set determines the dropped arc of its cycle."""
    for node in range(count - 1, 0, -1):
        if not sets.on_path[node]:
            h = sets.chosen[node]
            m = target[node, h]
            heads[m] = h
            mark_entered(sets, m, node)


@njit(cache=True)
def solve_arborescence(weights, single_root):  # type: ignore[no-untyped-def]
    """Return heads, dual objective, reduced costs (finite only for existing arcs), and whether there is a tree.

    ``weights`` must be -inf in column 0 and on the diagonal.  With ``single_root`` the dual objective includes the
    constant subtracted from the root's arc.
    """
    if not single_root or weights.shape[0] == 1:
        return _solve(weights, 0.0, single_root)
    least, largest, most, scale = _sizes(weights)
    price = root_price(least, largest, weights.shape[0]) if scale < np.inf else 0.0
    found = _solve(weights, price, single_root)
    if found[3]:
        weight = 0.0
        for m in range(1, weights.shape[0]):
            weight += weights[found[0][m], m]
        smaller = narrower_price(price, most, scale, weight)
        if smaller > 0.0:
            return _solve(weights, smaller, single_root)
    return found


@njit(cache=True)
def _solve(weights, shift, single_root):  # type: ignore[no-untyped-def]
    """Return the result of :func:`solve_arborescence` if the root's arcs have a price ``shift``."""
    size = weights.shape[0]
    heads = np.full(size, -1)
    reduced = np.full((size, size), -np.inf)
    if size == 1:
        return heads, 0.0, reduced, True
    # For each vertex and set: weight of the best arc minus the duals of the sets that it enters, and the arc's head.
    into = np.empty((2 * size, size))
    target = np.empty((2 * size, size), dtype=np.int64)
    for m in range(1, size):
        for h in range(size):
            into[m, h] = weights[h, m] - (shift if h == 0 else 0.0)
            target[m, h] = m
    dual = np.zeros(2 * size)
    sets = allocate_sets(size)
    reset_sets(sets)
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
    """Return whether every vertex reaches the root, given the tail of its entering arc.  ``mark`` is workspace."""
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
