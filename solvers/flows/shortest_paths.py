r"""Shortest paths in a digraph with arc costs of any sign: several paths, and potentials that prove optimality.

    min Σ_a c_a x_a    over the paths from s to t.

Potentials p with c_a + p_tail - p_head ≥ 0 on all arcs prove that every path costs at least p_t - p_s.  They are
distances from s.  Nodes that s does not reach get potentials of paths that start at any node.  If each arc comes after
all arcs into its tail, one pass over the arcs suffices.  Otherwise passes repeat until nothing changes.  A change after
as many passes as there are nodes shows a circuit of negative cost, and no potentials exist.

Sources: R. Bellman, *On a routing problem*, Quarterly of Applied Mathematics 16 (1958).  L. R. Ford, D. R. Fulkerson,
*Flows in Networks* (1962).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_floats, as_indices, as_integer
from colgen.solvers.kernel_cache import njit
from colgen.solvers.topological import topological_ranks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


def shortest_paths(
    tails: ArrayLike, heads: ArrayLike, costs: ArrayLike, *, nodes: int, source: int, sink: int
) -> tuple[Floats, Mask]:
    """Return a shortest path for each array of costs.

    Parameters
    ----------
    tails, heads : indices of the nodes at the ends of each arc
    costs : (paths, arcs) array of any sign; infinity marks an unusable arc
    nodes : number of nodes
    source, sink : first and last node of the paths

    Returns
    -------
    lengths : one per path; infinity if there is none
    found : (paths, arcs) mask

    Raises
    ------
    ArrayError
        If an argument is invalid, or a circuit has negative cost.
    """
    count = as_integer(nodes, "nodes", low=1)
    start, end = (as_integer(v, name, low=0, high=count - 1) for v, name in ((source, "source"), (sink, "sink")))
    begins = as_indices(tails, "tails", upper=count, shape=(None,))
    ends = as_indices(heads, "heads", upper=count, shape=begins.shape)
    lowest = np.finfo(np.float64).min
    prices = as_floats(costs, "costs", shape=(None, len(begins)), low=lowest, finite=False)
    place = topological_ranks(count, begins, ends)
    order = np.arange(len(begins)) if place is None else np.argsort(place[begins], kind="stable")
    lengths, found = np.empty(len(prices)), np.zeros(prices.shape, dtype=np.bool_)
    at = _search_each(begins, ends, prices, order, start, end, np.empty(count), lengths, found)
    if at < len(prices):
        raise ArrayError(f"costs: expected no circuit of negative cost, but costs {at} have one")
    return lengths, found


@njit(cache=True, no_cpython_wrapper=True)
def _relax(tails, heads, costs, order, distances, arrived):  # type: ignore[no-untyped-def]
    """Shorten distances along arcs until nothing changes.  Return False for a circuit of negative cost."""
    for _ in range(len(distances) + 1):
        changed = False
        for k in range(len(order)):
            a = order[k]
            value = distances[tails[a]] + costs[a]
            if value < distances[heads[a]]:
                distances[heads[a]], arrived[heads[a]], changed = value, a, True
        if not changed:
            return True
    return False


@njit(cache=True, no_cpython_wrapper=True)
def _trace(ends, arrived, start, end, path, met):  # type: ignore[no-untyped-def]
    """Mark the arcs between ``end`` and ``start``.  Return False if a node occurs twice."""
    v = end
    while v != start:
        a = arrived[v]
        if a < 0 or met[ends[a]]:
            return False
        path[a] = True
        v = ends[a]
        met[v] = True
    return True


@njit(cache=True, nogil=True)
def search(tails, heads, costs, order, source, sink, potentials, found):  # type: ignore[no-untyped-def]
    """Find the shortest path and others with arcs of their own.  Return their number, or -1 if no potentials exist.

    Each path but the first is a shortest one through an arc that no earlier path has.  Those that repeat a node are
    skipped.  Costs have any sign; infinity marks an unusable arc.  ``order`` has all arcs, if possible those into a
    node before those out of it.  Output: ``potentials``, one per node, and ``found``, a mask of shape (maximum number,
    arcs), initially all false.
    """
    nodes, arcs = len(potentials), len(tails)
    far = 0.0
    for a in range(arcs):
        if costs[a] < np.inf:
            far += 4.0 * abs(costs[a])
    if far == 0.0:
        far = 1.0
    # Reached nodes have a distance within the sum of all absolute arc costs.
    arrived = np.full(nodes, -1)
    potentials[:] = far
    potentials[source] = 0.0
    if not _relax(tails, heads, costs, order, potentials, arrived):
        return -1
    if potentials[sink] > far / 2.0:
        return 0
    met = np.zeros(nodes, dtype=np.bool_)
    met[sink] = True
    if source != sink and not _trace(tails, arrived, source, sink, found[0], met):
        return -1
    most = len(found)
    if most == 1 or source == sink:
        return 1
    left = np.full(nodes, far)  # remaining distance to the sink
    leaving = np.full(nodes, -1)
    left[sink] = 0.0
    if not _relax(heads, tails, costs, order[::-1], left, leaving):
        return 1
    through = np.empty(arcs)
    for a in range(arcs):
        through[a] = potentials[tails[a]] + costs[a] + left[heads[a]]
        if potentials[tails[a]] > far / 2.0 or left[heads[a]] > far / 2.0 or found[0, a]:
            through[a] = np.inf
    count = 1
    while count < most:
        best = np.argmin(through)
        if through[best] == np.inf:
            break
        through[best] = np.inf
        met[:] = False
        met[tails[best]] = True
        path = found[count]
        path[:] = False
        path[best] = True
        if met[heads[best]]:
            path[:] = False
            continue
        met[heads[best]] = True
        if not _trace(tails, arrived, source, tails[best], path, met):
            path[:] = False
            continue
        if not _trace(heads, leaving, sink, heads[best], path, met):
            path[:] = False
            continue
        for a in range(arcs):
            if path[a]:
                through[a] = np.inf
        count += 1
    return count


@njit(cache=True, nogil=True)
def _search_each(tails, heads, costs, order, source, sink, potentials, lengths, found):  # type: ignore[no-untyped-def]
    """Find a shortest path for each array of costs.  Return the number of those before a circuit of negative cost."""
    for k in range(len(costs)):
        count = search(tails, heads, costs[k], order, source, sink, potentials, found[k : k + 1])
        if count < 0:
            return k
        lengths[k] = 0.0 if count else np.inf
        for a in range(len(tails)):
            if found[k, a]:
                lengths[k] += costs[k, a]
    return len(costs)
