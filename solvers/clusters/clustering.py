"""Local search for clusterings: partitions of n items that maximise the sum of the scores within clusters.

    max Σ_{clusters S} Σ_{i<j in S} w_ij,        w symmetric, of any sign, each pair counted once.

The problem (correlation clustering, clique partitioning) is NP-hard.  This heuristic proves no bound.  It moves single
items to the cluster where they gain most, and joins pairs of clusters while that gains.  At a local optimum it throws
out a few items at random and continues.  The scores of every item towards every cluster are updated in O(n) per move.
A pass over all items takes O(n) time per cluster.

Sources: B. W. Kernighan and S. Lin, *An efficient heuristic procedure for partitioning graphs*, Bell System Technical
Journal 49 (1970).  H. R. Lourenço, O. C. Martin and T. Stützle, *Iterated local search*, in Handbook of Metaheuristics
(2003).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats, as_indices, as_integer
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import int64, overwrite
from colgen.solvers.sorting import order_by
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_GAIN = 1e-9
"""A move must gain more than this, relative to the largest score."""

_ORDERED = 8
"""Number of descents that share an item order: sorting takes as long as descending."""


_VISITS = 1 << 24
"""Approximate number of score entries visited between two checks of the clock."""


def local_search(
    scores: Floats, start: Ints, *, kicks: int = 0, seed: int = 0, expired: Expired = never
) -> tuple[Ints, float]:
    """Improve a partition by local search.  Return cluster numbers by first item, and the score.

    ``scores`` are symmetric with a zero diagonal.  ``start`` has cluster numbers from 0 to n - 1.  ``kicks`` is the
    number of random restarts from a local optimum.  ``seed`` draws the kicks and the item orders.  ``expired`` is
    checked between kicks.
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
    return labels, clustering_score(scores, labels)


def clustering_score(scores: Floats, labels: Ints) -> float:
    """Return the sum of the scores within clusters, each pair counted once."""
    return float(scores[labels[:, None] == labels[None, :]].sum()) / 2.0


def search(scores: Floats, labels: Ints, generator: np.random.Generator, kicks: int, expired: Expired) -> Ints:
    """Return the best partition found, with arbitrary cluster numbers; ``labels`` may be changed."""
    scores = np.require(as_floats(scores, "scores", shape=("n", "n")), requirements="W")  # one type for the kernels
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
    """Return the best partition found, with arbitrary cluster numbers: :func:`local_search` for other kernels.

    Row k of ``orders``, numbers in [0, 1), draws the k-th kick.  Every eighth row orders the items of the descents up
    to the next such row.  ``largest`` is the largest absolute score, positive.  ``labels`` may be changed.
    """
    state = _begin(scores, labels)
    _advance(scores, state, orders, int64(0), _GAIN * largest)
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
    """Run kicks and descents from number ``first``; number 0 is a descent without a kick."""
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
            # Most clusters are empty now: give the others small numbers.  A descent without a gain made no move.
            _renumber(state)
            overwrite(best, labels)
            best_gain = gained
        elif gained > best_gain + least:
            best_gain = gained
            overwrite(best, labels)
        elif gained < best_gain - least:
            # Return to the best partition: undo only the moves of this kick and descent.
            for i in range(len(labels)):
                if labels[i] != best[i]:
                    _move(scores, state, i, best[i])
            gained = best_gain
            _mark_checked(state)
    state.gains[0], state.gains[1] = gained, best_gain


class _State(NamedTuple):
    """State of a search, kept up to date by :func:`_move`."""

    # labels, sizes: cluster number of each item, and number of items in each cluster
    labels: Ints
    sizes: Ints
    towards: Floats  # (n, n) array: sum of the scores of item i with the members of cluster c, indexed [c, i]
    # changed, checked: time of each cluster's last change, and of the last check of each item that found no gain
    changed: Ints
    checked: Ints
    clock: Ints  # number of moves plus one, and the time of the last local optimum
    best: Ints
    gains: Floats  # total gain of the current partition and of ``best``, the best one so far
    order: Ints  # order of the items in a descent


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
def _mark_checked(state: _State) -> None:
    state.checked[:] = state.clock[0]
    state.clock[1] = state.clock[0]


@njit(cache=True, no_cpython_wrapper=True)
def _renumber(state: _State) -> None:
    """Number the non-empty clusters from 0 in their current order."""
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
def _count_numbers(sizes: Ints) -> int:
    """Return the largest number of a non-empty cluster plus one."""
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
    """Throw neighbours in the random order out of their clusters.  Return the (negative) gain.

    Items of one cluster leave together, so that large parts can change.
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
    """Move items and join clusters until nothing gains.  Return the gain.

    An item without a gaining move gets one only if its own cluster or the target cluster changes.
    """
    labels, sizes, towards, changed = state.labels, state.sizes, state.towards, state.changed
    gained = 0.0
    improved = True
    while improved:
        improved = False
        empty = _empty_cluster(sizes)
        numbers = _count_numbers(sizes)
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
    _mark_checked(state)
    return gained


@njit(cache=True, no_cpython_wrapper=True)
def _join(scores: Floats, state: _State, least: float) -> float:
    """Join the two clusters that gain most, one of which has changed.  Return the gain, or zero."""
    labels, sizes, towards = state.labels, state.sizes, state.towards
    n, numbers = len(labels), _count_numbers(state.sizes)
    between = np.empty(numbers)
    best, into, gain = int64(-1), int64(-1), least
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
