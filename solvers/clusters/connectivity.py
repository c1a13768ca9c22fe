r"""Classes of items that no light cut separates: local edge connectivity in an edge-weighted graph.

With weights w ≥ 0 of pairs, a set S of items has cut weight Σ_{i in S, j not in S} w_ij.  Two items are equivalent for
a threshold t if every set that contains exactly one of them has cut weight above t.

*Search.*  Items are visited in maximum adjacency order: the next item has the largest weight a(v) to those already
visited.  Let u be the item just visited, with its weights added.  Take an unvisited v and the graph of the visited
items and v.  In this graph u and v end such an order, and v has degree a(v).  The smallest cut between u and v has
weight a(v) there (Nagamochi and Ibaraki).  It weighs no less in the full graph.  So u and v are equivalent if a(v) > t.
Equivalent items are contracted, and the search repeats until nothing is contracted.  O(n²) per pass, with few passes.

Some equivalent items may be missed, since each pass uses the bound of one order.

Source: H. Nagamochi, T. Ono, T. Ibaraki, *Implementing an efficient minimum capacity cut algorithm*, Mathematical
Programming 67 (1994).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_float, as_floats
from colgen.solvers.kernel_cache import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROUNDED = 1e-12
"""A sum exceeds a threshold only if it does so by this fraction, to be safe against rounding."""


def find_inseparable(weights: Floats, threshold: float) -> Ints:
    """Return the class of each item: every cut between two items of a class weighs more than ``threshold``.

    Classes are numbered by first item.

    ``weights`` is symmetric, shape (n, n); negative entries and the diagonal count as zero.
    ``threshold`` is at least 0.
    """
    weights = np.ascontiguousarray(as_floats(weights, "weights", shape=("n", "n")), dtype=np.float64)
    threshold = as_float(threshold, "threshold", low=0.0)
    return np.asarray(_find_inseparable(weights, threshold * (1.0 + ROUNDED)), dtype=np.int64)


@njit(cache=True)
def _find_inseparable(weights: Floats, threshold: float) -> Ints:
    n = len(weights)
    labels = np.arange(n)
    w = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            w[i, j] = max(weights[i, j], 0.0) if i != j else 0.0
    m = n  # classes so far, one row of w each
    joined, adjacency, waiting = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n, dtype=np.int64)
    while m > 1:
        for v in range(m):
            joined[v], adjacency[v], waiting[v] = v, 0.0, v
        classes = m
        u = waiting[0]
        for left in range(m - 1, 0, -1):
            # u is visited; the unvisited items are waiting[:left].
            for place in range(left + 1):
                if waiting[place] == u:
                    waiting[place] = waiting[left]
                    break
            row, most, best = w[u], -1.0, u
            for place in range(left):
                v = waiting[place]
                adjacency[v] += row[v]
                if adjacency[v] > threshold:
                    a, b = _root(joined, u), _root(joined, v)
                    if a != b:
                        joined[max(a, b)] = min(a, b)
                        classes -= 1
                if adjacency[v] > most:
                    most, best = adjacency[v], v
            u = best
        if classes == m:
            break
        # A root is the smallest item of its class, so it is numbered before the others.
        numbers, count = np.empty(m, dtype=np.int64), 0
        for v in range(m):
            root = _root(joined, v)
            if root == v:
                numbers[v] = count
                count += 1
            else:
                numbers[v] = numbers[root]
        w = sum_between(w, numbers, count)
        for i in range(n):
            labels[i] = numbers[labels[i]]
        m = count
    return labels


@njit(cache=True)
def sum_between(weights: Floats, labels: Ints, count: int) -> Floats:
    """Return the total weight between each two of ``count`` classes, with zero diagonal; ``weights`` are symmetric."""
    found = np.zeros((count, count))
    for i in range(len(labels)):
        for j in range(i):
            a, b = labels[i], labels[j]
            found[max(a, b), min(a, b)] += weights[i, j]
    for a in range(count):
        found[a, a] = 0.0
        for b in range(a):
            found[b, a] = found[a, b]
    return found


@njit(cache=True, no_cpython_wrapper=True)
def _root(joined: Ints, item: int) -> int:
    while joined[item] != item:
        joined[item] = joined[joined[item]]
        item = joined[item]
    return item
