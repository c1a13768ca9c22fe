"""Many different heavy stable sets, by local search.

A vertex outside the set replaces its neighbours inside if it weighs more, as long as possible.  Then a random vertex
replaces its neighbours regardless of weight.  The removed vertices stay outside until no other improves.  Every start
includes the vertex that is in fewest of the sets found so far, so that together they cover all vertices.

Source: B. Nogueira, R. G. S. Pinheiro, A. Subramanian, *A hybrid iterated local search heuristic for the maximum weight
independent set problem*, Optimization Letters 12 (2018), for the moves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_integer
from colgen.solvers.graphs.bits import draw, seeded
from colgen.solvers.graphs.stable_set import as_graph, as_weights
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, int64, overwrite

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


def heavy(
    adjacency: ArrayLike, weights: ArrayLike, *, above: int = 0, number: int = 64, kicks: int = 20, seed: int = 0
) -> Mask:
    """Return distinct stable sets heavier than ``above``, heaviest first, shape (sets, n).

    No vertex of positive weight can be added to a set.  ``adjacency`` is a symmetric mask with a false diagonal;
    weights are nonnegative integers.  Each vertex is a start, with ``kicks`` random perturbations.
    """
    conflict = as_graph(adjacency)
    weight = as_weights(weights, len(conflict))
    above, number = as_integer(above, "above", low=0), as_integer(number, "number", low=1)
    kicks, seed = as_integer(kicks, "kicks", low=0), as_integer(seed, "seed", low=0)
    items = np.flatnonzero(weight)
    starts, neighbours = lists_of(conflict[np.ix_(items, items)])
    found, count = search(starts, neighbours, weight[items], above, 4 * number, kicks, seeded(seed))
    found = found[:count]
    best = np.argsort(-(found @ weight[items]), kind="stable")[:number]
    members = np.zeros((len(best), len(weight)), dtype=np.bool_)
    members[:, items] = found[best]
    return members


def lists_of(conflict: Mask) -> tuple[Ints, Ints]:
    """Return adjacency lists: the neighbours of v are ``neighbours[starts[v]:starts[v + 1]]``."""
    owners, neighbours = np.nonzero(conflict)
    return np.searchsorted(owners, np.arange(len(conflict) + 1)).astype(np.int64), neighbours.astype(np.int64)


@inner
def _add(starts: Ints, neighbours: Ints, weights: Ints, inside: Mask, mass: Ints, v: int) -> None:
    inside[v] = True
    for k in range(starts[v], starts[v + 1]):
        mass[neighbours[k]] += weights[v]


@inner
def _remove(starts: Ints, neighbours: Ints, weights: Ints, inside: Mask, mass: Ints, v: int) -> None:
    inside[v] = False
    for k in range(starts[v], starts[v + 1]):
        mass[neighbours[k]] -= weights[v]


@inner
def _replace(starts: Ints, neighbours: Ints, weights: Ints, inside: Mask, mass: Ints, barred: Mask, v: int) -> int:
    """Replace v's neighbours inside by v and bar them.  Return the gain."""
    gain = weights[v] - mass[v]
    if mass[v] > 0:
        for k in range(starts[v], starts[v + 1]):
            u = neighbours[k]
            if inside[u]:
                _remove(starts, neighbours, weights, inside, mass, u)
                barred[u] = True
    _add(starts, neighbours, weights, inside, mass, v)
    return int(gain)


@inner
def _climb(starts: Ints, neighbours: Ints, weights: Ints, inside: Mask, mass: Ints, barred: Mask) -> int:
    """Perform improving replacements, barred vertices last.  Return the gain."""
    total, n = 0, len(weights)
    for free in (False, True):
        if free:
            barred[:] = False
        while True:
            best, most = int64(-1), 0
            for v in range(n):
                if not inside[v] and not barred[v] and weights[v] - mass[v] > most:
                    best, most = v, weights[v] - mass[v]
            if best < 0:
                break
            total += _replace(starts, neighbours, weights, inside, mass, barred, best)
            if free:
                barred[:] = False
    return total


@njit(cache=True)
def search(
    starts: Ints, neighbours: Ints, weights: Ints, above: int, number: int, kicks: int, state: Ints
) -> tuple[Mask, int]:
    """Return the sets found, and their number."""
    n = len(weights)
    found = np.zeros((number, n), dtype=np.bool_)
    seen = np.zeros(number, dtype=np.int64)
    held = np.zeros(n, dtype=np.int64)
    started = np.zeros(n, dtype=np.bool_)
    marks = np.empty(n, dtype=np.int64)
    for v in range(n):
        marks[v] = draw(state, int64(2147483647))
    count = 0
    for _ in range(n):
        first = int64(-1)
        for v in range(n):
            if not started[v] and (first < 0 or held[v] < held[first]):
                first = v
        started[first] = True
        inside, barred = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
        mass = np.zeros(n, dtype=np.int64)
        value = _replace(starts, neighbours, weights, inside, mass, barred, first)
        for v in range(n):  # bar its neighbours
            barred[v] = mass[v] > 0
        value += _climb(starts, neighbours, weights, inside, mass, barred)
        for kick in range(kicks + 1):
            if kick:
                v = draw(state, n)
                if inside[v]:
                    continue
                barred[:] = False
                value += _replace(starts, neighbours, weights, inside, mass, barred, v)
                value += _climb(starts, neighbours, weights, inside, mass, barred)
            if value > above:
                mark = 0
                for v in range(n):
                    if inside[v]:
                        mark ^= marks[v]
                known = False
                for k in range(count):
                    if seen[k] == mark:
                        known = True
                if not known:
                    seen[count] = mark
                    overwrite(found[count], inside)
                    held += inside
                    count += 1
                    if count == number:
                        return found, count
    return found, count
