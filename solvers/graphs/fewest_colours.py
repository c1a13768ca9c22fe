r"""The chromatic number, exactly.

Depth-first search over vertices, the one with most colours among its neighbours next (DSATUR).  It receives each colour
that no neighbour has, or one new colour if this still improves on the best colouring.  New colours are equivalent, so
one is tried.  The number of nodes is exponential in the worst case.  Graphs that need far more colours than bounds from
stable sets prove, such as Mycielski's, are solved quickly.

Sources: D. Brélaz, *New methods to color the vertices of a graph*, Communications of the ACM 22 (1979).  P. San
Segundo, *A new DSATUR-based algorithm for exact vertex coloring*, Computers & Operations Research 39 (2012).
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
from colgen.solvers.work import VERTEX, add_work

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_CHUNK = 1 << 15
"""Nodes between two checks of the clock."""


class Fewest(NamedTuple):
    """The result of a search.

    ``colours`` is the best colouring, from 0, shape (n,).  None if none with few enough colours exists or was found.
    If the search is ``finished``, no colouring has fewer colours.
    """

    colours: Ints | None
    finished: bool


class _Search(NamedTuple):
    """State of an interruptible search.

    * ``starts``, ``neighbours``: adjacency lists.
    * ``colours``: colour of each vertex, -1 for none.
    * ``around``, ``saturation``, ``free``: numbers of its neighbours with each colour, of these colours, and of its
      uncoloured neighbours.
    * ``chosen``, ``tried``, ``used``: vertex of each level, its last colour, and the number of colours before.
    * ``best``: the best colouring.
    * ``state``: the level (-1 at the end), the number of colours that is too large, and the number of nodes.
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
    """Return a colouring with fewest colours, if there is one with at most ``most``.

    ``adjacency`` is a symmetric mask with a false diagonal, shape (n, n).
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
        found |= bool(_continue(search, done + _CHUNK if limit is None else min(done + _CHUNK, limit)))
    add_work(VERTEX * n * int(search.state[_NODES]))
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
def _continue(search: _Search, limit: int) -> bool:
    """Continue to ``limit`` nodes or the end.  Return whether a better colouring was found."""
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
        # The last colour to try; none if a better colouring was found meanwhile.
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
    """Update the counters after a vertex gained or lost a colour."""
    for k in range(starts[v], starts[v + 1]):
        u = neighbours[k]
        before = around[u, colour]
        around[u, colour] = before + by
        free[u] -= by
        if before == 0:
            saturation[u] += 1
        elif before + by == 0:
            saturation[u] -= 1
