r"""Bounds on clusterings from dual values of the triangle inequalities, and what such a bound decides.

    max Σ_{i<j} w_ij x_ij
    subject to  x_ik + x_kj - x_ij ≤ 1   for each pair i < j and each other k    [λ_ijk ≥ 0]
                0 ≤ x_ij ≤ 1

is the relaxation of the all-link formulation of clustering.  With the reduced scores r_ij = w_ij - Σ a_ij λ, a_ij the
coefficients of the pair in all rows, every λ ≥ 0 proves that no clustering scores more than

    B(λ) = Σ λ + Σ_{i<j} max(0, r_ij).

*Ascent.*  B is minimised with its kinks rounded off: max(0, r) gives way to the maximum of r x - ε_ij (x - ½)² / 2 over
0 ≤ x ≤ 1, which is reached at x = ½ + r / ε_ij, cut off at 0 and 1.  One dual value after the other moves by what its
row is violated at x, over the sum of the three 1 / ε_ij (half as much again is faster), and never below zero: these
are Hildreth's projections on the rows.  ε is proportional to the scores, so that pairs of all sizes move equally
fast, and it is halved every few sweeps.  It starts from dual values of rows that are tight at the best clustering known
(:mod:`colgen.solvers.clusters.triangle_packing`).

*Rows.*  Only rows that have been violated at some x are kept, and only while their dual values are positive.  A row is
looked for where x_ik + x_kj > 1, so that each k is looked at with the pairs of its neighbours at x > 0 alone, and a row
that is found moves at once: those that share pairs with it are less violated then, and fewer of them are found.  So it
takes O(Σ_k d_k²) time to look for rows, d_k the neighbours of k, and a sweep O(rows), on documents one triangle in 50.

*Decisions.*  Let a clustering of score z be known, and g = B(λ) - z.  A clustering that parts two items has all pairs
of some cut between them apart, and loses their max(0, r_ij) of the bound: where every such cut weighs more than g, no
clustering that scores z or more does it (:mod:`colgen.solvers.clusters.connectivity`).  So items are together whose
pairs would say nothing one by one.  One that joins two groups of them loses Σ max(0, -r_ij) between the two; if that is
more than g then they are apart.  Groups are contracted, and pairs that are apart are given a score so bad that parting
them loses nothing.  What is left is a smaller instance with the same optimum, and if g is zero then the clustering is
best.

Sources: C. Hildreth, *A quadratic programming procedure*, Naval Research Logistics Quarterly 4 (1957); N. Veldt, D. F.
Gleich, A. Wirth, J. Saunderson, *Metric-constrained optimization for graph clustering algorithms*, SIAM Journal on
Mathematics of Data Science 1 (2019), for the projections; J.-H. Lange, B. Andres, P. Swoboda, *Combinatorial
persistency criteria for multicut and max-cut*, CVPR (2019), for decisions by reduced scores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_booleans, as_floats, as_indices, as_integer
from colgen.solvers.clusters.clustering import local_search
from colgen.solvers.clusters.connectivity import ROUNDED, inseparable, summed
from colgen.solvers.clusters.triangle_packing import packed_triangles
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import overwrite
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rows = NDArray[np.int32]
Mask = NDArray[np.bool_]

_SWEEPS = 4
"""So many for the first ε, one more for each of the next, and so many times the number of halvings for later ones."""

_EARLY = 4
"""Most instances are decided after fewer halvings, and the rows of an early x are not worth many sweeps."""

_APART = 200
"""So far apart are two rows that a sweep looks at one after the other."""

_OVER = 1.5
"""A row moves so many times as far as its projection; the ascent converges for anything between zero and two."""

_FIRST, _LEVELS = 3, 14
"""How often ε has been halved at first, for the packing is nearer to the optimum than a larger one; and at last."""

_VIOLATED = 1e-3
"""Rows are looked for that are violated by more than this."""

_SMALLEST = 1e-9
"""Scores that are smaller than this, relative to the largest, move as fast as if they were as large."""

_LOOK = 1 << 23
"""So many rows are looked at between two looks at the clock."""

_VISITS = 500_000_000
"""The ascent ends after looking at so many rows: a few seconds."""

_CLOSED = 1e-13
"""A gap of this much counts as none, relative to the score: rounding errors are of this size."""

_STALLED = 0.1
"""It ends, too, when halving ε closes less than this share of the gap: what is left of it is the relaxation's own."""

_ENOUGH = 0.5
"""The ascent ends when the items that are left after contraction are fewer than this share."""


class TriangleBound(NamedTuple):
    """What the ascent proves.

    Attributes
    ----------
    bound
        No clustering scores more.
    labels, score
        The best clustering known: the number of each item's cluster, and its score.
    reduced
        Reduced scores at which ``bound`` is proved, symmetric with zero diagonal.
    rows, duals
        The triangle inequalities that they are made of, as :func:`proved_by` takes them, and their dual values.
    """

    bound: float
    labels: Ints
    score: float
    reduced: Floats
    rows: Rows
    duals: Floats

    @property
    def closed(self) -> bool:
        """Whether the clustering is proved best."""
        return self.bound - self.score <= _CLOSED * max(abs(self.bound), abs(self.score))

    @property
    def _margin(self) -> float:
        return max(self.bound - self.score, 0.0) + _CLOSED * max(abs(self.bound), abs(self.score))

    @property
    def together(self) -> Ints:
        """The number of each item's group, by first items: items that are together in all clusterings as good."""
        return inseparable(self.reduced, self._margin)

    @property
    def apart(self) -> Mask:
        """Pairs that are together in no clustering as good, shape (n, n)."""
        return self.decided[1]

    @property
    def decided(self) -> tuple[Ints, Mask]:
        """What :attr:`together` and :attr:`apart` say."""
        groups = self.together
        lost = summed(np.maximum(-self.reduced, 0.0), groups, int(groups.max(initial=-1)) + 1)
        return groups, (lost > self._margin * (1.0 + ROUNDED))[np.ix_(groups, groups)]


def triangle_bound(
    scores: Floats, labels: Ints, *, seed: int = 0, visits: int = _VISITS, expired: Expired = never
) -> TriangleBound:
    """Bound the scores of all clusterings by dual ascent, until that decides much.

    Parameters
    ----------
    scores
        w, symmetric with zero diagonal, shape (n, n).
    labels
        The number of each item's cluster in a good clustering, 0 to n - 1; better ones are looked for near the
        ascent's x.
    seed
        Of the local search.
    visits
        Triangles to look at, over all sweeps.
    expired
        Asked several times a second; the ascent ends, with what it has proved, when the answer is yes.
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    labels = as_indices(labels, "labels", upper=len(scores), shape=(len(scores),))
    visits = as_integer(visits, "visits", low=0)
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    n = len(scores)
    size = step_sizes(scores)
    labels, score = local_search(scores, labels, seed=seed, expired=expired)
    rows, duals = packed_triangles(scores, labels)
    reduced = _reduced(scores, rows, duals)
    pairs = np.stack([reduced, np.zeros((n, n))], axis=2)
    best = TriangleBound(_value(reduced, duals), labels, score, reduced, rows, duals)
    seen, stalled = 0, False
    known = {labels.tobytes()}
    for level in range(_FIRST, _LEVELS):
        if best.closed or seen >= visits or expired() or int(best.together.max(initial=0)) + 1 < _ENOUGH * n:
            break
        steepness = 2.0**level / size
        pairs[:, :, 1] = steepness
        rows, duals, looked = _gathered(pairs, rows, duals, expired)
        sweeps = _SWEEPS + level if level < _EARLY else _SWEEPS * level
        _swept(pairs.reshape(n * n, 2), rows, duals, sweeps, expired)
        seen += looked + sweeps * len(rows)
        reduced = _reduced(scores, rows, duals)  # without the rounding errors of many steps
        pairs[:, :, 0] = reduced
        bound = _value(reduced, duals)
        near = near_clustering(scores, np.clip(0.5 + reduced * steepness, 0.0, 1.0), seed, expired, known)
        labels, score = near if near is not None and near[1] > best.score else (best.labels, best.score)
        halted = best.bound - bound <= _STALLED * (min(bound, best.bound) - score)
        if bound <= best.bound:
            best = TriangleBound(bound, labels, score, reduced, rows, duals)
        else:
            best = best._replace(labels=labels, score=score)
        if halted and stalled:
            break
        stalled = halted
    return best


def step_sizes(scores: Floats) -> Floats:
    """Sizes by which the steps of scores are divided: their own, those of small scores raised to the median."""
    n, size = len(scores), np.abs(scores)
    typical = float(np.median(size[np.triu_indices(n, 1)])) if n > 1 else 0.0
    largest = float(size.max(initial=0.0)) or 1.0
    return np.maximum(size, max(typical, _SMALLEST * largest))


def proved_by(scores: Floats, rows: Rows, duals: Floats, labels: Ints) -> TriangleBound:
    """What dual values of triangle inequalities prove, recomputed from the scores.

    Parameters
    ----------
    scores
        w, symmetric with zero diagonal, shape (n, n).
    rows
        Of each inequality x_ik + x_kj - x_ij ≤ 1 the places i n + j, i < j, of the pairs ij, ik and kj in a matrix, and
        k; shape (rows, 4).
    duals
        Negative ones count as zero.
    labels
        The number of each item's cluster in a clustering.
    """
    scores = np.ascontiguousarray(as_floats(scores, "scores", shape=("n", "n")), dtype=np.float64)
    n = len(scores)
    rows = as_indices(rows, "rows", upper=n * n, shape=("rows", 4)).astype(np.int32)
    duals = np.maximum(as_floats(duals, "duals", shape=(len(rows),)), 0.0)
    labels = as_indices(labels, "labels", upper=n, shape=(n,))
    i, j, k = rows[:, 0] // n, rows[:, 0] % n, rows[:, 3]
    sides = (np.minimum(i, k) * n + np.maximum(i, k), np.minimum(j, k) * n + np.maximum(j, k))
    if not ((i < j) & (k != i) & (k != j) & (rows[:, 1] == sides[0]) & (rows[:, 2] == sides[1])).all():
        raise ValueError("rows: expected triangle inequalities, by the places of their pairs ij, ik, kj and by k")
    reduced = _reduced(scores, rows, duals)
    score = float(scores[labels[:, None] == labels[None, :]].sum()) / 2.0
    return TriangleBound(_value(reduced, duals), labels, score, reduced, rows, duals)


def kept_apart(scores: Floats, apart: Mask) -> Floats:
    """The scores with those of some pairs so bad that a clustering loses nothing by parting them."""
    scores = as_floats(scores, "scores", shape=("n", "n"))
    apart = as_booleans(apart, "apart", shape=scores.shape)
    attraction = np.maximum(scores, 0.0).sum(axis=1)
    enough = -np.minimum(attraction[:, None], attraction)
    return np.where(apart, np.minimum(scores, enough), scores)


def near_clustering(
    scores: Floats, x: Floats, seed: int, expired: Expired, known: set[bytes]
) -> tuple[Ints, float] | None:
    """A clustering near x, improved by local search, and its score; None if the one near x is among those known.

    ``known`` is given the one near x.
    """
    n = len(scores)
    distances = x - 0.5
    np.fill_diagonal(distances, 0.0)
    near, _ = local_search(distances, np.arange(n), seed=seed, expired=expired)
    if near.tobytes() in known:
        return None
    known.add(near.tobytes())
    return local_search(scores, near, kicks=n // 4, seed=seed, expired=expired)


def _gathered(pairs: Floats, rows: Rows, duals: Floats, expired: Expired) -> tuple[Rows, Floats, int]:
    """:func:`_gather` for a few items k at a time; in a hurry the rows of the other items are left out."""
    n = len(pairs)
    step = max(1, _LOOK // (n * n + 1))
    firsts = range(0, n, step)
    bounds = np.searchsorted(rows[:, 3], [*firsts, n])
    parts, looked = [], 0
    for part, first in enumerate(firsts):
        here = slice(bounds[part], bounds[part + 1])
        kept, values, more = _gather(pairs, rows[here], duals[here], first, min(first + step, n))
        parts.append((kept, values))
        looked += more
        if expired():
            break
    if len(parts) == 1:
        return *parts[0], looked
    return np.concatenate([kept for kept, _ in parts]), np.concatenate([values for _, values in parts]), looked


def _swept(pairs: Floats, rows: Rows, duals: Floats, sweeps: int, expired: Expired) -> None:
    """:func:`_sweep` with looks at the clock."""
    at_once = max(1, _LOOK // (len(rows) + 1))
    for done in range(0, sweeps, at_once):
        _sweep(pairs, rows, duals, min(at_once, sweeps - done))
        if expired():
            return


@njit(cache=True)
def _value(reduced: Floats, duals: Floats) -> float:
    total = 0.0
    for t in range(len(duals)):
        total += duals[t]
    for i in range(len(reduced)):
        for j in range(i + 1, len(reduced)):
            total += max(0.0, reduced[i, j])
    return total


@njit(cache=True)
def _reduced(scores: Floats, rows: Rows, duals: Floats) -> Floats:
    """Reduced scores from scratch."""
    n = len(scores)
    reduced = scores.copy()
    flat = reduced.reshape(n * n)
    for t in range(len(rows)):
        flat[rows[t, 0]] += duals[t]
        flat[rows[t, 1]] -= duals[t]
        flat[rows[t, 2]] -= duals[t]
    for i in range(n):
        for j in range(i):
            reduced[i, j] = reduced[j, i]
    return reduced


@njit(cache=True)
def _gather(pairs: Floats, rows: Rows, duals: Floats, begin: int, end: int) -> tuple[Rows, Floats, int]:
    """Rows of the items k from ``begin`` to ``end`` with positive dual values, and violated ones, which move at once.

    Parameters
    ----------
    pairs
        Reduced score and 1 / ε of each pair i < j, shape (n, n, 2); kept up to date.
    rows, duals
        Rows of these k so far, ordered by k: the pairs ij, ik, kj as places in a matrix, and k; and their dual values.

    Returns
    -------
    rows, duals, looked
        In the order of k as well; and how many rows have been looked at.
    """
    n = len(pairs)
    flat = pairs.reshape(n * n, 2)
    known = np.zeros(n * n, dtype=np.int32)  # of pair ij the last k whose row is there, plus one
    near, place, x = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n)
    size = 1024 + len(rows) + len(rows) // 2
    kept, values = np.empty((size, 4), dtype=np.int32), np.empty(size)
    t, count, looked = 0, 0, 0
    for k in range(begin, end):
        # Room for all rows of this k.
        degree = 0
        for i in range(n):
            if i != k:
                pair = i * n + k if i < k else k * n + i
                value = 0.5 + flat[pair, 0] * flat[pair, 1]
                if value > _VIOLATED:
                    near[degree], place[degree], x[degree] = i, pair, min(value, 1.0)
                    degree += 1
        most = count + degree * (degree - 1) // 2
        last = t
        while last < len(rows) and rows[last, 3] == k:
            last += 1
        most += last - t
        if most > size:
            size = 2 * most
            more, further = np.empty((size, 4), dtype=np.int32), np.empty(size)
            overwrite(further[:count], values[:count])
            for row in range(count):
                overwrite(more[row], kept[row])
            kept, values = more, further
        for old in range(t, last):
            if duals[old] > 0.0:
                for side in range(4):
                    kept[count, side] = rows[old, side]
                values[count] = duals[old]
                known[rows[old, 0]] = k + 1
                count += 1
        t = last
        for p in range(degree):
            looked += degree - p - 1
            for q in range(p + 1, degree):
                ends = x[p] + x[q] - 1.0
                if ends <= _VIOLATED:
                    continue
                pair = near[p] * n + near[q]
                violation = ends - max(0.5 + flat[pair, 0] * flat[pair, 1], 0.0)
                if violation <= _VIOLATED or known[pair] == k + 1:
                    continue
                first, second = place[p], place[q]
                step = _OVER * violation / (flat[pair, 1] + flat[first, 1] + flat[second, 1])
                kept[count, 0], kept[count, 1], kept[count, 2], kept[count, 3] = pair, first, second, k
                values[count] = step
                count += 1
                flat[pair, 0] += step
                flat[first, 0] -= step
                flat[second, 0] -= step
                x[p] = _point(flat[first, 0], flat[first, 1])
                x[q] = _point(flat[second, 0], flat[second, 1])
    return kept[:count], values[:count], looked


@njit(cache=True)
def _sweep(pairs: Floats, rows: Rows, duals: Floats, sweeps: int) -> None:
    """Project on all rows, one after the other; ``pairs`` is kept up to date, shape (n * n, 2).

    Neighbouring rows share pairs, and each would wait for the one before: rows some way apart take turns instead.
    """
    for _ in range(sweeps):
        for turn in range((len(rows) + 8 * _APART - 1) // (8 * _APART) * _APART):
            first = turn // _APART * 8 * _APART + turn % _APART
            for t in range(first, min(first + 8 * _APART, len(rows)), _APART):
                a, b, c = rows[t, 0], rows[t, 1], rows[t, 2]
                x = _point(pairs[a, 0], pairs[a, 1])
                y = _point(pairs[b, 0], pairs[b, 1])
                z = _point(pairs[c, 0], pairs[c, 1])
                before = duals[t]
                step = _OVER * (y + z - x - 1.0) / (pairs[a, 1] + pairs[b, 1] + pairs[c, 1])
                duals[t] = max(before + step, 0.0)
                step = duals[t] - before
                pairs[a, 0] += step
                pairs[b, 0] -= step
                pairs[c, 0] -= step


@njit(cache=True, no_cpython_wrapper=True)
def _point(reduced: float, steepness: float) -> float:
    return min(max(0.5 + reduced * steepness, 0.0), 1.0)
