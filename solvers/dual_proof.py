r"""Clusterings that dual values prove best, component by component, without a linear program.

    max Σ_{clusters S} w(S),        w(S) = Σ_{i<j in S} w_ij,  w symmetric, of any sign.

By linear programming duality a clustering with the clusters C is best if there are dual values π of the items with

    π(C) = w(C) for each of its clusters,        π(S) ≥ w(S) for all other sets S:

any other clustering is then worth at most Σ_i π_i, which is what this one is worth.  Clusters never need to span two
connected components of the graph of positive scores, so that each component has its own clustering and its own proof.

The first guess is half of what an item scores in its own cluster; then no part of a cluster that is best as a whole
violates its inequality.  An exact search (:mod:`solvers.subset`) finds for each anchor the set S that is violated most.
Each is a cut, and the relaxation method projects π on it, along the subspace of the equations: with s_C = |S ∩ C| / |C|
the step goes along 1_S - Σ_C s_C 1_C.  It is repeated over all cuts found so far until none is violated, and the
search looks for more.  Where S is a union of clusters there is no such step, and the clustering is not best; where the
relaxation of set partitioning is fractional there is no such π, and the method gives up.

Complexity: a sweep over the cuts takes O(n) a cut; the searches are exponential in the worst case, and are given so
many nodes.  On documents nine components out of ten are proved by the first guess, and most others after one more
search.

Sources: S. Agmon, *The relaxation method for linear inequalities*, Canadian Journal of Mathematics 6 (1954);
A. Mehrotra and M. A. Trick, *Cliques and clustering: a combinatorial approach*, Operations Research Letters 22 (1998),
for the dual of set partitioning.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.clustering import descend
from solvers.contraction import components
from solvers.subset import anchored

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_ZERO = 1e-11
"""Violations up to this count as none, relative to the largest score: it is what rounding errors may make of ties."""

_SEARCHES = 12
"""The search is repeated so often at most."""

_SWEEPS = 400
"""The relaxation method gives up after so many sweeps over the cuts."""

_CUTS = 12
"""And so many cuts an item are kept."""


def settle(
    scores: Floats, start: Ints, *, kicks: int = 1, seed: int = 0, largest: int = 60, nodes: int = 20_000
) -> tuple[Ints, Mask]:
    """A good clustering by local search in each component, and which components' clusterings are proved best.

    Parameters
    ----------
    scores
        w, symmetric with zero diagonal, shape (n, n).
    start
        The number of each item's cluster in the clustering to start from, 0 to n - 1.
    kicks
        Of the local search, so many an item.
    seed
        Of the local search.
    largest
        Components of more items are not tried to prove.
    nodes
        Of a search, at most.

    Returns
    -------
    labels, settled
        The number of each item's cluster, clusters numbered by their first items; and of each item whether its
        component's clustering is proved best.
    """
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    component = components(scores)
    sizes = np.bincount(component)
    sizes = sizes[sizes > 2]
    draws = np.random.default_rng(seed).random(int(((kicks * sizes + 1) * sizes).sum()))
    return _settle(scores, component, np.asarray(start, dtype=np.int64), kicks, draws, largest, nodes)


def proves(scores: Floats, labels: Ints, *, nodes: int = 20_000) -> bool:
    """Whether dual values are found that prove a clustering best; False leaves it open.

    Parameters
    ----------
    scores
        w, symmetric with zero diagonal, shape (n, n).
    labels
        The number of each item's cluster, 0 to n - 1.
    nodes
        Of a search, at most.
    """
    return bool(_prove(np.ascontiguousarray(scores, dtype=np.float64), np.asarray(labels, dtype=np.int64), nodes))


@njit(cache=True)
def _settle(
    scores: Floats, component: Ints, start: Ints, kicks: int, draws: Floats, largest: int, nodes: int
) -> tuple[Ints, Mask]:
    n = len(component)
    found = np.arange(n)  # of each item the first one of its cluster
    settled = np.ones(n, dtype=np.bool_)
    order = np.argsort(component, kind="mergesort")
    first, drawn = 0, 0
    while first < n:
        last = first
        while last < n and component[order[last]] == component[order[first]]:
            last += 1
        items = order[first:last]
        m = last - first
        first = last
        if m == 2:  # joined by a positive score
            found[items[1]] = items[0]
        if m <= 2:
            continue
        inner = np.empty((m, m))
        labels = np.empty(m, dtype=np.int64)
        largest_score = 1e-300
        for a in range(m):
            labels[a] = a
            for b in range(m):
                inner[a, b] = scores[items[a], items[b]]
                largest_score = max(largest_score, abs(inner[a, b]))
            for b in range(a):
                if start[items[b]] == start[items[a]]:
                    labels[a] = labels[b]
                    break
        rows = kicks * m + 1
        labels = descend(inner, labels, draws[drawn : drawn + rows * m].reshape(rows, m), largest_score)
        drawn += rows * m
        for a in range(m):
            for b in range(a):
                if labels[b] == labels[a]:
                    found[items[a]] = items[b]
                    break
            found[items[a]] = found[found[items[a]]]
        if m > largest or not _prove(inner, labels, nodes):
            settled[items] = False
    # Numbered by first items.
    count = 0
    labels = np.empty(n, dtype=np.int64)
    for i in range(n):
        if found[i] == i:
            labels[i] = count
            count += 1
        else:
            labels[i] = labels[found[i]]
    return labels, settled


@njit(cache=True)
def _prove(scores: Floats, labels: Ints, nodes: int) -> bool:
    n = len(labels)
    sizes = np.zeros(n)
    duals = np.zeros(n)
    largest = 0.0
    for i in range(n):
        sizes[labels[i]] += 1.0
        for j in range(n):
            largest = max(largest, abs(scores[i, j]))
            if labels[i] == labels[j]:
                duals[i] += 0.5 * scores[i, j]
    zero = _ZERO * largest
    most = _CUTS * n
    cuts = np.empty((most, n), dtype=np.bool_)
    steps = np.empty((most, n))
    worths = np.empty(most)
    lengths = np.empty(most)  # of the steps, squared
    shares = np.empty(n)
    count = 0
    for _ in range(_SEARCHES):
        values, members, open_ = anchored(scores, -duals, np.full(n, zero), nodes)
        if open_.any():
            return False
        before = count
        for v in range(n):
            if values[v] <= zero:
                continue
            if count == most:
                return False
            cuts[count] = members[v]
            worths[count], lengths[count] = 0.0, 0.0
            shares[:] = 0.0
            for i in range(n):
                if members[v, i]:
                    shares[labels[i]] += 1.0 / sizes[labels[i]]
                    for j in range(i):
                        if members[v, j]:
                            worths[count] += scores[i, j]
            for i in range(n):
                step = (1.0 if members[v, i] else 0.0) - shares[labels[i]]
                steps[count, i] = step
                lengths[count] += step * step
            if lengths[count] < 1e-9:  # a union of clusters is worth more than they are
                return False
            count += 1
        if count == before:
            return True
        if not _relax(duals, cuts[:count], steps[:count], worths[:count], lengths[:count], 0.5 * zero):
            return False
    return False


@njit(cache=True)
def _relax(duals: Floats, cuts: Mask, steps: Floats, worths: Floats, lengths: Floats, zero: float) -> bool:
    """Project dual values on violated cuts until none is violated; False if that does not come to an end."""
    for _ in range(_SWEEPS):
        satisfied = True
        for k in range(len(cuts)):
            violation = worths[k]
            for i in range(len(duals)):
                if cuts[k, i]:
                    violation -= duals[i]
            if violation > zero:
                duals += violation / lengths[k] * steps[k]
                satisfied = False
        if satisfied:
            return True
    return False
