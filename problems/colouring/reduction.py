"""Reduction of a graph: remove vertices that can be coloured afterwards.

A known clique with k vertices needs k colours.  A vertex outside it with fewer than k neighbours always finds a
colour.  Vertex v *dominates* a vertex u that is not its neighbour if all neighbours of u are neighbours of v; then u
can take v's colour.  The clique is kept, so the reduced graph needs as many colours as the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.graphs.stable_set import heaviest
from colgen.solvers.stopping import Expired, never

_NODES = 200_000
"""Node limit of the search for a large clique."""


@dataclass(frozen=True)
class Reduced:
    """A reduced graph.

    Attributes
    ----------
    kept
        The remaining vertices, increasing.
    clique
        A clique among them.
    removed
        The removed vertices in order, each with the vertex that dominates it, or -1.
    """

    kept: NDArray[np.int64]
    clique: NDArray[np.int64]
    removed: tuple[tuple[int, int], ...]

    def extend(self, adjacency: NDArray[np.bool_], colours: Sequence[int]) -> list[int]:
        """Return colours of all vertices from colours of the remaining ones, without new colours."""
        found = np.full(len(adjacency), -1, dtype=np.int64)
        found[self.kept] = colours
        for vertex, dominating in reversed(self.removed):
            if dominating >= 0:
                found[vertex] = found[dominating]
            else:
                taken = set(found[adjacency[vertex]].tolist())
                found[vertex] = next(colour for colour in range(len(adjacency)) if colour not in taken)
        return found.tolist()


def reduce_graph(adjacency: NDArray[np.bool_], expired: Expired = never) -> Reduced:
    """Remove vertices of small degree and dominated vertices until none is left."""
    n = len(adjacency)
    clique = large_clique(adjacency, expired)
    left, removed = np.ones(n, dtype=np.bool_), list[tuple[int, int]]()
    fixed = np.zeros(n, dtype=np.bool_)
    fixed[clique] = True
    changed = True
    while changed and not expired():
        changed = False
        while True:
            degrees = (adjacency & left).sum(axis=1)
            few = np.flatnonzero(left & ~fixed & (degrees < len(clique)))
            if not len(few):
                break
            removed.append((int(few[0]), -1))
            left[few[0]] = False
        for u in np.flatnonzero(left & ~fixed).tolist():
            around = adjacency[u] & left
            # v dominates u if every neighbour of u is a neighbour of v.
            others = left & ~adjacency[u] & ~(~adjacency[:, around]).any(axis=1)
            others[u] = False
            if others.any():
                removed.append((u, int(np.flatnonzero(others)[0])))
                left[u] = False
                changed = True
    return Reduced(np.flatnonzero(left), clique, tuple(removed))


def large_clique(adjacency: NDArray[np.bool_], expired: Expired = never) -> NDArray[np.int64]:
    """Return a clique, the largest if the node limit suffices: a stable set of the complement."""
    complement = ~adjacency
    np.fill_diagonal(complement, False)
    found = heaviest(complement, np.ones(len(adjacency), dtype=np.int64), most=_NODES, expired=expired)
    return np.flatnonzero(found.members[-1]) if len(found.members) else np.zeros(1, dtype=np.int64)
