"""Clustering by local search: a partition of n items that maximises the sum of the scores within its clusters.

    max Σ_{clusters S} Σ_{i<j in S} w_ij,        w symmetric, of any sign, each pair counted once.

The problem (correlation clustering, clique partitioning) is NP-hard; this is a heuristic and proves nothing.  From a
given partition, single items move to the cluster where they gain most and pairs of clusters join while they gain; at a
local optimum a few items are thrown out at random and the search goes on from there.  A pass over all items takes
O(n²) time in the worst case: the scores of every item towards every cluster are kept up to date, O(n) a move.

Sources: B. W. Kernighan and S. Lin, *An efficient heuristic procedure for partitioning graphs*, Bell System Technical
Journal 49 (1970); H. R. Lourenço, O. C. Martin and T. Stützle, *Iterated local search*, in Handbook of Metaheuristics
(2003).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_GAIN = 1e-9
"""A move must gain more than this, relative to the largest score."""


def local_search(scores: Floats, start: Ints, *, kicks: int = 0, seed: int = 0) -> tuple[Ints, float]:
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

    Returns
    -------
    labels, score
        The best partition found, its clusters numbered by their first items, and its score.
    """
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    labels = np.array(start, dtype=np.int64)
    if len(labels) != len(scores) or (len(labels) and not (labels.min() >= 0 and labels.max() < len(labels))):
        raise ValueError(f"expected a cluster number from 0 to {len(scores) - 1} for each of {len(scores)} items")
    generator = np.random.default_rng(seed)
    orders = generator.random((kicks + 1, len(labels)))
    labels = _search(scores, labels, orders, _GAIN * max(1e-300, float(np.abs(scores).max(initial=0.0))))
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    labels = rank[inverse]
    return labels, float(scores[labels[:, None] == labels[None, :]].sum()) / 2.0


@njit(cache=True)
def _search(scores: Floats, labels: Ints, orders: Floats, least: float) -> Ints:
    """Local search from ``labels``; row k of ``orders`` orders the items of the k-th descent and draws its kick."""
    n = len(labels)
    sizes = np.zeros(n, dtype=np.int64)
    towards = np.zeros((n, n))  # of item i to cluster c: the sum of its scores with the members of c
    for j in range(n):
        sizes[labels[j]] += 1
        for i in range(n):
            towards[i, labels[j]] += scores[i, j]
    best = labels.copy()
    gained, best_gain = 0.0, 0.0
    for k in range(len(orders)):
        if k > 0:
            gained += _kick(scores, labels, sizes, towards, orders[k])
        gained += _descend(scores, labels, sizes, towards, np.argsort(orders[k]), least)
        if gained > best_gain + least:
            best_gain = gained
            best[:] = labels
        elif gained < best_gain - least:
            # Back to the best: only what the kick and the descent have moved.
            for i in range(n):
                if labels[i] != best[i]:
                    _move(scores, labels, sizes, towards, i, best[i])
            gained = best_gain
    return best


@njit(cache=True)
def _move(scores: Floats, labels: Ints, sizes: Ints, towards: Floats, item: int, cluster: int) -> None:
    old = labels[item]
    sizes[old] -= 1
    sizes[cluster] += 1
    labels[item] = cluster
    for i in range(len(labels)):
        towards[i, old] -= scores[i, item]
        towards[i, cluster] += scores[i, item]


@njit(cache=True)
def _empty_cluster(sizes: Ints) -> int:
    for c in range(len(sizes)):
        if sizes[c] == 0:
            return c
    return -1


@njit(cache=True)
def _kick(scores: Floats, labels: Ints, sizes: Ints, towards: Floats, draw: Floats) -> float:
    """Throw some items out of their clusters; returns the (negative) gain.

    They are neighbours in the random order, and those of one cluster leave together, so that whole parts can change.
    """
    n = len(labels)
    count = min(n, 2 + int(draw[0] * 6.0))
    first = int(draw[n - 1] * n)
    source = labels[first]
    target = _empty_cluster(sizes)
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
        gained += towards[i, target] - towards[i, labels[i]]
        _move(scores, labels, sizes, towards, i, target)
        left -= 1
    return gained


@njit(cache=True)
def _descend(scores: Floats, labels: Ints, sizes: Ints, towards: Floats, order: Ints, least: float) -> float:
    """Move items and join clusters until nothing gains; returns the gain."""
    n = len(labels)
    gained = 0.0
    improved = True
    while improved:
        improved = False
        empty = _empty_cluster(sizes)
        for i in order:
            old = labels[i]
            own = towards[i, old]
            best, gain = old, least
            for c in range(n):
                if sizes[c] > 0 and c != old and towards[i, c] - own > gain:
                    best, gain = c, towards[i, c] - own
            if empty >= 0 and sizes[old] > 1 and -own > gain:
                best, gain = empty, -own
            if best != old:
                _move(scores, labels, sizes, towards, i, best)
                gained += gain
                improved = True
                if best == empty or sizes[old] == 0:
                    empty = _empty_cluster(sizes)
        if not improved:
            gain = _join(scores, labels, sizes, towards, least)
            gained += gain
            improved = gain > 0.0
    return gained


@njit(cache=True)
def _join(scores: Floats, labels: Ints, sizes: Ints, towards: Floats, least: float) -> float:
    """Join the two clusters that gain most; zero if none do."""
    n = len(labels)
    between = np.zeros((n, n))
    for i in range(n):
        for c in range(n):
            if sizes[c] > 0:
                between[labels[i], c] += towards[i, c]
    best, into, gain = -1, -1, least
    for c in range(n):
        for d in range(c + 1, n):
            if sizes[c] > 0 and sizes[d] > 0 and between[c, d] > gain:
                best, into, gain = c, d, between[c, d]
    if best < 0:
        return 0.0
    for i in range(n):
        if labels[i] == best:
            _move(scores, labels, sizes, towards, i, into)
    return gain
