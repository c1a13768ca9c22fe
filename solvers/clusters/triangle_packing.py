r"""Initial dual values of triangle inequalities: a packing of inequalities that are tight at a good clustering.

    max Σ_{i<j} w_ij x_ij
    subject to  x_ik + x_kj - x_ij ≤ 1   for each pair i < j and each other k    [λ_ijk ≥ 0]

A clustering *pays* for positive scores between its clusters and for negative scores inside them.  Let r = w - Σ a λ be
reduced scores for multipliers of tight inequalities.  The clustering is optimal if no r is positive between two
clusters, or negative inside one (complementary slackness).

*Packing.*  The pairs that are paid for are processed in order of decreasing cost.  Each is moved to zero by triangles
within its one or two clusters, those with the largest capacity first.  An inequality moves two more pairs, and neither
may cross zero.  The remaining scores on the wrong side, Σ |r|, are the gap of the bound.

It takes O(n) per pair that is paid for, and uses one or two rows for each.  It comes nearer to the optimum than many
sweeps of an ascent from zero (:mod:`colgen.solvers.clusters.triangle_dual`).

Source: J.-H. Lange, A. Karrenbauer, B. Andres, *Partial optimality and fast lower bounds for weighted correlation
clustering*, ICML (2018), for packing cycles.  Choosing those tight at a known clustering is new in this module.
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
"""Maximum number of triangles per pair."""

_SHARE = 0.5
"""Fraction of a triangle's capacity that one pair may use; the rest is left for later pairs."""


def pack_triangles(scores: Floats, labels: Ints) -> tuple[Rows, Floats]:
    """Return triangle inequalities that are tight at a clustering, ordered by k, and dual values.

    The format is that of :func:`colgen.solvers.clusters.triangle_dual.recompute_bound`.
    """
    scores = np.ascontiguousarray(as_floats(scores, "scores", shape=("n", "n")), dtype=np.float64)
    labels = as_indices(labels, "labels", upper=len(scores), shape=(len(scores),)).astype(np.int64)
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(len(scores) + 1))
    wrong = np.triu(np.where(labels[:, None] == labels, -scores, scores), 1)
    first, second = np.nonzero(wrong > 0.0)
    turn = np.argsort(-wrong[first, second], kind="stable")
    rows, duals = _pack(scores.copy(), labels, order, starts, first[turn], second[turn])
    by_item = np.argsort(rows[:, 3], kind="stable")
    return np.ascontiguousarray(rows[by_item]), duals[by_item]


@njit(cache=True)
def _pack(reduced: Floats, labels: Ints, order: Ints, starts: Ints, first: Ints, second: Ints) -> tuple[Rows, Floats]:
    """Pack triangles for pairs ``first``, ``second``; ``order`` lists the items by cluster, with offsets ``starts``."""
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
            # The row of a pair a, b and the item c between: it lowers ac and cb, and raises ab.
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
