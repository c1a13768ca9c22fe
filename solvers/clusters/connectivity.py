r"""Items that no cut of little weight parts: classes of an edge-weighted graph by its local edge connectivity.

With weights w ≥ 0 of pairs, a set S of items is *cut off* at Σ_{i in S, j not in S} w_ij.  Two items are in one class
for a threshold t if every set that holds one of them alone is cut off at more than t; this is an equivalence.

*Search.*  Items are visited in maximum adjacency order, always the one of largest weight a(v) to those visited before.
Let u have just been visited, and its weights have been added.  Then a(v) of each v that waits is its degree in the
graph of the visited items and v, in which u and v are the last two of such an order: there the smallest cut that parts
them is a(v) (Nagamochi and Ibaraki), and in the whole graph it is no smaller.  So u and v are in one class if a(v) >
t.  What is in one class is contracted, and items are visited again, until nothing is.  O(n²) a pass, and few passes.

Classes may be missed: the bound is that of one order.

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
"""A sum counts as larger than a threshold if it is so by more than this share: beyond the rounding of its terms."""


def inseparable(weights: Floats, threshold: float) -> Ints:
    """The number of each item's class, by first items: every cut that parts two of one class weighs more than that.

    Parameters
    ----------
    weights
        Symmetric, shape (n, n); negative ones count as zero, and so does the diagonal.
    threshold
        t, not negative.
    """
    weights = np.ascontiguousarray(as_floats(weights, "weights", shape=("n", "n")), dtype=np.float64)
    threshold = as_float(threshold, "threshold", low=0.0)
    return np.asarray(_inseparable(weights, threshold * (1.0 + ROUNDED)), dtype=np.int64)


@njit(cache=True)
def _inseparable(weights: Floats, threshold: float) -> Ints:
    n = len(weights)
    labels = np.arange(n)
    w = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            w[i, j] = max(weights[i, j], 0.0) if i != j else 0.0
    m = n  # classes so far, a row of w each
    joined, adjacency, waiting = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n, dtype=np.int64)
    while m > 1:
        for v in range(m):
            joined[v], adjacency[v], waiting[v] = v, 0.0, v
        classes = m
        u = waiting[0]
        for left in range(m - 1, 0, -1):
            # u is visited: the others wait in waiting[:left].
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
        # Roots are the smallest of their class, so that they are numbered before the others.
        numbers, count = np.empty(m, dtype=np.int64), 0
        for v in range(m):
            root = _root(joined, v)
            if root == v:
                numbers[v] = count
                count += 1
            else:
                numbers[v] = numbers[root]
        w = summed(w, numbers, count)
        for i in range(n):
            labels[i] = numbers[labels[i]]
        m = count
    return labels


@njit(cache=True)
def summed(weights: Floats, labels: Ints, count: int) -> Floats:
    """Of each two of ``count`` classes the weights between them, zero on the diagonal; ``weights`` are symmetric."""
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
