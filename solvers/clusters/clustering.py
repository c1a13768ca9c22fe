"""Clustering by local search: a partition of n items that maximises the sum of the scores within its clusters.

    max Σ_{clusters S} Σ_{i<j in S} w_ij,        w symmetric, of any sign, each pair counted once.

The problem (correlation clustering, clique partitioning) is NP-hard; this is a heuristic and proves nothing.  From a
given partition, single items move to the cluster where they gain most and pairs of clusters join while they gain; at a
local optimum a few items are thrown out at random and the search goes on from there.  A pass over all items takes
O(n) time a cluster: the scores of every item towards every cluster are kept up to date, O(n) a move.

Sources: B. W. Kernighan and S. Lin, *An efficient heuristic procedure for partitioning graphs*, Bell System Technical
Journal 49 (1970); H. R. Lourenço, O. C. Martin and T. Stützle, *Iterated local search*, in Handbook of Metaheuristics
(2003).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats, as_indices, as_integer
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import overwrite, whole
from colgen.solvers.sorting import order_by
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_GAIN = 1e-9
"""A move must gain more than this, relative to the largest score."""

_ORDERED = 8
"""So many descents share an order: sorting would take as long as descending."""


_VISITS = 1 << 24
"""So many entries of the scores are looked at between two looks at the clock, about."""


def local_search(
    scores: Floats, start: Ints, *, kicks: int = 0, seed: int = 0, expired: Expired = never
) -> tuple[Ints, float]:
    """Improve a partition.

    Parameters
    ----------
    scores
        Symmetric, shape (n, n), zero diagonal.
    start
        Number of each item's cluster, 0 to n - 1.
    kicks
        How often a local optimum is left at random.
    seed
        Of the order of the items and of the kicks.
    expired
        Asked between kicks; those that are left are not made.

    Returns
    -------
    labels, score
        The best partition found, its clusters numbered by their first items, and its score.
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    start = as_indices(start, "start", upper=len(scores), shape=(len(scores),))
    kicks = as_integer(kicks, "kicks", low=0)
    labels = start.copy()
    labels = search(scores, labels, np.random.default_rng(seed), kicks, expired)
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    labels = rank[inverse]
    return labels, float(scores[labels[:, None] == labels[None, :]].sum()) / 2.0


def search(scores: Floats, labels: Ints, generator: np.random.Generator, kicks: int, expired: Expired) -> Ints:
    """The best partition found, whatever its clusters' numbers; ``labels`` may be changed."""
    scores = np.require(as_floats(scores, "scores", shape=("n", "n")), requirements="W")  # of one kind for the kernels
    labels = as_indices(labels, "labels", upper=len(scores), shape=(len(scores),))
    kicks = as_integer(kicks, "kicks", low=0)
    n = len(labels)
    least = _GAIN * float(np.abs(scores).max(initial=0.0))
    state = _begin(scores, labels)
    chunk = max(1, _VISITS // (8 * n * n + 1))
    done = 0
    while done <= kicks:
        orders = generator.random((min(chunk, kicks + 1 - done), n))
        _advance(scores, state, orders, done, least)
        done += len(orders)
        if expired():
            break
    return state.best


@njit(cache=True, no_cpython_wrapper=True)
def descend(scores: Floats, labels: Ints, orders: Floats, largest: float) -> Ints:
    """The kernel of :func:`local_search`, for other kernels: the best partition found, whatever its clusters' numbers.

    Parameters
    ----------
    scores, labels
        As there; ``labels`` may be changed.
    orders
        Numbers in [0, 1): row k draws the k-th kick, and every eighth row orders the items of the descents up to the
        next; shape (kicks + 1, n).
    largest
        Of the scores' absolute values, positive.
    """
    state = _begin(scores, labels)
    _advance(scores, state, orders, whole(0), _GAIN * largest)
    return state.best


@njit(cache=True)
def _begin(scores: Floats, labels: Ints) -> _State:
    n = len(labels)
    state = _State(
        labels,
        np.zeros(n, dtype=np.int64),
        np.zeros((n, n)),
        np.ones(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.array([1, 0]),
        labels.copy(),
        np.zeros(2),
        np.arange(n),
    )
    for j in range(n):
        state.sizes[labels[j]] += 1
        for i in range(n):
            state.towards[labels[j], i] += scores[j, i]
    return state


@njit(cache=True)
def _advance(scores: Floats, state: _State, orders: Floats, first: int, least: float) -> None:
    """Kicks and descents number ``first`` and so on; number 0 is a descent without a kick before it."""
    labels, best, order = state.labels, state.best, state.order
    gained, best_gain = state.gains[0], state.gains[1]
    for k in range(first, first + len(orders)):
        draw = orders[k - first]
        if k > 0:
            gained += _kick(scores, state, draw)
        if k % _ORDERED == 0:
            order_by(draw, len(order), order)
        gained += _descend(scores, state, order, least)
        if k == 0:
            # Most clusters are empty by now, and the others get small numbers.  A descent without a gain has no move.
            _renumber(state)
            overwrite(best, labels)
            best_gain = gained
        elif gained > best_gain + least:
            best_gain = gained
            overwrite(best, labels)
        elif gained < best_gain - least:
            # Back to the best: only what the kick and the descent have moved.
            for i in range(len(labels)):
                if labels[i] != best[i]:
                    _move(scores, state, i, best[i])
            gained = best_gain
            _nothing_gains(state)
    state.gains[0], state.gains[1] = gained, best_gain


class _State(NamedTuple):
    """Of a search: everything is kept up to date by :func:`_move`.

    Attributes
    ----------
    labels, sizes
        The number of each item's cluster, and how many items each number has.
    towards
        Of cluster c to item i: the sum of the scores of i with the members of c, shape (n, n).
    changed, checked
        When each number's cluster changed last, and when each item last had no move that gains.
    clock
        The number of moves so far, plus one; and the time of the last local optimum.
    best
        The best partition so far.
    gains
        What has been gained since the start, and what the best partition had gained.
    order
        Of the items, in a descent.
    """

    labels: Ints
    sizes: Ints
    towards: Floats
    changed: Ints
    checked: Ints
    clock: Ints
    best: Ints
    gains: Floats
    order: Ints


@njit(cache=True, no_cpython_wrapper=True)
def _move(scores: Floats, state: _State, item: int, cluster: int) -> None:
    old = state.labels[item]
    state.sizes[old] -= 1
    state.sizes[cluster] += 1
    state.labels[item] = cluster
    state.clock[0] += 1
    state.changed[old] = state.clock[0]
    state.changed[cluster] = state.clock[0]
    for i in range(len(state.labels)):
        state.towards[old, i] -= scores[item, i]
        state.towards[cluster, i] += scores[item, i]


@njit(cache=True, no_cpython_wrapper=True)
def _nothing_gains(state: _State) -> None:
    state.checked[:] = state.clock[0]
    state.clock[1] = state.clock[0]


@njit(cache=True, no_cpython_wrapper=True)
def _renumber(state: _State) -> None:
    """Number the clusters that are not empty from 0, in their order."""
    n = len(state.labels)
    number = np.empty(n, dtype=np.int64)
    count = 0
    for c in range(n):
        if state.sizes[c] > 0:
            number[c] = count
            if count < c:
                state.sizes[count], state.sizes[c] = state.sizes[c], 0
                overwrite(state.towards[count], state.towards[c])
                state.towards[c] = 0.0
            count += 1
    for i in range(n):
        state.labels[i] = number[state.labels[i]]


@njit(cache=True, no_cpython_wrapper=True)
def _numbers(sizes: Ints) -> int:
    """The largest number of a cluster that is not empty, plus one."""
    for c in range(len(sizes) - 1, -1, -1):
        if sizes[c] > 0:
            return c + 1
    return 0


@njit(cache=True, no_cpython_wrapper=True)
def _empty_cluster(sizes: Ints) -> int:
    for c in range(len(sizes)):
        if sizes[c] == 0:
            return c
    return -1


@njit(cache=True, no_cpython_wrapper=True)
def _kick(scores: Floats, state: _State, draw: Floats) -> float:
    """Throw some items out of their clusters; returns the (negative) gain.

    They are neighbours in the random order, and those of one cluster leave together, so that whole parts can change.
    """
    labels, towards = state.labels, state.towards
    n = len(labels)
    count = min(n, 2 + int(draw[0] * 6.0))
    first = int(draw[n - 1] * n)
    source = labels[first]
    target = _empty_cluster(state.sizes)
    gained = 0.0
    left = count
    for step in range(n):
        if left == 0:
            break
        i = (first + step) % n
        if labels[i] != source and draw[i] > 0.15:
            continue
        if target < 0 or labels[i] == target:
            continue
        gained += towards[target, i] - towards[labels[i], i]
        _move(scores, state, i, target)
        left -= 1
    return gained


@njit(cache=True, no_cpython_wrapper=True)
def _descend(scores: Floats, state: _State, order: Ints, least: float) -> float:
    """Move items and join clusters until nothing gains; returns the gain.

    An item that had no move that gains has one now only if its cluster has changed, or to a cluster that has changed.
    """
    labels, sizes, towards, changed = state.labels, state.sizes, state.towards, state.changed
    gained = 0.0
    improved = True
    while improved:
        improved = False
        empty = _empty_cluster(sizes)
        numbers = _numbers(sizes)
        for i in order:
            old = labels[i]
            own = towards[old, i]
            since = state.checked[i] if changed[old] <= state.checked[i] else 0
            best, gain = old, least
            for c in range(numbers):
                if changed[c] > since and sizes[c] > 0 and c != old and towards[c, i] - own > gain:
                    best, gain = c, towards[c, i] - own
            if empty >= 0 and sizes[old] > 1 and -own > gain:
                best, gain = empty, -own
            if best != old:
                _move(scores, state, i, best)
                gained += gain
                improved = True
                numbers = max(numbers, best + 1)
                if best == empty or sizes[old] == 0:
                    empty = _empty_cluster(sizes)
            else:
                state.checked[i] = state.clock[0]
        if not improved:
            gain = _join(scores, state, least)
            gained += gain
            improved = gain > 0.0
    _nothing_gains(state)
    return gained


@njit(cache=True, no_cpython_wrapper=True)
def _join(scores: Floats, state: _State, least: float) -> float:
    """Join the two clusters that gain most, one of which has changed; zero if none do."""
    labels, sizes, towards = state.labels, state.sizes, state.towards
    n, numbers = len(labels), _numbers(state.sizes)
    between = np.empty(numbers)
    best, into, gain = whole(-1), whole(-1), least
    for c in range(numbers):
        if sizes[c] == 0 or state.changed[c] <= state.clock[1]:
            continue
        between[:] = 0.0
        for i in range(n):
            between[labels[i]] += towards[c, i]
        for d in range(numbers):
            if d != c and sizes[d] > 0 and between[d] > gain:
                best, into, gain = c, d, between[d]
    if best < 0:
        return 0.0
    for i in range(n):
        if labels[i] == best:
            _move(scores, state, i, into)
    return gain
