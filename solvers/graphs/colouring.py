"""Heuristic graph colouring: neighbours have different colours.

DSATUR colours vertex by vertex, the vertex with most colours among its neighbours first.  TABUCOL repairs conflicts: it
repeatedly makes the best move of a conflicting vertex to another colour.  The vertex may not return to its old colour
for some moves.  Crossover combines the largest colour classes of two colourings with conflicts, which TABUCOL then
repairs.  PARTIALCOL leaves vertices without a colour instead of conflicts.

Sources: D. Brélaz, *New methods to color the vertices of a graph*, Communications of the ACM 22 (1979).  A. Hertz, D.
de Werra, *Using tabu search techniques for graph coloring*, Computing 39 (1987).  P. Galinier, J.-K. Hao, *Hybrid
evolutionary algorithms for graph coloring*, Journal of Combinatorial Optimization 3 (1999), for crossover and tabu
tenure.  L. Moalic, A. Gondran, *Variations on memetic algorithms for graph coloring problems*, Journal of Heuristics 24
(2018), for two colourings and the return of earlier ones.  I. Blöchliger, N. Zufferey, *A graph coloring heuristic
using partial solutions and a reactive tabu scheme*, Computers & Operations Research 35 (2008).
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

_EACH = 4
"""Least moves per vertex of a tabu search between crossovers."""

_FIRST = 4
"""All moves divided by those of the search from the given colouring: some graphs need a long search, no crossover."""

_SEARCHES = 2_500
"""Greatest number of tabu searches of a run, unless they have the least number of moves."""

_ALIKE = 0.02
"""Two colourings that differ in at most this share of the vertices do not improve each other."""

_CYCLE = 3
"""Generations until the best colouring of the cycle before the last one returns."""

_CHUNK = 1 << 15
"""Moves between two checks of the clock."""


def dsatur(adjacency: ArrayLike) -> Ints:
    """Return a colouring by DSATUR, colours from 0, shape (n,).

    Ties are broken by degree, then by vertex number.
    """
    return _dsatur(as_graph(adjacency))


def evolve(
    adjacency: ArrayLike,
    colours: int,
    start: ArrayLike | None = None,
    *,
    moves: int = 1_000_000,
    seed: int = 0,
    expired: Expired = never,
) -> Ints | None:
    """Return a colouring with the given number of colours, by TABUCOL and crossover.  None if none is found.

    ``start`` has the initial colours, shape (n,), perhaps with conflicts; random by default.  ``moves`` limits the
    moves of all tabu searches together.
    """
    conflict = as_graph(adjacency)
    n = len(conflict)
    colours = as_integer(colours, "colours", low=1)
    moves, seed = as_integer(moves, "moves", low=0), as_integer(seed, "seed", low=0)
    state, rng = seeded(seed), np.random.default_rng(seed)
    given = rng.integers(0, colours, n) if start is None else as_indices(start, "start", shape=(n,), upper=colours)
    starts, neighbours = lists_of(conflict)
    done, each = 0, max(_EACH * n, moves // _SEARCHES)

    def improve(now: Ints, count: int = each) -> tuple[int, Ints]:
        nonlocal done
        best, fewest, last = now.copy(), n * n, min(done + count, moves)
        while True:
            part = min(_CHUNK, last - done)
            fewest = int(_repair(starts, neighbours, now, best, fewest, colours, part, state))
            done += part
            if not fewest or done >= last or expired():
                return fewest, best

    pair = [improve(given.copy(), moves // _FIRST), improve(rng.integers(0, colours, n))]
    recent, earlier = pair
    generation = 0
    while (found := min(pair, key=_conflicts))[0]:
        if done >= moves or expired():
            return None
        generation += 1
        recent = min(recent, found, key=_conflicts)
        if generation % _CYCLE == 0:
            pair[0], earlier, recent = earlier, recent, found
        (_, one), (_, other) = pair
        shared = np.bincount(one * colours + other, minlength=colours * colours).reshape(colours, colours)
        if n - shared.max(axis=1).sum() <= _ALIKE * n:
            _, one = improve(rng.integers(0, colours, n))
        pair = [improve(_cross(one, other, colours, state)), improve(_cross(other, one, colours, state))]
    return found[1]


def _conflicts(improved: tuple[int, Ints]) -> int:
    return improved[0]


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
def _cross(one: Ints, other: Ints, k: int, state: Ints) -> Ints:
    """Return a colouring of the largest classes of two in turn, among the vertices that are left; others are random."""
    n = len(one)
    parents = (one, other)
    sizes = np.zeros((2, k), dtype=np.int64)
    for v in range(n):
        sizes[0, one[v]] += 1
        sizes[1, other[v]] += 1
    child = np.full(n, -1, dtype=np.int64)
    for c in range(k):
        parent = parents[c % 2]
        largest = int(np.argmax(sizes[c % 2]))
        for v in range(n):
            if child[v] < 0 and parent[v] == largest:
                child[v] = c
                sizes[0, one[v]] -= 1
                sizes[1, other[v]] -= 1
    for v in range(n):
        if child[v] < 0:
            child[v] = draw(state, int64(k))
    return child


@njit(cache=True, no_cpython_wrapper=True)
def _note(vertex: int, conflicting: bool, unhappy: Ints, place: Ints, count: int) -> int:
    """Add a vertex to the list of conflicting ones, or remove it; ``place`` is -1 for others.  Return their number."""
    if conflicting and place[vertex] < 0:
        unhappy[count], place[vertex] = vertex, count
        return count + 1
    if not conflicting and place[vertex] >= 0:
        last = unhappy[count - 1]
        unhappy[place[vertex]], place[last] = last, place[vertex]
        place[vertex] = -1
        return count - 1
    return count


@njit(cache=True)
def _repair(
    starts: Ints, neighbours: Ints, colours: Ints, best: Ints, fewest: int, k: int, moves: int, state: Ints
) -> int:
    """Move conflicting vertices at most ``moves`` times.  Return the fewest conflicting pairs, those of ``best``.

    ``fewest`` is the number of them in the given ``best``.
    """
    n = len(colours)
    around = np.zeros((n, k), dtype=np.int32)
    until = np.zeros((n, k), dtype=np.int32)  # the move until which a colour is tabu for a vertex
    unhappy = np.zeros(n, dtype=np.int64)  # the conflicting vertices
    place = np.full(n, -1, dtype=np.int64)
    count, conflicts = 0, 0
    for v in range(n):
        for e in range(starts[v], starts[v + 1]):
            around[v, colours[neighbours[e]]] += 1
        conflicts += around[v, colours[v]]
        count = _note(v, around[v, colours[v]] > 0, unhappy, place, count)
    conflicts //= 2
    if conflicts < fewest:
        fewest = conflicts
        best[:] = colours
    for move in range(moves):
        if conflicts == 0:
            break
        least, vertex, colour, ties = n * n, -1, -1, 0
        for p in range(count):
            v = unhappy[p]
            own = around[v, colours[v]]
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
        until[vertex, former] = move + draw(state, int64(10)) + (6 * count) // 10 + 1
        colours[vertex] = colour
        for e in range(starts[vertex], starts[vertex + 1]):
            v = neighbours[e]
            around[v, former] -= 1
            around[v, colour] += 1
            count = _note(v, around[v, colours[v]] > 0, unhappy, place, count)
        count = _note(vertex, around[vertex, colour] > 0, unhappy, place, count)
        conflicts += int(least)
        if conflicts < fewest:
            fewest = conflicts
            best[:] = colours
    return fewest
