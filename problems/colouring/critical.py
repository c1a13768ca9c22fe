"""A subgraph that needs as many colours as the graph.

In sparse graphs a few vertices often need all colours.  Vertices are removed in order of increasing degree.  A removal
is undone if tabu search colours the rest with one colour fewer.  Dual values that are optimal for the subgraph, and
zero elsewhere, give a bound for the graph.  One call of the oracle verifies this guess; its search involves only these
vertices.

Source: F. Herrmann, A. Hertz, *Finding the chromatic number by means of critical graphs*, ACM Journal of Experimental
Algorithmics 7 (2002).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.graphs.colouring import evolve
from colgen.solvers.stopping import Expired

_MOVES = 300
"""Moves of tabu search per vertex: nearly always sufficient if a colouring exists."""

_WORK = 4_000_000_000
"""Limit on moves times vertices: about ten seconds."""


def find_critical(adjacency: NDArray[np.bool_], colours: int, expired: Expired) -> NDArray[np.int64]:
    """Return vertices, in increasing order, whose subgraph tabu search cannot colour with ``colours`` - 1 colours."""
    left, work = np.ones(len(adjacency), dtype=np.bool_), 0
    if colours < 2:
        return np.flatnonzero(left)
    for v in np.argsort(adjacency.sum(axis=1), kind="stable").tolist():
        if not left[v]:
            continue
        if work > _WORK:
            break
        left[v] = False
        rest = np.flatnonzero(left)
        work += _MOVES * len(rest) ** 2
        inner = np.ascontiguousarray(adjacency[np.ix_(rest, rest)])
        if expired() or evolve(inner, colours - 1, moves=_MOVES * len(rest)) is not None:
            left[v] = True
            continue
        while (few := left & ((adjacency & left).sum(axis=1) < colours - 1)).any():
            left &= ~few  # a colour that their neighbours do not use is left
    return np.flatnonzero(left)
