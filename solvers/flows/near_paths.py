r"""All simple paths whose cost exceeds that of a shortest path by at most a given slack.

A depth-first search extends a path only if its cost plus the distance from its end to the sink is within the limit, so
that every extension leads to a path unless it meets a vertex again.

Source: T. H. Byers, M. S. Waterman, *Determining all optimal and near-optimal solutions when solving shortest path
problems by dynamic programming*, Operations Research 32 (1984).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_float, as_floats, as_indices, as_integer
from colgen.solvers.kernel_cache import njit

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_EFFORT = 1000
"""Extensions at most, per path to be listed."""


def near_shortest_paths(
    vertices: int, tails: ArrayLike, heads: ArrayLike, costs: ArrayLike, source: int, sink: int, slack: float,
    limit: int,
) -> tuple[Ints, Ints] | None:  # fmt: skip
    """Return all simple paths of nearly least cost, or None if there are too many.

    Parameters
    ----------
    vertices, tails, heads, costs
        The graph, with nonnegative costs; an infinite cost closes an arc.
    source, sink
        Different ends of the paths.
    slack
        Largest excess over the cost of a shortest path.
    limit
        Maximum number of paths.

    Returns
    -------
    starts, arcs
        The arcs of path i in order are ``arcs[starts[i]:starts[i + 1]]``.
    """
    vertices, limit = as_integer(vertices, "vertices", low=1), as_integer(limit, "limit", low=0)
    tail = as_indices(tails, "tails", upper=vertices, shape=(None,))
    head = as_indices(heads, "heads", upper=vertices, shape=tail.shape)
    cost = as_floats(costs, "costs", shape=tail.shape, low=0.0, finite=False)
    source, sink = (
        as_integer(end, name, low=0, high=vertices - 1) for end, name in ((source, "source"), (sink, "sink"))
    )
    slack = as_float(slack, "slack", finite=False)
    order = np.argsort(tail, kind="stable")
    begins = np.searchsorted(tail[order], np.arange(vertices + 1))
    found, starts, arcs = _list((begins, order, tail, head), cost, source, sink, slack, limit, limit * _EFFORT)
    return (starts, arcs) if found else None


@njit(cache=True, nogil=True)
def _list(graph, costs, source, sink, slack, limit, effort):  # type: ignore[no-untyped-def]
    begins, order, tails, heads = graph
    vertices = len(begins) - 1
    left = np.full(vertices, np.inf)  # distances to the sink
    left[sink] = 0.0
    changed = True
    while changed:
        changed = False
        for a in range(len(tails)):
            value = costs[a] + left[heads[a]]
            if value < left[tails[a]]:
                left[tails[a]], changed = value, True
    starts, count = np.zeros(limit + 1, np.int64), 0
    arcs, filled = np.empty(1024, np.int64), 0
    most = left[source] + slack
    if left[source] == np.inf:
        return True, starts[:1], arcs[:0]
    path, at, cost = np.empty(vertices, np.int64), np.empty(vertices, np.int64), np.zeros(vertices)
    met = np.zeros(vertices, np.bool_)
    met[source] = True
    depth, vertex = 0, source
    at[0] = begins[source]
    while True:
        if at[depth] == begins[vertex + 1]:  # all arcs out of the vertex are tried
            met[vertex] = False
            if depth == 0:
                return True, starts[: count + 1], arcs[:filled]
            depth -= 1
            vertex = tails[path[depth]]
            continue
        a = order[at[depth]]
        at[depth] += 1
        effort -= 1
        if effort < 0:
            return False, starts[:1], arcs[:0]
        head = heads[a]
        value = cost[depth] + costs[a]
        if met[head] or not value + left[head] <= most:
            continue
        path[depth] = a
        if head == sink:
            if count == limit:
                return False, starts[:1], arcs[:0]
            while filled + depth + 1 > len(arcs):
                larger = np.empty(2 * len(arcs), np.int64)
                larger[:filled] = arcs[:filled]
                arcs = larger
            arcs[filled : filled + depth + 1] = path[: depth + 1]
            filled += depth + 1
            count += 1
            starts[count] = filled
            continue
        depth += 1
        cost[depth], at[depth], vertex = value, begins[head], head
        met[head] = True
