r"""Bounds on clusterings from dual values of the triangle inequalities, and decisions that follow from such a bound.

    max Σ_{i<j} w_ij x_ij
    subject to  x_ik + x_kj - x_ij ≤ 1   for each pair i < j and each other k    [λ_ijk ≥ 0]
                0 ≤ x_ij ≤ 1

is the relaxation of the all-link formulation of clustering.  Let r_ij = w_ij - Σ a_ij λ be the reduced scores, with
a_ij the coefficients of the pair in all rows.  Every λ ≥ 0 proves that no clustering scores more than

    B(λ) = Σ λ + Σ_{i<j} max(0, r_ij).

*Ascent.*  B is minimised with its kinks smoothed.  The term max(0, r) is replaced by the maximum of r x - ε_ij (x - ½)²
/ 2 over 0 ≤ x ≤ 1.  It is reached at x = ½ + r / ε_ij, clipped to [0, 1].  Dual values move one at a time, and never
below zero.  A move is the violation of the row at x over the sum of the three 1 / ε_ij, times 1.5 for speed.  These are
Hildreth's projections on the rows.  The ε are proportional to the scores, so that pairs of all sizes move equally fast.
They are halved every few sweeps.  The ascent starts from dual values of rows that are tight at the best known
clustering (:mod:`colgen.solvers.clusters.triangle_packing`).

*Rows.*  A row is added when it is violated at some x, and kept while its dual value is positive.  Only rows with x_ik +
x_kj > 1 can be violated.  So each k needs only the pairs of its neighbours at x > 0.  An added row moves at once.  This
reduces the violation of rows that share pairs with it, so fewer rows are added.  Separation takes O(Σ_k d_k²) time, d_k
the number of neighbours of k.  A sweep takes O(rows): on documents one triangle in 50.

*Decisions.*  Let a clustering of score z be known, and g = B(λ) - z.  A clustering that parts two items also parts all
pairs of some cut between them.  It loses their max(0, r_ij) from the bound.  If every such cut weighs more than g, no
clustering that scores at least z parts the items (:mod:`colgen.solvers.clusters.connectivity`).  This decides more than
single pairs do.  A clustering that joins two groups of such items loses Σ max(0, -r_ij) between the groups; if that
exceeds g they are apart.  Groups are contracted, and pairs that are apart get a score so low that parting them loses
nothing.  The remaining instance is smaller and has the same optimum.  If g is zero the clustering is optimal.

Sources: C. Hildreth, *A quadratic programming procedure*, Naval Research Logistics Quarterly 4 (1957).  N. Veldt, D. F.
Gleich, A. Wirth, J. Saunderson, *Metric-constrained optimization for graph clustering algorithms*, SIAM Journal on
Mathematics of Data Science 1 (2019), for the projections.  J.-H. Lange, B. Andres, P. Swoboda, *Combinatorial
persistency criteria for multicut and max-cut*, CVPR (2019), for decisions by reduced scores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_booleans, as_floats, as_indices, as_integer
from colgen.solvers.clusters.clustering import clustering_score, local_search
from colgen.solvers.clusters.connectivity import ROUNDED, find_inseparable, sum_between
from colgen.solvers.clusters.triangle_packing import pack_triangles
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import overwrite
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rows = NDArray[np.int32]
Mask = NDArray[np.bool_]

_SWEEPS = 4
"""Sweeps at the first ε, plus one per early halving; later, this many times the number of halvings."""

_EARLY = 4
"""Levels with fewer halvings are early: the rows of an early x are not worth many sweeps."""

_APART = 200
"""Distance between two rows that a sweep projects on in succession."""

_OVER = 1.5
"""Relaxation factor of the projections; the ascent converges for any factor between zero and two."""

_FIRST, _LEVELS = 3, 14
"""First number of halvings of ε (the packing is nearer to the optimum than a larger ε), and end of the range."""

_VIOLATED = 1e-3
"""Separated rows are violated by more than this."""

_SMALLEST = 1e-9
"""Scores below this, relative to the largest, get step sizes as if they were this large."""

_LOOK = 1 << 23
"""Number of rows visited between two checks of the clock."""

_VISITS = 500_000_000
"""Maximum number of rows visited by the ascent: a few seconds."""

_CLOSED = 1e-13
"""A gap of this size, relative to the score, counts as zero: rounding errors are this large."""

_STALLED = 0.1
"""The ascent also ends when halving ε closes less than this fraction of the gap; the rest is the relaxation's own."""

_ENOUGH = 0.5
"""The ascent ends when contraction leaves fewer than this fraction of the items."""


class TriangleBound(NamedTuple):
    """Bound and clustering found by the ascent.

    Attributes
    ----------
    bound : upper bound on the score of any clustering
    labels : cluster numbers of the best known clustering
    score : its score
    reduced : reduced scores that prove ``bound``, symmetric, zero diagonal
    rows : triangle inequalities, as for :func:`recompute_bound`
    duals : their dual values
    """

    bound: float
    labels: Ints
    score: float
    reduced: Floats
    rows: Rows
    duals: Floats

    @property
    def closed(self) -> bool:
        """Whether the clustering is proved optimal."""
        return self.bound - self.score <= _CLOSED * max(abs(self.bound), abs(self.score))

    @property
    def _margin(self) -> float:
        return max(self.bound - self.score, 0.0) + _CLOSED * max(abs(self.bound), abs(self.score))

    @property
    def together(self) -> Ints:
        """Group numbers by first item; a group is together in all clusterings at least as good."""
        return find_inseparable(self.reduced, self._margin)

    @property
    def apart(self) -> Mask:
        """Pairs that are together in no clustering at least as good, shape (n, n)."""
        return self.decisions[1]

    @property
    def decisions(self) -> tuple[Ints, Mask]:
        """The groups of :attr:`together` and the pairs of :attr:`apart`."""
        groups = self.together
        lost = sum_between(np.maximum(-self.reduced, 0.0), groups, int(groups.max(initial=-1)) + 1)
        return groups, (lost > self._margin * (1.0 + ROUNDED))[np.ix_(groups, groups)]


def triangle_bound(
    scores: Floats, labels: Ints, *, seed: int = 0, visits: int = _VISITS, expired: Expired = never
) -> TriangleBound:
    """Bound the scores of all clusterings by dual ascent, until the bound decides most items.

    ``labels`` are the cluster numbers, 0 to n - 1, of a good clustering.  Better ones are sought near the ascent's x,
    by a local search with this ``seed``.  ``visits`` limits the triangle visits over all sweeps.  ``expired`` is
    checked several times per second; once True, the bound so far is returned.
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    labels = as_indices(labels, "labels", upper=len(scores), shape=(len(scores),))
    visits = as_integer(visits, "visits", low=0)
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    n = len(scores)
    size = step_sizes(scores)
    labels, score = local_search(scores, labels, seed=seed, expired=expired)
    rows, duals = pack_triangles(scores, labels)
    reduced = _compute_reduced(scores, rows, duals)
    pairs = np.stack([reduced, np.zeros((n, n))], axis=2)
    best = TriangleBound(_value(reduced, duals), labels, score, reduced, rows, duals)
    seen, stalled = 0, False
    known = {labels.tobytes()}
    for level in range(_FIRST, _LEVELS):
        if best.closed or seen >= visits or expired() or int(best.together.max(initial=0)) + 1 < _ENOUGH * n:
            break
        steepness = 2.0**level / size
        pairs[:, :, 1] = steepness
        rows, duals, visited = _gather_in_time(pairs, rows, duals, expired)
        sweeps = _SWEEPS + level if level < _EARLY else _SWEEPS * level
        _sweep_in_time(pairs.reshape(n * n, 2), rows, duals, sweeps, expired)
        seen += visited + sweeps * len(rows)
        reduced = _compute_reduced(scores, rows, duals)  # without the rounding errors of many steps
        pairs[:, :, 0] = reduced
        bound = _value(reduced, duals)
        near = find_near_clustering(scores, np.clip(0.5 + reduced * steepness, 0.0, 1.0), seed, expired, known)
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
    """Return the step sizes of the pairs: absolute scores, with small ones raised to the median."""
    n, size = len(scores), np.abs(scores)
    typical = float(np.median(size[np.triu_indices(n, 1)])) if n > 1 else 0.0
    largest = float(size.max(initial=0.0)) or 1.0
    return np.maximum(size, max(typical, _SMALLEST * largest))


def recompute_bound(scores: Floats, rows: Rows, duals: Floats, labels: Ints) -> TriangleBound:
    """Return the bound that dual values of triangle inequalities prove, recomputed from the scores.

    A row is an inequality x_ik + x_kj - x_ij ≤ 1: the flat indices i n + j, i < j, of the pairs ij, ik and kj, and k.
    Negative ``duals`` count as zero.  ``labels`` are cluster numbers.
    """
    scores = np.ascontiguousarray(as_floats(scores, "scores", shape=("n", "n")), dtype=np.float64)
    n = len(scores)
    rows = as_indices(rows, "rows", upper=n * n, shape=("rows", 4)).astype(np.int32)
    duals = np.maximum(as_floats(duals, "duals", shape=(len(rows),)), 0.0)
    labels = as_indices(labels, "labels", upper=n, shape=(n,))
    i, j, k = rows[:, 0] // n, rows[:, 0] % n, rows[:, 3]
    sides = (np.minimum(i, k) * n + np.maximum(i, k), np.minimum(j, k) * n + np.maximum(j, k))
    if not ((i < j) & (k != i) & (k != j) & (rows[:, 1] == sides[0]) & (rows[:, 2] == sides[1])).all():
        raise ValueError("rows: expected triangle inequalities: the flat indices of the pairs ij, ik, kj, and k")
    reduced = _compute_reduced(scores, rows, duals)
    return TriangleBound(_value(reduced, duals), labels, clustering_score(scores, labels), reduced, rows, duals)


def keep_apart(scores: Floats, apart: Mask) -> Floats:
    """Return the scores with those of some pairs so low that a clustering loses nothing by parting them."""
    scores = as_floats(scores, "scores", shape=("n", "n"))
    apart = as_booleans(apart, "apart", shape=scores.shape)
    attraction = np.maximum(scores, 0.0).sum(axis=1)
    enough = -np.minimum(attraction[:, None], attraction)
    return np.where(apart, np.minimum(scores, enough), scores)


def find_near_clustering(
    scores: Floats, x: Floats, seed: int, expired: Expired, known: set[bytes]
) -> tuple[Ints, float] | None:
    """Return a clustering near x, improved by local search, with its score.  None if the one near x is in ``known``.

    The clustering near x is added to ``known``.
    """
    n = len(scores)
    distances = x - 0.5
    np.fill_diagonal(distances, 0.0)
    near, _ = local_search(distances, np.arange(n), seed=seed, expired=expired)
    if near.tobytes() in known:
        return None
    known.add(near.tobytes())
    return local_search(scores, near, kicks=n // 4, seed=seed, expired=expired)


def _gather_in_time(pairs: Floats, rows: Rows, duals: Floats, expired: Expired) -> tuple[Rows, Floats, int]:
    """Run :func:`_gather` for a few items k at a time.  Once time is up, rows of the other items are dropped."""
    n = len(pairs)
    step = max(1, _LOOK // (n * n + 1))
    firsts = range(0, n, step)
    bounds = np.searchsorted(rows[:, 3], [*firsts, n])
    parts, visited = [], 0
    for part, first in enumerate(firsts):
        here = slice(bounds[part], bounds[part + 1])
        kept, values, more = _gather(pairs, rows[here], duals[here], first, min(first + step, n))
        parts.append((kept, values))
        visited += more
        if expired():
            break
    if len(parts) == 1:
        return *parts[0], visited
    return np.concatenate([kept for kept, _ in parts]), np.concatenate([values for _, values in parts]), visited


def _sweep_in_time(pairs: Floats, rows: Rows, duals: Floats, sweeps: int, expired: Expired) -> None:
    """Run :func:`_sweep` with checks of the clock."""
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
def _compute_reduced(scores: Floats, rows: Rows, duals: Floats) -> Floats:
    """Return the reduced scores, recomputed from the scores."""
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
    """Return rows, dual values and the number of visited rows, for the items ``begin`` to ``end``, ordered by k.

    These are the rows with positive dual values, and violated rows, moved at once.  ``pairs`` has the reduced score and
    1 / ε of each pair i < j, shape (n, n, 2), updated in place.
    """
    n = len(pairs)
    flat = pairs.reshape(n * n, 2)
    known = np.zeros(n * n, dtype=np.int32)  # for each pair ij the last k that has a row, plus one
    near, place, x = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n)
    size = 1024 + len(rows) + len(rows) // 2
    kept, values = np.empty((size, 4), dtype=np.int32), np.empty(size)
    t, count, visited = 0, 0, 0
    for k in range(begin, end):
        # Reserve space for all rows of this k.
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
            visited += degree - p - 1
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
    return kept[:count], values[:count], visited


@njit(cache=True)
def _sweep(pairs: Floats, rows: Rows, duals: Floats, sweeps: int) -> None:
    """Project on all rows in turn.  Update ``pairs``, shape (n * n, 2).

    Neighbouring rows share pairs, so each projection would wait for the one before.  Distant rows alternate instead.
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
