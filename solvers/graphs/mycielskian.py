r"""Lower bounds on the number of colours from embedded Mycielskians.

If a subgraph H needs k colours, and its Mycielskian is a subgraph too, then k + 1 colours are needed, although the
largest clique may not grow.  The Mycielskian of H consists of H, of a vertex u_v for each vertex v of H, next to all
neighbours of v in H, and of a vertex w next to all u_v.  A vertex u_v may be v itself or another vertex of H.

Proof: colour the larger graph, and give each vertex v of H that has the colour of w the colour of u_v.  Neighbours in H
still have different colours, since no two of the recoloured vertices are neighbours.  No vertex of H has the colour of
w any more, as no u_v has it.

A search starts from a clique and extends the subgraph as long as possible.

Sources: J. Mycielski, *Sur le coloriage des graphes*, Colloquium Mathematicum 3 (1955).  E. Hebrard, G. Katsirelos,
*Constraint and satisfiability reasoning for graph coloring*, Journal of Artificial Intelligence Research 69 (2020).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_indices, as_integer
from colgen.solvers.graphs.stable_set import as_graph
from colgen.solvers.stopping import Expired, never

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float32]


class Extended(NamedTuple):
    """A subgraph: a number of colours that it needs, its vertices, and its edges as a mask over all vertices."""

    colours: int
    vertices: Ints
    edges: Mask


def extend_by_mycielskians(adjacency: ArrayLike, clique: ArrayLike) -> Extended:
    """Return a subgraph that contains a clique and needs as many colours as found, at least one per clique vertex.

    ``adjacency`` is a symmetric mask with a false diagonal, shape (n, n); ``clique`` are different vertices.
    """
    near = as_graph(adjacency)
    members = as_indices(clique, "clique", shape=(None,), upper=len(near))
    return _extend(near, near.astype(np.float32), members)


def _extend(near: Mask, close: Floats, members: Ints) -> Extended:
    """Extend a clique; ``close`` is the graph as numbers, since products of these are fast."""
    edges = np.zeros_like(near)
    edges[np.ix_(members, members)] = near[np.ix_(members, members)]
    inside = np.zeros(len(near), dtype=np.bool_)
    inside[members] = True
    colours, far = len(members), 1.0 - close
    while True:
        vertices = np.flatnonzero(inside)
        # twins[u, v]: u is next to all neighbours of v in the subgraph
        twins = far @ edges[:, vertices].astype(np.float32) == 0.0
        tops = np.flatnonzero((close @ twins.astype(np.float32) > 0.0).all(axis=1))
        if not len(vertices) or not len(tops):
            return Extended(colours, vertices, edges)
        top, chosen = min(
            ((int(w), _choose(near[w], twins, vertices, inside)) for w in tops.tolist()[:_TOPS]),
            key=lambda pair: len(set(pair[1].tolist()) - set(vertices.tolist())),
        )
        before = edges[:, vertices].copy()
        for k, u in enumerate(chosen.tolist()):
            edges[u] |= before[:, k]
            edges[:, u] |= before[:, k]
            edges[u, top] = edges[top, u] = True
        inside[chosen], inside[top] = True, True
        colours += 1


_TOPS = 50
"""Vertices that are compared as the last one of a Mycielskian; the smallest is taken."""


def _choose(beside: Mask, twins: Mask, vertices: Ints, inside: Mask) -> Ints:
    """Return for each vertex v of the subgraph a twin next to the top: v, another vertex inside, or any."""
    options = twins & beside[:, None]
    own = options[vertices, np.arange(len(vertices))]
    known = options & inside[:, None]
    some = np.where(known.any(axis=0), known.argmax(axis=0), options.argmax(axis=0))
    return np.where(own, vertices, some)


def mycielskian_bound(
    adjacency: ArrayLike, enough: int, *, cliques: int = 1_000, expired: Expired = never
) -> tuple[int, Ints]:
    """Return a number of colours that the graph needs, and the vertices of a subgraph that needs them.

    Parameters
    ----------
    adjacency
        Symmetric mask with a false diagonal, shape (n, n).
    enough
        The search ends at this number of colours.
    cliques
        Number of cliques from which the search starts, one around each vertex, those of large degree first.
    """
    near = as_graph(adjacency)
    enough, cliques = as_integer(enough, "enough", low=0), as_integer(cliques, "cliques", low=0)
    close, degrees, seen = near.astype(np.float32), near.sum(axis=1), set[bytes]()
    best, vertices = 0, np.empty(0, dtype=np.int64)
    for start in np.argsort(-degrees, kind="stable")[:cliques].tolist():
        if best >= enough or expired():
            break
        clique = grow_clique(near, np.array([start], dtype=np.int64))
        key = np.sort(clique).tobytes()
        if key in seen:
            continue
        seen.add(key)
        found = _extend(near, close, clique)
        if found.colours > best:
            best, vertices = found.colours, found.vertices
    return best, vertices


def grow_clique(near: Mask, clique: Ints) -> Ints:
    """Return a maximal clique that contains a clique; vertices of large degree join first."""
    degrees, left = near.sum(axis=1), near[clique].all(axis=0)
    found = clique.tolist()
    while left.any():
        v = int(np.argmax(np.where(left, degrees, -1)))
        found.append(v)
        left &= near[v]
    return np.array(found, dtype=np.int64)
