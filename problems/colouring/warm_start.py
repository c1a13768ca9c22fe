"""Colourings to start from, and a clique that says how many colours are needed at the least."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.graphs.colouring import saturated_first, with_colours
from colgen.solvers.stopping import Expired

Ints = NDArray[np.int64]


def colourings(
    adjacency: NDArray[np.bool_], enough: int, moves: int, expired: Expired, start: Ints | None = None, seed: int = 0
) -> Iterator[Ints]:
    """Colourings, each with fewer colours than the one before: DSATUR's, then by tabu search.

    Parameters
    ----------
    enough
        Fewer colours than these are not tried.
    moves
        Of the tabu search, for each number of colours.
    start
        To be made better, in place of DSATUR's.
    """
    colours = saturated_first(adjacency) if start is None else start
    if start is None:
        yield colours
    while (count := int(colours.max()) + 1) > enough and not expired():
        fewer = with_colours(
            adjacency, count - 1, without_last(adjacency, colours), moves=moves, seed=seed, expired=expired
        )
        if fewer is None:
            return
        colours = numbered(fewer)
        yield colours


def without_last(adjacency: NDArray[np.bool_], colours: Ints) -> Ints:
    """A colouring whose smallest colour is given up: its vertices go where they have fewest neighbours."""
    sizes = np.bincount(colours)
    gone = int(np.argmin(sizes))
    left = np.where(colours > gone, colours - 1, colours)
    for v in np.flatnonzero(colours == gone).tolist():
        around = np.bincount(left[adjacency[v] & (colours != gone)], minlength=len(sizes) - 1)
        left[v] = int(np.argmin(around))
    return left


def numbered(colours: Ints) -> Ints:
    """The same colouring with the colours from 0, none left out."""
    return np.unique(colours, return_inverse=True)[1].astype(np.int64)


def classes(colours: Ints) -> NDArray[np.bool_]:
    """The vertices of each colour: shape (colours, vertices)."""
    mask: NDArray[np.bool_] = colours[None, :] == np.arange(int(colours.max()) + 1)[:, None]
    return mask
