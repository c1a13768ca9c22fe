"""What of a graph has to be looked at: vertices that can be coloured afterwards are left out.

With a clique of k vertices known, at least k colours are used anyway.  A vertex outside it with fewer than k neighbours
finds a colour whatever those have; and a vertex u whose neighbours are all neighbours of another one, v, that is none
of its own neighbours (v *dominates* u) can have v's colour.  Vertices of the clique are kept, so that what is left
needs as many colours as the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.graphs.stable_set import heaviest
from colgen.solvers.stopping import Expired, never

_NODES = 200_000
"""Of the search for a large clique."""


@dataclass(frozen=True)
class Reduced:
    """A graph without the vertices that can be coloured afterwards.

    Attributes
    ----------
    kept
        The vertices that are left, increasing.
    clique
        Vertices that are all neighbours of each other, among them.
    removed
        The others in the order in which they were left out, each with the vertex that dominates it, or -1.
    """

    kept: NDArray[np.int64]
    clique: NDArray[np.int64]
    removed: tuple[tuple[int, int], ...]

    def completed(self, adjacency: NDArray[np.bool_], colours: Sequence[int]) -> list[int]:
        """Colours of all vertices from those of the vertices that are left, no more than they have."""
        found = np.full(len(adjacency), -1, dtype=np.int64)
        found[self.kept] = colours
        for vertex, dominating in reversed(self.removed):
            if dominating >= 0:
                found[vertex] = found[dominating]
            else:
                taken = set(found[adjacency[vertex]].tolist())
                found[vertex] = next(colour for colour in range(len(adjacency)) if colour not in taken)
        return found.tolist()


def reduced(adjacency: NDArray[np.bool_], expired: Expired = never) -> Reduced:
    """Leave out vertices of few neighbours and dominated ones, until there are none."""
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
            # v dominates u if no neighbour of u is a stranger to v.
            others = left & ~adjacency[u] & ~(~adjacency[:, around]).any(axis=1)
            others[u] = False
            if others.any():
                removed.append((u, int(np.flatnonzero(others)[0])))
                left[u] = False
                changed = True
    return Reduced(np.flatnonzero(left), clique, tuple(removed))


def large_clique(adjacency: NDArray[np.bool_], expired: Expired = never) -> NDArray[np.int64]:
    """A clique, the largest where that is found soon: a stable set of the complement."""
    strangers = ~adjacency
    np.fill_diagonal(strangers, False)
    found = heaviest(strangers, np.ones(len(adjacency), dtype=np.int64), most=_NODES, expired=expired)
    return np.flatnonzero(found.members[-1]) if len(found.members) else np.zeros(1, dtype=np.int64)
