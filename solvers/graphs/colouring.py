"""Heuristic graph colouring: neighbours have different colours.

DSATUR colours vertex by vertex, the vertex with most colours among its neighbours first.  TABUCOL then removes a colour
and repairs the conflicts.  It repeatedly makes the best move of a conflicting vertex to another colour.  The vertex may
not return to its old colour for some moves.  PARTIALCOL leaves vertices without a colour instead of conflicts.

Sources: D. Brélaz, *New methods to color the vertices of a graph*, Communications of the ACM 22 (1979).  A. Hertz, D.
de Werra, *Using tabu search techniques for graph coloring*, Computing 39 (1987).  P. Galinier, J.-K. Hao, *Hybrid
evolutionary algorithms for graph coloring*, Journal of Combinatorial Optimization 3 (1999), for the tabu tenure.  I.
Blöchliger, N. Zufferey, *A graph coloring heuristic using partial solutions and a reactive tabu scheme*, Computers &
Operations Research 35 (2008).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_indices, as_integer
from colgen.solvers.graphs.bits import draw, seeded
from colgen.solvers.graphs.stable_search import lists_of
from colgen.solvers.graphs.stable_set import as_graph
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import int64
from colgen.solvers.stopping import Expired, never

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_CHUNK = 1 << 15
"""Moves between two checks of the clock."""


def dsatur(adjacency: ArrayLike) -> Ints:
    """Return a colouring by DSATUR, colours from 0, shape (n,).

    Ties are broken by degree, then by vertex number.
    """
    return _dsatur(as_graph(adjacency))


def tabucol(
    adjacency: ArrayLike,
    colours: int,
    start: ArrayLike | None = None,
    *,
    moves: int = 1_000_000,
    seed: int = 0,
    expired: Expired = never,
) -> Ints | None:
    """Return a colouring with the given number of colours, by tabu search.  None if none is found.

    ``start`` has the initial colours, shape (n,), perhaps with conflicts; random by default.
    """
    conflict = as_graph(adjacency)
    n = len(conflict)
    colours = as_integer(colours, "colours", low=1)
    moves, seed = as_integer(moves, "moves", low=0), as_integer(seed, "seed", low=0)
    state = seeded(seed)
    given = np.random.default_rng(seed).integers(0, colours, n) if start is None else start
    now = as_indices(given, "start", shape=(n,), upper=colours).copy()
    starts, neighbours = lists_of(conflict)
    around = np.zeros((n, colours), dtype=np.int64)
    until = np.zeros((n, colours), dtype=np.int64)
    done = 0
    count_around(starts, neighbours, now, around)
    while True:
        left = repair(starts, neighbours, now, around, until, done, min(_CHUNK, moves - done), state)
        if not left:
            return now
        done += _CHUNK
        if done >= moves or expired():
            return None


def partialcol(
    adjacency: ArrayLike,
    colours: int,
    start: ArrayLike,
    *,
    moves: int = 1_000_000,
    seed: int = 0,
    expired: Expired = never,
) -> Ints | None:
    """Return a colouring with the given number of colours, by tabu search over partial colourings.  None if not found.

    Vertices without a colour receive one, and their neighbours of that colour lose it.  ``start`` has the initial
    colours, shape (n,), -1 for none, without conflicts.
    """
    conflict = as_graph(adjacency)
    n, colours = len(conflict), as_integer(colours, "colours", low=1)
    moves, seed = as_integer(moves, "moves", low=0), as_integer(seed, "seed", low=0)
    now = as_indices(start, "start", shape=(n,), low=-1, upper=colours).copy()
    starts, neighbours = lists_of(conflict)
    around, until = np.zeros((n, colours), dtype=np.int64), np.zeros((n, colours), dtype=np.int64)
    for v in np.flatnonzero(now >= 0).tolist():
        around[conflict[v], now[v]] += 1
    open_ = np.full(n, -1, dtype=np.int64)
    bare = np.flatnonzero(now < 0)
    open_[: len(bare)] = bare
    state, done, left = seeded(seed), 0, len(bare)
    while left:
        if done >= moves or expired():
            return None
        left = _complete(starts, neighbours, now, around, until, open_, left, done, min(_CHUNK, moves - done), state)
        done += _CHUNK
    return now


@njit(cache=True)
def _complete(
    starts: Ints, neighbours: Ints, colours: Ints, around: Ints, until: Ints, open_: Ints, left: int, now: int,
    moves: int, state: Ints,
) -> int:  # fmt: skip
    """Colour open vertices, the first ``left`` of ``open_``, in at most ``moves`` moves; return how many are left."""
    k = around.shape[1]
    fewest = left
    for move in range(now, now + moves):
        if left == 0:
            return 0
        least, place, colour, ties = len(colours), -1, -1, 0
        for p in range(left):
            v = open_[p]
            for c in range(k):
                lost = around[v, c]
                if lost > least or (until[v, c] > move and left + lost - 1 >= fewest):
                    continue
                if lost < least:
                    least, place, colour, ties = lost, p, c, 1
                else:
                    ties += 1
                    if draw(state, ties) == 0:
                        place, colour = p, c
        if place < 0:
            continue
        vertex = open_[place]
        left -= 1
        open_[place] = open_[left]
        colours[vertex] = colour
        for e in range(starts[vertex], starts[vertex + 1]):
            around[neighbours[e], colour] += 1
        for e in range(starts[vertex], starts[vertex + 1]):
            u = neighbours[e]
            if colours[u] == colour:
                colours[u] = -1
                open_[left] = u
                left += 1
                for f in range(starts[u], starts[u + 1]):
                    around[neighbours[f], colour] -= 1
                until[u, colour] = move + draw(state, int64(10)) + (6 * left) // 10 + 1
        fewest = min(fewest, left)
    return left


@njit(cache=True)
def _dsatur(conflict: Mask) -> Ints:
    n = len(conflict)
    colours = np.full(n, -1, dtype=np.int64)
    around = np.zeros((n, n + 1), dtype=np.bool_)
    saturation = np.zeros(n, dtype=np.int64)
    degree = np.zeros(n, dtype=np.int64)
    for v in range(n):
        for u in range(n):
            degree[v] += conflict[v, u]
    for _ in range(n):
        best = -1
        for v in range(n):
            if colours[v] < 0 and (
                best < 0
                or saturation[v] > saturation[best]
                or (saturation[v] == saturation[best] and degree[v] > degree[best])
            ):
                best = v
        colour = 0
        while around[best, colour]:
            colour += 1
        colours[best] = colour
        for u in range(n):
            if conflict[best, u] and not around[u, colour]:
                around[u, colour] = True
                saturation[u] += 1
    return colours


@njit(cache=True)
def count_around(starts: Ints, neighbours: Ints, colours: Ints, around: Ints) -> None:
    """Count the neighbours of each vertex with each colour."""
    around[:] = 0
    for v in range(len(colours)):
        for k in range(starts[v], starts[v + 1]):
            around[neighbours[k], colours[v]] += 1


@njit(cache=True)
def repair(
    starts: Ints, neighbours: Ints, colours: Ints, around: Ints, until: Ints, now: int, moves: int, state: Ints
) -> int:
    """Move conflicting vertices at most ``moves`` times.  Return the number of conflicting pairs.

    ``around`` is as in :func:`count_around`; ``until`` is the move until which a colour is tabu for a vertex.  ``now``
    is the number of the current move.
    """
    n, k = around.shape
    conflicts = 0
    for v in range(n):
        conflicts += around[v, colours[v]]
    conflicts //= 2
    fewest = conflicts
    for move in range(now, now + moves):
        if conflicts == 0:
            return 0
        least, vertex, colour, ties, unhappy = n * n, -1, -1, 0, 0
        for v in range(n):
            own = around[v, colours[v]]
            if own == 0:
                continue
            unhappy += 1
            for c in range(k):
                if c == colours[v]:
                    continue
                change = int(around[v, c] - own)
                if change > least or (until[v, c] > move and conflicts + change >= fewest):
                    continue
                if change < least:
                    least, vertex, colour, ties = change, v, c, 1
                else:
                    ties += 1
                    if draw(state, ties) == 0:
                        vertex, colour = v, c
        if vertex < 0:
            continue
        former = colours[vertex]
        colours[vertex] = colour
        for e in range(starts[vertex], starts[vertex + 1]):
            around[neighbours[e], former] -= 1
            around[neighbours[e], colour] += 1
        conflicts += int(least)
        fewest = min(fewest, conflicts)
        until[vertex, former] = move + draw(state, int64(10)) + (6 * unhappy) // 10 + 1
    return conflicts
