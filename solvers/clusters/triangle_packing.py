r"""Dual values of triangle inequalities to begin with, from a good clustering: those that hold with equality there.

    max Σ_{i<j} w_ij x_ij
    subject to  x_ik + x_kj - x_ij ≤ 1   for each pair i < j and each other k    [λ_ijk ≥ 0]

A clustering *pays* for the pairs that its clusters part at a gain, and for those that they join at a loss.  It is best
if there are multipliers of inequalities that it satisfies with equality, such that of the reduced scores r = w - Σ a λ
none is positive between two clusters, and none negative within one (complementary slackness).

*Packing.*  The pairs that are paid for are taken in turn, the largest scores first.  Each is moved to zero by triangles
of the items of its one or two clusters, those first that have most to give: an inequality moves two more pairs, of
which neither may come to the wrong side of zero.  What is left of scores on the wrong side, Σ |r|, is the gap of the
bound.

It takes O(n) for each pair that is paid for, and comes nearer to the optimum than many sweeps of an ascent from zero do
(:mod:`colgen.solvers.clusters.triangle_dual`), with a row or two for each of these pairs.

Source: J.-H. Lange, A. Karrenbauer, B. Andres, *Partial optimality and fast lower bounds for weighted correlation
clustering*, ICML (2018), for packing cycles; that they are tight at a known clustering is this module's own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats, as_indices
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import overwrite

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rows = NDArray[np.int32]

_MOST = 8
"""Triangles for one pair, at most."""

_SHARE = 0.5
"""Of what a triangle has to give it gives so much to one pair: others come after it."""


def packed_triangles(scores: Floats, labels: Ints) -> tuple[Rows, Floats]:
    """Triangle inequalities that are tight at a clustering, and dual values.

    Parameters
    ----------
    scores
        w, symmetric with zero diagonal, shape (n, n).
    labels
        The number of each item's cluster, 0 to n - 1.

    Returns
    -------
    rows, duals
        As :func:`colgen.solvers.clusters.triangle_dual.proved_by` takes them, ordered by k.
    """
    scores = np.ascontiguousarray(as_floats(scores, "scores", shape=("n", "n")), dtype=np.float64)
    labels = as_indices(labels, "labels", upper=len(scores), shape=(len(scores),)).astype(np.int64)
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(len(scores) + 1))
    wrong = np.triu(np.where(labels[:, None] == labels, -scores, scores), 1)
    first, second = np.nonzero(wrong > 0.0)
    turn = np.argsort(-wrong[first, second], kind="stable")
    rows, duals = _packed(scores.copy(), labels, order, starts, first[turn], second[turn])
    by_item = np.argsort(rows[:, 3], kind="stable")
    return np.ascontiguousarray(rows[by_item]), duals[by_item]


@njit(cache=True)
def _packed(reduced: Floats, labels: Ints, order: Ints, starts: Ints, first: Ints, second: Ints) -> tuple[Rows, Floats]:
    """``order`` lists the items cluster by cluster, from ``starts`` on; pairs ``first``, ``second`` are paid for."""
    n = len(reduced)
    rows, duals = np.empty((1024, 4), dtype=np.int32), np.empty(1024)
    others, gives = np.empty(n, dtype=np.int64), np.empty(n)
    count = 0
    for p in range(len(first)):
        i, j = first[p], second[p]
        inside = labels[i] == labels[j]
        wanted = -reduced[i, j] if inside else reduced[i, j]
        if wanted <= 0.0:
            continue
        m = 0
        for end in range(1 if inside else 2):
            u, v = (i, j) if end == 0 else (j, i)
            for place in range(starts[labels[u]], starts[labels[u] + 1]):
                k = order[place]
                most = min(reduced[u, k], reduced[v, k] if inside else -reduced[v, k])
                if most > 0.0 and k != u and k != v:
                    others[m], gives[m] = k, most
                    m += 1
        for _ in range(min(m, _MOST)):
            best = 0
            for place in range(1, m):
                if gives[place] > gives[best]:
                    best = place
            k, step = others[best], min(wanted, _SHARE * gives[best])
            gives[best] = 0.0
            if step <= 0.0:
                break
            # The row of a pair a, b and the item c between: it takes from ac and cb, and adds to ab.
            if inside:
                a, b, c = i, j, k
            elif labels[k] == labels[i]:
                a, b, c = j, k, i
            else:
                a, b, c = i, k, j
            reduced[a, b] += step
            reduced[a, c] -= step
            reduced[c, b] -= step
            reduced[b, a], reduced[c, a], reduced[b, c] = reduced[a, b], reduced[a, c], reduced[c, b]
            if count == len(rows):
                more, further = np.empty((2 * count, 4), dtype=np.int32), np.empty(2 * count)
                for row in range(count):
                    overwrite(more[row], rows[row])
                overwrite(further[:count], duals)
                rows, duals = more, further
            a, b = min(a, b), max(a, b)
            rows[count, 0], rows[count, 1], rows[count, 2] = (
                a * n + b,
                min(a, c) * n + max(a, c),
                min(b, c) * n + max(b, c),
            )
            rows[count, 3], duals[count] = c, step
            count += 1
            wanted -= step
            if wanted <= 0.0:
                break
    return rows[:count], duals[:count]
