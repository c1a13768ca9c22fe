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

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_floats, as_indices, as_numbers
from colgen.solvers.kernel_cache import njit
from colgen.solvers.tiers import tiered

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


def tree_weight(weights: Floats, heads: Ints) -> float:
    """Sum of the weights of a tree's arcs."""
    weights = as_floats(weights, "weights", shape=("n", "n"), minus_infinity=True)
    heads = as_indices(heads, "heads", upper=len(weights), low=-1, shape=(len(weights),))
    as_indices(heads[1:], "heads", upper=len(weights))
    return _weight(weights, heads)


def _weight(weights: Floats, heads: Ints) -> float:
    tokens = np.arange(1, len(heads))
    return float(weights[heads[1:], tokens].sum())


@tiered
@njit(cache=True)
def solve_arborescence(weights, single_root):  # type: ignore[no-untyped-def]
    """Heads, dual objective, reduced costs (numbers only where an arc is), and whether there is a tree at all.

    ``weights`` must be -inf in column 0 and on the diagonal.  With ``single_root`` the dual objective counts the
    constant that was taken from the root's arc back in.
    """
    size = weights.shape[0]
    n = size - 1
    most = 2 * size
    heads = np.full(size, -1)
    reduced = np.full((size, size), -np.inf)
    if n == 0:
        return heads, 0.0, reduced, True

    shift = 0.0
    if single_root:
        # Heads differ in at most n arcs, so no two trees differ by more than n times the range.
        least, largest = np.inf, -np.inf
        for h in range(size):
            for m in range(1, size):
                if weights[h, m] > -np.inf:
                    least = min(least, weights[h, m])
                    largest = max(largest, weights[h, m])
        if largest == -np.inf:
            return heads, -np.inf, reduced, False
        shift = (n + 1) * (largest - least)
        if shift == 0.0:  # any price will do where all trees weigh the same
            shift = abs(largest) if largest != 0.0 else 1.0

    # Of supernodes: the best arc from each vertex into them (its weight, less the duals of the sets it enters, and
    # its head); the tail of the arc chosen; the set that contains them.
    into = np.empty((most, size))
    target = np.empty((most, size), dtype=np.int64)
    for m in range(1, size):
        for h in range(size):
            into[m, h] = weights[h, m] - (shift if h == 0 else 0.0)
            target[m, h] = m
    dual = np.zeros(most)
    tail = np.full(most, -1)
    parent = np.full(most, -1)
    top = np.arange(size)  # the outermost supernode of each vertex
    paid = np.zeros(size)  # duals of the sets that contain a vertex, so far
    member_next = np.full(size, -1)  # the vertices of a supernode as a linked list
    first = np.arange(most)
    last = np.arange(most)
    connected = np.zeros(most, dtype=np.bool_)
    connected[0] = True
    on_path = np.zeros(most, dtype=np.bool_)
    path = np.empty(most, dtype=np.int64)
    count = size
    objective = 0.0

    for start in range(1, size):
        length = 0
        node = top[start]
        if connected[node]:
            continue
        path[0] = node
        on_path[node] = True
        length = 1
        while True:
            node = path[length - 1]
            best, arg = -np.inf, -1
            row = into[node]
            for h in range(size):
                if top[h] != node and row[h] > best:
                    best, arg = row[h], h
            if arg < 0:
                return heads, -np.inf, reduced, False
            dual[node] = best
            tail[node] = arg
            objective += best
            vertex = first[node]
            while vertex >= 0:
                paid[vertex] += best
                vertex = member_next[vertex]
            other = top[arg]
            if connected[other]:
                for k in range(length):
                    connected[path[k]] = True
                    on_path[path[k]] = False
                break
            if not on_path[other]:
                path[length] = other
                on_path[other] = True
                length += 1
                continue
            # A cycle: its supernodes become one.
            position = length - 1
            while path[position] != other:
                position -= 1
            for a in range(position, length):
                v = first[path[a]]
                while v >= 0:
                    for b in range(position, length):
                        if a != b:
                            u = first[path[b]]
                            while u >= 0:
                                reduced[v, u] = weights[v, u] - (shift if v == 0 else 0.0) - paid[u]
                                u = member_next[u]
                    v = member_next[v]
            merged = count
            count += 1
            for h in range(size):
                best, arg = -np.inf, -1
                for k in range(position, length):
                    member = path[k]
                    value = into[member, h] - dual[member]
                    if value > best:
                        best, arg = value, target[member, h]
                into[merged, h] = best
                target[merged, h] = arg
            first[merged] = first[path[position]]
            for k in range(position, length):
                member = path[k]
                parent[member] = merged
                on_path[member] = False
                vertex = first[member]
                while vertex >= 0:
                    top[vertex] = merged
                    vertex = member_next[vertex]
                if k > position:
                    member_next[last[path[k - 1]]] = first[member]
            last[merged] = last[path[length - 1]]
            path[position] = merged
            on_path[merged] = True
            length = position + 1

    for h in range(size):
        for m in range(1, size):
            if top[h] != top[m]:
                reduced[h, m] = weights[h, m] - (shift if h == 0 else 0.0) - paid[m]

    # Expansion, the outermost sets first: the arc into a set decides which of its members the arc of the cycle leaves.
    decided = np.zeros(most, dtype=np.bool_)
    for node in range(count - 1, 0, -1):
        if decided[node]:
            continue
        h = tail[node]
        m = target[node, h]
        heads[m] = h
        inner = m
        while inner != node:
            decided[inner] = True
            inner = parent[inner]
        decided[node] = True
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
