r"""Shortest paths in a digraph whose arcs may cost less than nothing, several of them, and potentials that prove them.

    min Σ_a c_a x_a    over the paths from s to t.

Potentials p with c_a + p_tail - p_head ≥ 0 on all arcs say that no path costs less than p_t - p_s.  They are distances
from s; nodes that s does not reach are given the potentials of paths that begin anywhere.  Where arcs are given in an
order in which each comes after all that lead to its tail, one pass over them does; else they are looked at until
nothing changes, and if something still does after as many passes as there are nodes, then some circuit costs less than
nothing, and potentials there are none.

Sources: R. Bellman, *On a routing problem*, Quarterly of Applied Mathematics 16 (1958); L. R. Ford, D. R. Fulkerson,
*Flows in Networks* (1962).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit

Ints = NDArray[np.int64]


def in_order(tails: Ints, heads: Ints, nodes: int) -> Ints | None:
    """Of each node its place in an order in which all arcs lead onwards; None if there is a circuit."""
    place = np.zeros(nodes, dtype=np.int64)
    return place if _places(tails, heads, place) else None


@njit(cache=True, nogil=True)
def _places(tails, heads, place):  # type: ignore[no-untyped-def]
    """Overwrite ``place`` with a topological order of the nodes; whether there is one."""
    nodes = len(place)
    waiting = np.zeros(nodes, dtype=np.int64)
    for a in range(len(tails)):
        waiting[heads[a]] += 1
    starts = np.zeros(nodes + 1, dtype=np.int64)
    for a in range(len(tails)):
        starts[tails[a] + 1] += 1
    for v in range(nodes):
        starts[v + 1] += starts[v]
    out, fill = np.empty(len(tails), dtype=np.int64), starts.copy()
    for a in range(len(tails)):
        out[fill[tails[a]]] = a
        fill[tails[a]] += 1
    queue, count, done = np.empty(nodes, dtype=np.int64), 0, 0
    for v in range(nodes):
        if waiting[v] == 0:
            queue[count] = v
            count += 1
    while done < count:
        v = queue[done]
        place[v] = done
        done += 1
        for k in range(starts[v], starts[v + 1]):
            u = heads[out[k]]
            waiting[u] -= 1
            if waiting[u] == 0:
                queue[count] = u
                count += 1
    return done == nodes


@njit(cache=True, no_cpython_wrapper=True)
def _relax(tails, heads, costs, order, distances, arrived):  # type: ignore[no-untyped-def]
    """Shorten distances along arcs until nothing changes; whether that has come to an end."""
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
    """Mark the arcs between ``end`` and ``start``; False if a node is met twice."""
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
    """Find the shortest path, and others that have arcs of their own.

    Parameters
    ----------
    costs
        Of any sign, infinite for an arc that cannot be used.
    order
        All arcs, those that lead to a node before those that leave it where that is possible.
    potentials
        Overwritten, one entry per node.
    found
        Shape (most, arcs), all false; overwritten with the paths.  Each but the first is a shortest one through an arc
        that none before it has; those that would return to a node are left out.

    Returns
    -------
    int
        The number of paths; -1 if there are no potentials.
    """
    nodes, arcs = len(potentials), len(tails)
    far = 0.0
    for a in range(arcs):
        if costs[a] < np.inf:
            far += 4.0 * abs(costs[a])
    if far == 0.0:
        far = 1.0
    # What is reached is no farther than all arcs together, nor nearer than that with the other sign.
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
    left = np.full(nodes, far)  # the way that is left to the sink
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
