r"""The fewest colours of a graph, exactly: no two neighbours of one colour.

The search is depth first over vertices, the one with most colours around it next (DSATUR): it takes each colour that no
neighbour has, and one that is new as long as that makes a better colouring than the one known.  Of the colours that are
new one is tried, for they are all alike.  The number of nodes is exponential in the worst case; graphs that need far
more colours than any bound on stable sets tells, such as Mycielski's, are settled soon.

Sources: D. Brélaz, *New methods to color the vertices of a graph*, Communications of the ACM 22 (1979); P. San Segundo,
*A new DSATUR-based algorithm for exact vertex coloring*, Computers & Operations Research 39 (2012).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_integer
from colgen.solvers.graphs.stable_search import lists_of
from colgen.solvers.graphs.stable_set import as_graph
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import int64
from colgen.solvers.stopping import Expired, never

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_CHUNK = 1 << 15
"""Nodes between two looks at the clock."""


class Fewest(NamedTuple):
    """What a search has found.

    Attributes
    ----------
    colours
        Of the best colouring, from 0: shape (n,); None if there was none with as few colours as were asked for.
    finished
        Whether no colouring has fewer: the search has come to its end.
    """

    colours: Ints | None
    finished: bool


class _Search(NamedTuple):
    """A search that can be interrupted and goes on where it was.

    Attributes
    ----------
    starts, neighbours
        The neighbours of each vertex, one vertex after the other.
    colours, around, saturation, free
        Of each vertex its colour (-1: none), how many neighbours have each colour, how many colours they have, and how
        many of them have none.
    chosen, tried, used
        Of each level its vertex, the colour that it has or has had last, and how many colours there were before.
    best
        The best colouring.
    state
        The level (-1 at the end), colours that are too many, and nodes so far.
    """

    starts: Ints
    neighbours: Ints
    colours: Ints
    around: Ints
    saturation: Ints
    free: Ints
    chosen: Ints
    tried: Ints
    used: Ints
    best: Ints
    state: Ints


_LEVEL, _TOO_MANY, _NODES = range(3)


def fewest_colours(adjacency: ArrayLike, most: int, *, nodes: int | None = None, expired: Expired = never) -> Fewest:
    """A colouring of fewest colours, if there is one of at most ``most``.

    Parameters
    ----------
    adjacency
        A symmetric mask with a false diagonal, shape (n, n).
    most
        Colourings of more colours are not looked for.
    nodes
        The search ends after so many.
    expired
        And when the answer is yes; asked several times a second.
    """
    conflict = as_graph(adjacency)
    n, most = len(conflict), min(as_integer(most, "most", low=0), len(conflict))
    limit = None if nodes is None else as_integer(nodes, "nodes", low=0)
    if not n:
        return Fewest(np.empty(0, dtype=np.int64), True)
    search = _begin(conflict, most)
    found = False
    while search.state[_LEVEL] >= 0:
        done = int(search.state[_NODES])
        if expired() or (limit is not None and done >= limit):
            break
        found |= bool(_go_on(search, done + _CHUNK if limit is None else min(done + _CHUNK, limit)))
    return Fewest(search.best if found else None, bool(search.state[_LEVEL] < 0))


def _begin(conflict: Mask, most: int) -> _Search:
    n = len(conflict)
    starts, neighbours = lists_of(conflict)
    degrees = np.diff(starts)
    chosen = np.zeros(n + 1, dtype=np.int64)
    chosen[0] = int(np.argmax(degrees))
    return _Search(
        starts,
        neighbours,
        np.full(n, -1, dtype=np.int64),
        np.zeros((n, max(most, 1)), dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        degrees.astype(np.int64),
        chosen,
        np.full(n + 1, -1, dtype=np.int64),
        np.zeros(n + 1, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.array([0, most + 1, 0], dtype=np.int64),
    )


@njit(cache=True)
def _go_on(search: _Search, limit: int) -> bool:
    """Go on until there have been so many nodes, or to the end; whether a better colouring has been found."""
    starts, neighbours, colours, around = search.starts, search.neighbours, search.colours, search.around
    saturation, free, chosen, tried, used = search.saturation, search.free, search.chosen, search.tried, search.used
    n = len(colours)
    level, too_many, nodes = search.state[_LEVEL], search.state[_TOO_MANY], search.state[_NODES]
    found = False
    while level >= 0 and nodes < limit:
        v = chosen[level]
        if colours[v] >= 0:
            _change(starts, neighbours, around, saturation, free, v, colours[v], int64(-1))
            colours[v] = -1
        colour = tried[level] + 1
        # The last colour that is worth trying, from 0; where a better colouring has been found since, there is none.
        last = min(used[level], too_many - 2) if used[level] < too_many else -1
        while colour <= last and around[v, colour] > 0:
            colour += 1
        if colour > last:
            level -= 1
            continue
        nodes += 1
        tried[level] = colour
        colours[v] = colour
        _change(starts, neighbours, around, saturation, free, v, colour, int64(1))
        in_use = max(used[level], colour + 1)
        if level == n - 1:
            for u in range(n):
                search.best[u] = colours[u]
            found = True
            too_many = in_use
            continue
        following, most, freest = -1, -1, -1
        for u in range(n):
            if colours[u] < 0 and (saturation[u] > most or (saturation[u] == most and free[u] > freest)):
                following, most, freest = u, saturation[u], free[u]
        level += 1
        chosen[level], tried[level], used[level] = following, -1, in_use
    search.state[_LEVEL], search.state[_TOO_MANY], search.state[_NODES] = level, too_many, nodes
    return found


@njit(cache=True, no_cpython_wrapper=True)
def _change(
    starts: Ints, neighbours: Ints, around: Ints, saturation: Ints, free: Ints, v: int, colour: int, by: int
) -> None:
    """A vertex has got a colour, or lost it."""
    for k in range(starts[v], starts[v + 1]):
        u = neighbours[k]
        before = around[u, colour]
        around[u, colour] = before + by
        free[u] -= by
        if before == 0:
            saturation[u] += 1
        elif before + by == 0:
            saturation[u] -= 1
