"""A part of the graph that needs as many colours as the graph.

In a sparse graph a few vertices often need all the colours.  They are found by leaving out one vertex after the other,
those of few neighbours first, as long as tabu search does not colour the rest with a colour less.  Dual values that are
optimal for the part, and zero elsewhere, bound the graph as well as the part.  That they do is a guess: one call of the
oracle says what they are worth, which has to look at the same few vertices.

Source: F. Herrmann, A. Hertz, *Finding the chromatic number by means of critical graphs*, ACM Journal of Experimental
Algorithmics 7 (2002).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.graphs.colouring import with_colours
from colgen.solvers.stopping import Expired

_MOVES = 300
"""Of a tabu search, a vertex: more than it nearly always needs where there is a colouring."""


def critical(adjacency: NDArray[np.bool_], colours: int, expired: Expired) -> NDArray[np.int64]:
    """Vertices that, as far as tabu search can tell, need as many colours; increasing."""
    left = np.ones(len(adjacency), dtype=np.bool_)
    if colours < 2:
        return np.flatnonzero(left)
    for v in np.argsort(adjacency.sum(axis=1), kind="stable").tolist():
        if not left[v]:
            continue
        left[v] = False
        rest = np.flatnonzero(left)
        inner = np.ascontiguousarray(adjacency[np.ix_(rest, rest)])
        if expired() or with_colours(inner, colours - 1, moves=_MOVES * len(rest)) is not None:
            left[v] = True
            continue
        while (few := left & ((adjacency & left).sum(axis=1) < colours - 1)).any():
            left &= ~few  # they take a colour that their neighbours leave
    return np.flatnonzero(left)
