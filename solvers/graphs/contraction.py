"""A proof that a graph needs more than k colours, by contraction: two vertices have one colour, or different ones.

The search keeps a clique of vertices with different colours.  The vertex next to most of them is contracted with each
member of the clique that is not its neighbour, or joins the clique.  Vertices with fewer than k neighbours are removed,
since they find a colour at the end.  A node is closed once its clique, or a Mycielskian around it, needs more than k
colours.

Sources: A. A. Zykov, *On some properties of linear complexes*, Matematicheskii Sbornik 24 (1949).  E. Hebrard, G.
Katsirelos, *Constraint and satisfiability reasoning for graph coloring*, Journal of Artificial Intelligence Research 69
(2020), on Mycielskians as bounds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_indices, as_integer
from colgen.solvers.graphs.mycielskian import extend_by_mycielskians, grow_clique, mycielskian_bound
from colgen.solvers.graphs.stable_set import as_graph
from colgen.solvers.stopping import Expired, never

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_CLIQUES = 3
"""Cliques of a node from which the search for Mycielskians starts, apart from that of its colours."""


def needs_more(
    adjacency: ArrayLike, clique: ArrayLike, colours: int, *, nodes: int = 200, expired: Expired = never
) -> bool | None:
    """Return whether a graph needs more than a number of colours; None if the search does not end.

    Parameters
    ----------
    adjacency
        Symmetric mask with a false diagonal, shape (n, n).
    clique
        Vertices of a clique; a large one closes nodes early.
    nodes
        Maximum number of nodes.
    """
    near = as_graph(adjacency)
    members = as_indices(clique, "clique", shape=(None,), upper=len(near))
    colours, nodes = as_integer(colours, "colours", low=0), as_integer(nodes, "nodes", low=0)
    stack = [(near, members)]
    while stack:
        if nodes == 0 or expired():
            return None
        nodes -= 1
        near, members = _reduced(*stack.pop(), colours)
        grown = grow_clique(near, members)
        if extend_by_mycielskians(near, grown).colours > colours:
            continue
        if mycielskian_bound(near, colours + 1, cliques=_CLIQUES, expired=expired)[0] > colours:
            continue
        if len(grown) == len(near):
            return False
        stack += _children(near, grown, colours)
    return True


def _reduced(near: Mask, members: Ints, colours: int) -> tuple[Mask, Ints]:
    """Remove vertices outside the clique with fewer neighbours than colours, until none is left."""
    kept = np.ones(len(near), dtype=np.bool_)
    inside = np.zeros(len(near), dtype=np.bool_)
    inside[members] = True
    while (few := kept & ~inside & ((near & kept).sum(axis=1) < colours)).any():
        kept &= ~few
    place = np.cumsum(kept) - 1
    return near[np.ix_(kept, kept)], place[members]


def _children(near: Mask, clique: Ints, colours: int) -> list[tuple[Mask, Ints]]:
    """Return the graphs and cliques of the children; the one in which a vertex joins the clique comes first."""
    beside = near[:, clique].sum(axis=1)
    beside[clique] = -1
    v = int(np.lexsort((-near.sum(axis=1), -beside))[0])
    apart = clique[~near[v, clique]]
    found = list[tuple[Mask, Ints]]()
    if len(clique) < colours:
        joined = near.copy()
        joined[v, apart] = joined[apart, v] = True
        found.append((joined, np.append(clique, v)))
    rest = np.delete(np.arange(len(near)), v)
    for u in apart.tolist():
        merged = near.copy()
        merged[u] |= near[v]
        merged[:, u] |= near[:, v]
        found.append((merged[np.ix_(rest, rest)], clique - (clique > v)))
    return found
