r"""Bounds on clusterings from dual values of two-partition inequalities over *stars*: a centre k and a set T of others.

    max Σ_{i<j} w_ij x_ij
    subject to  Σ_{t in T} x_kt - Σ_{s<t in T} x_st ≤ 1   for each item k and set T of others     [λ_kT ≥ 0]
                0 ≤ x_ij ≤ 1

Stars with two items in T are the triangle inequalities (:mod:`colgen.solvers.clusters.triangle_dual`).  Triangles alone
are weak on sparse graphs: x = ½ on all edges and 0 elsewhere violates none.  A star of three edges forbids that point,
and larger stars are stronger still.  Let r = w - Σ a λ be the reduced scores.  Every λ ≥ 0 proves that no clustering
scores more than B(λ) = Σ λ + Σ_{i<j} max(0, r_ij).  Decisions on pairs follow as for triangles.

*Ascent.*  Hildreth's projections on the rows, with the kinks of B smoothed, as for triangles.  Violated stars are
grown greedily at the current x (:mod:`colgen.solvers.clusters.two_partition` does the same for linear programs).  The
most violated triangle of each pair is added, and rows with dual value zero are dropped.  Growing a star by a items
takes O(n² a), and a sweep takes O(Σ |T|²).

Sources: M. Grötschel and Y. Wakabayashi, *Facets of the clique partitioning polytope*, Mathematical Programming 47
(1990), for the inequalities; the sources of the triangle module for the ascent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats, as_indices
from colgen.solvers.clusters.clustering import clustering_score
from colgen.solvers.clusters.transitivity import violated_triangles
from colgen.solvers.clusters.triangle_dual import Rows, TriangleBound, find_near_clustering, step_sizes
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MEMBERS = 8
"""Maximum size of T."""

_STARTS = 20
"""Stars grown per centre and point."""

_FIRST, _LAST = 2, 11
"""First and last number of halvings of ε."""

_POINTS = 16
"""Maximum number of separation rounds per ε: each finds few rows, and rows help more than a small ε."""

_TAIL = 0.003
"""The last separation round at an ε closes less than this fraction of the gap."""

_SWEEPS = 20
"""Sweeps per separation round."""

_OVER = 1.5
"""Relaxation factor of the projections; the ascent converges for any factor between zero and two."""

_VIOLATED = 1e-2
"""Separated rows are violated by more than this."""

_GAIN = 1e-6
"""An item is added to a star if it adds more than this."""

_STALLED = 0.05
"""The ascent ends when halving ε closes less than this fraction of the gap; the rest is the relaxation's own gap."""

_LOOK = 1 << 22
"""Work limit between two checks of the clock while growing stars, in centres times squared number of items."""

_VISITS = 1 << 22
"""Number of row entries visited between two checks of the clock."""

_WORK = 1_500_000_000
"""Maximum number of row entries visited by the ascent: about ten seconds."""


def star_bound(scores: Floats, labels: Ints, *, seed: int = 0, expired: Expired = never) -> TriangleBound:
    """Bound the scores of all clusterings by dual ascent over stars and triangles, the rows of the result.

    ``labels`` are the cluster numbers, 0 to n - 1, of a good clustering.  Better ones are sought near the ascent's x,
    by a local search with this ``seed``.  ``expired`` is checked several times per second; once True, the bound so far
    is returned.
    """
    scores = np.ascontiguousarray(as_floats(scores, "scores", shape=("n", "n")), dtype=np.float64)
    labels = as_indices(labels, "labels", upper=len(scores), shape=(len(scores),))
    size = step_sizes(scores)
    stars, duals = np.empty((0, MEMBERS + 1), dtype=np.int32), np.empty(0)
    best = evaluate(scores, stars, duals, labels)
    reduced, work, known = scores, 0, set[bytes]()
    for level in range(_FIRST, _LAST + 1):
        steepness = 2.0**level / size
        before = best.bound
        for point in range(_POINTS):
            if best.closed or work > _WORK or expired():
                return best
            x = np.clip(0.5 + reduced * steepness, 0.0, 1.0)
            stars, duals = add_violated(x, stars, duals, expired)
            entries = int(((stars >= 0).sum(axis=1) ** 2).sum()) + 1
            at_once = max(1, _VISITS // entries)
            values = reduced.copy()
            for done in range(0, _SWEEPS, at_once):
                if expired():
                    break
                sweep(values, steepness, stars, duals, min(at_once, _SWEEPS - done))
            work += entries * _SWEEPS
            stars, duals = stars[duals > 0.0], duals[duals > 0.0]
            found = evaluate(scores, stars, duals, best.labels)  # without the rounding errors of many steps
            reduced = found.reduced
            gained = best.bound - found.bound
            if gained > 0.0:
                best = found._replace(labels=best.labels, score=best.score)
            if point and gained <= _TAIL * (best.bound - best.score):
                break
        near = find_near_clustering(scores, np.clip(0.5 + reduced * steepness, 0.0, 1.0), seed, expired, known)
        if near is not None and near[1] > best.score:
            best = best._replace(labels=near[0], score=near[1])
        if before - best.bound <= _STALLED * (best.bound - best.score):
            break
    return best


def recompute_bound(scores: Floats, stars: Rows, duals: Floats, labels: Ints) -> TriangleBound:
    """Return the bound that dual values of stars prove, recomputed from the scores.

    A row of ``stars`` has the centre, the items of T ascending, and -1 as padding.  Negative ``duals`` count as zero.
    ``labels`` are cluster numbers.

    Raises
    ------
    ValueError
        If a row is not a star.
    """
    scores = np.ascontiguousarray(as_floats(scores, "scores", shape=("n", "n")), dtype=np.float64)
    n = len(scores)
    stars = np.asarray(stars, dtype=np.int32)
    duals = np.maximum(as_floats(duals, "duals", shape=(len(stars),)), 0.0)
    labels = as_indices(labels, "labels", upper=n, shape=(n,))
    if stars.ndim != 2 or stars.shape[1] < 3 or not _are_stars(stars, n):
        raise ValueError("stars: expected rows of a centre and at least two other items, ascending, padded with -1")
    return evaluate(scores, stars, duals, labels)


def evaluate(scores: Floats, stars: Rows, duals: Floats, labels: Ints) -> TriangleBound:
    """Return the bound of :func:`recompute_bound` for valid stars and non-negative dual values, without checks."""
    reduced = _compute_reduced(scores, stars, duals)
    bound = float(duals.sum()) + float(np.triu(np.maximum(reduced, 0.0), 1).sum())
    return TriangleBound(bound, labels, clustering_score(scores, labels), reduced, stars, duals)


def add_violated(x: Floats, stars: Rows, duals: Floats, expired: Expired) -> tuple[Rows, Floats]:
    """Return the rows so far and those violated at x.  Once time is up, only stars of some centres are added."""
    triangles, _ = violated_triangles(x, _VIOLATED)
    parts: list[Rows] = []
    step = max(1, _LOOK // (len(x) ** 2 + 1))
    for first in range(0, len(x), step):
        if expired():
            break
        parts.append(_grow(x, first, min(first + step, len(x)), _VIOLATED, _STARTS))
    small = np.full((len(triangles), MEMBERS + 1), -1, dtype=np.int32)
    small[:, 0], small[:, 1:3] = triangles[:, 2], triangles[:, :2]
    every = np.concatenate([stars, *parts, small])
    # The first of equal rows is kept.  Two different rows with equal hashes lose the later one, which is harmless:
    # the bound stays valid without it.
    _, kept = np.unique(_hashes(every), return_index=True)
    kept.sort()
    return every[kept], np.concatenate([duals, np.zeros(len(every) - len(stars))])[kept]


# --- kernels ---------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _are_stars(stars: Rows, n: int) -> bool:
    for row in stars:
        if not 0 <= row[0] < n or row[2] < 0:
            return False
        for a in range(1, len(row)):
            if not -1 <= row[a] < n or row[a] == row[0]:
                return False
            if a > 1 and row[a] >= 0 and row[a] <= row[a - 1]:
                return False
        if row[1] < 0:
            return False
    return True


@njit(cache=True)
def _hashes(stars: Rows) -> NDArray[np.uint64]:
    found = np.empty(len(stars), dtype=np.uint64)
    for t in range(len(stars)):
        value = np.uint64(1469598103934665603)
        for item in stars[t]:
            value = (value ^ np.uint64(item + 2)) * np.uint64(1099511628211)
            value ^= value >> np.uint64(29)
        found[t] = value
    return found


@njit(cache=True)
def _compute_reduced(scores: Floats, stars: Rows, duals: Floats) -> Floats:
    """Return the reduced scores, recomputed from the scores."""
    n = len(scores)
    reduced = scores.copy()
    for t in range(len(stars)):
        if duals[t] > 0.0:
            _move(reduced, stars[t], duals[t])
    for i in range(n):
        for j in range(i):
            reduced[i, j] = reduced[j, i]
    return reduced


@inner
def _move(reduced: Floats, star: NDArray[np.int32], step: float) -> None:
    """Update the reduced scores of the pairs i < j of a row whose dual value grows by ``step``."""
    k = star[0]
    for a in range(1, len(star)):
        t = star[a]
        if t < 0:
            return
        reduced[min(k, t), max(k, t)] -= step
        for b in range(1, a):
            reduced[star[b], t] += step


@njit(cache=True, borrows=True)
def sweep(reduced: Floats, steepness: Floats, stars: Rows, duals: Floats, sweeps: int) -> None:
    """Project on all rows in turn.  Update ``duals`` and, for pairs i < j, ``reduced``."""
    for _ in range(sweeps):
        for row in range(len(stars)):
            star = stars[row]
            k, violation, weight = star[0], -1.0, 0.0
            for a in range(1, len(star)):
                t = star[a]
                if t < 0:
                    break
                i, j = min(k, t), max(k, t)
                steep = steepness[i, j]
                violation += min(max(0.5 + reduced[i, j] * steep, 0.0), 1.0)
                weight += steep
                for b in range(1, a):
                    steep = steepness[star[b], t]
                    violation -= min(max(0.5 + reduced[star[b], t] * steep, 0.0), 1.0)
                    weight += steep
            before = duals[row]
            duals[row] = max(before + _OVER * violation / weight, 0.0)
            if duals[row] != before:
                _move(reduced, star, duals[row] - before)


@njit(cache=True)
def _grow(x: Floats, begin: int, end: int, tolerance: float, starts: int) -> Rows:
    """Return violated stars, grown greedily from several first items of each centre."""
    n = len(x)
    found = np.full(((end - begin) * starts, MEMBERS + 1), -1, dtype=np.int32)
    near, chosen = np.empty(n, dtype=np.int64), np.empty(MEMBERS, dtype=np.int64)
    count = 0
    for k in range(begin, end):
        m = 0
        for j in range(n):
            if j != k and x[k, j] > tolerance:
                near[m] = j
                m += 1
        if m < 2:
            continue
        order = np.argsort(-x[k, near[:m]])
        here = min(starts, m)
        for start in range(here):
            t = near[order[start * m // here]]
            gain = x[k].copy()
            taken, total = 0, 0.0
            while t >= 0:
                total += gain[t]
                chosen[taken] = t
                taken += 1
                added = t
                t = -1
                if taken < MEMBERS:
                    gain[added] = 0.0
                    best = _GAIN
                    for q in range(m):
                        j = near[q]
                        if j != added:
                            gain[j] -= x[added, j]
                            if gain[j] > best:
                                best, t = gain[j], j
            if taken >= 2 and total > 1.0 + tolerance:
                found[count, 0] = k
                found[count, 1 : taken + 1] = np.sort(chosen[:taken])
                count += 1
    return found[:count]
