r"""Bounds on clusterings from dual values of two-partition inequalities: *stars*, a centre k and a set T of others.

    max Σ_{i<j} w_ij x_ij
    subject to  Σ_{t in T} x_kt - Σ_{s<t in T} x_st ≤ 1   for each item k and set T of others     [λ_kT ≥ 0]
                0 ≤ x_ij ≤ 1

Stars of two items are the triangle inequalities (:mod:`colgen.solvers.clusters.triangle_dual`).  Those alone leave
sparse graphs half of every edge: at x = ½ on the edges and 0 elsewhere none is violated.  A star of three edges forbids
that, and larger ones more.  With the reduced scores r = w - Σ a λ every λ ≥ 0 proves that no clustering scores more
than B(λ) = Σ λ + Σ_{i<j} max(0, r_ij), and decides pairs as triangles do.

*Ascent.*  Hildreth's projections on the rows, with the kinks of B rounded off, as for triangles.  Violated stars are
looked for greedily where x is now (:mod:`colgen.solvers.clusters.two_partition` has the same for linear programs),
together with the most violated triangle of each pair; rows whose dual value is zero are let go.  O(n² a) for a star
that is grown by a items, and a sweep takes O(Σ |T|²).

Sources: M. Grötschel and Y. Wakabayashi, *Facets of the clique partitioning polytope*, Mathematical Programming 47
(1990), for the inequalities; those of the triangles' module for the ascent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats, as_indices
from colgen.solvers.clusters.transitivity import violated_triangles
from colgen.solvers.clusters.triangle_dual import Rows, TriangleBound, near_clustering, step_sizes
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MEMBERS = 8
"""Of T, at most."""

_STARTS = 20
"""Stars grown for a centre at one point."""

_FIRST, _LAST = 2, 11
"""How often ε has been halved at first, and at last."""

_POINTS = 16
"""So often at most are rows looked for at one ε: a look finds few of them, and they are worth more than small ε."""

_TAIL = 0.003
"""And until a look closes less than this share of the gap."""

_SWEEPS = 20
"""After each look."""

_OVER = 1.5
"""A row moves so many times as far as its projection; the ascent converges for anything between zero and two."""

_VIOLATED = 1e-2
"""Rows are looked for that are violated by more than this."""

_GAIN = 1e-6
"""A star grows by items that add more."""

_STALLED = 0.05
"""The ascent ends when halving ε closes less than this share of the gap: what is left is the relaxation's own."""

_LOOK = 1 << 22
"""Between two looks at the clock stars are grown for so many items, times all items."""

_VISITS = 1 << 22
"""So many entries of rows are looked at between two looks at the clock."""

_WORK = 1_500_000_000
"""The ascent ends after looking at so many: ten seconds."""


def star_bound(scores: Floats, labels: Ints, *, seed: int = 0, expired: Expired = never) -> TriangleBound:
    """Bound the scores of all clusterings by dual ascent over stars, triangles among them.

    Parameters
    ----------
    scores
        w, symmetric with zero diagonal, shape (n, n).
    labels
        The number of each item's cluster in a good clustering, 0 to n - 1; better ones are looked for near the
        ascent's x.
    seed
        Of the local search.
    expired
        Asked several times a second; the ascent ends, with what it has proved, when the answer is yes.

    Returns
    -------
    TriangleBound
        Its rows are stars, as :func:`proved_by` takes them.
    """
    scores = np.ascontiguousarray(as_floats(scores, "scores", shape=("n", "n")), dtype=np.float64)
    labels = as_indices(labels, "labels", upper=len(scores), shape=(len(scores),))
    size = step_sizes(scores)
    stars, duals = np.empty((0, MEMBERS + 1), dtype=np.int32), np.empty(0)
    best = evaluated(scores, stars, duals, labels)
    reduced, work, known = scores, 0, set[bytes]()
    for level in range(_FIRST, _LAST + 1):
        steepness = 2.0**level / size
        before = best.bound
        for point in range(_POINTS):
            if best.closed or work > _WORK or expired():
                return best
            x = np.clip(0.5 + reduced * steepness, 0.0, 1.0)
            stars, duals = with_violated(x, stars, duals, expired)
            entries = int(((stars >= 0).sum(axis=1) ** 2).sum()) + 1
            at_once = max(1, _VISITS // entries)
            values = reduced.copy()
            for done in range(0, _SWEEPS, at_once):
                if expired():
                    break
                sweep(values, steepness, stars, duals, min(at_once, _SWEEPS - done))
            work += entries * _SWEEPS
            stars, duals = stars[duals > 0.0], duals[duals > 0.0]
            found = evaluated(scores, stars, duals, best.labels)  # without the rounding errors of many steps
            reduced = found.reduced
            gained = best.bound - found.bound
            if gained > 0.0:
                best = found._replace(labels=best.labels, score=best.score)
            if point and gained <= _TAIL * (best.bound - best.score):
                break
        near = near_clustering(scores, np.clip(0.5 + reduced * steepness, 0.0, 1.0), seed, expired, known)
        if near is not None and near[1] > best.score:
            best = best._replace(labels=near[0], score=near[1])
        if before - best.bound <= _STALLED * (best.bound - best.score):
            break
    return best


def proved_by(scores: Floats, stars: Rows, duals: Floats, labels: Ints) -> TriangleBound:
    """What dual values of stars prove, recomputed from the scores.

    Parameters
    ----------
    scores
        w, symmetric with zero diagonal, shape (n, n).
    stars
        Of each inequality the centre and the items of T, ascending, behind them -1; a row each.
    duals
        Negative ones count as zero.
    labels
        The number of each item's cluster in a clustering.

    Raises
    ------
    ValueError
        If a row is no star.
    """
    scores = np.ascontiguousarray(as_floats(scores, "scores", shape=("n", "n")), dtype=np.float64)
    n = len(scores)
    stars = np.asarray(stars, dtype=np.int32)
    duals = np.maximum(as_floats(duals, "duals", shape=(len(stars),)), 0.0)
    labels = as_indices(labels, "labels", upper=n, shape=(n,))
    if stars.ndim != 2 or stars.shape[1] < 3 or not _are_stars(stars, n):
        raise ValueError("stars: expected a centre and two or more other items a row, ascending, behind them -1")
    return evaluated(scores, stars, duals, labels)


def evaluated(scores: Floats, stars: Rows, duals: Floats, labels: Ints) -> TriangleBound:
    """What :func:`proved_by` says, of rows that are stars and dual values that are not negative."""
    reduced = _reduced(scores, stars, duals)
    bound = float(duals.sum()) + float(np.triu(np.maximum(reduced, 0.0), 1).sum())
    score = float(scores[labels[:, None] == labels[None, :]].sum()) / 2.0
    return TriangleBound(bound, labels, score, reduced, stars, duals)


def with_violated(x: Floats, stars: Rows, duals: Floats, expired: Expired) -> tuple[Rows, Floats]:
    """The rows so far, and those that are violated at x; in a hurry stars of some centres alone."""
    triangles, _ = violated_triangles(x, _VIOLATED)
    parts: list[Rows] = []
    step = max(1, _LOOK // (len(x) ** 2 + 1))
    for first in range(0, len(x), step):
        if expired():
            break
        parts.append(_grown(x, first, min(first + step, len(x)), _VIOLATED, _STARTS))
    small = np.full((len(triangles), MEMBERS + 1), -1, dtype=np.int32)
    small[:, 0], small[:, 1:3] = triangles[:, 2], triangles[:, :2]
    every = np.concatenate([stars, *parts, small])
    # The first of rows alike is kept.  Two that only look alike, by their hash, cost the later one its place: a row
    # that is left out weakens nothing.
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
def _reduced(scores: Floats, stars: Rows, duals: Floats) -> Floats:
    """Reduced scores from scratch."""
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
    """What a row's dual value takes from its pairs, when it grows by a step; of pairs i < j."""
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
    """Project on all rows, one after the other; ``reduced`` and ``duals`` are kept up to date, of pairs i < j."""
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
def _grown(x: Floats, begin: int, end: int, tolerance: float, starts: int) -> Rows:
    """Violated stars, grown from several first items of each centre by the item that adds most, while it adds."""
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
