r"""Upper bound on the value of any subset, by a concave function, which also uses negative scores.

    f(x) = value + Σ_j g_j x_j + ½ Σ_jk w_jk x_j x_k        over x in {0, 1}^m

Since x_j² = x_j, every diagonal D ≥ 0 gives another function with the same values on {0, 1}^m:
Σ_j (g_j + ½ D_j) x_j + ½ xᵀ(W - D)x.  It is concave if W - D is negative semidefinite.  Its tangent at any point y of
the cube is then a bound:

    f(x) ≤ φ(y) + Σ_j max(v_j (1 - y_j), -v_j y_j)        v = ∇φ(y).

Bounds from shares of positive scores (:mod:`colgen.solvers.clusters.subset`) ignore negative scores.  This bound is far
smaller where scores are dense and of both signs.  The same D is valid for every subset of the items.

*Point.*  Coordinate ascent from the parent node's point, O(m²) per sweep.  It stops when the tangent bound is low
enough.  It also stops when φ(y) exceeds the target, because no point can then reach it.

*Curvature.*  The best D is the dual solution of the semidefinite relaxation in s = 2x - 1, with one extra item for the
linear terms.  The mixing method finds nearly optimal vectors; their lengths give D.  A multiple of the identity is
added until a Cholesky factorization succeeds.  O(m² r) per sweep over vectors of r entries.

Scores may be raised before D is computed; the bound stays valid.  A very negative score that only keeps two items
apart would require a large D.

Sources: A. Billionnet, S. Elloumi, *Using a mixed integer quadratic programming solver for the unconstrained quadratic
0-1 problem*, Mathematical Programming 109 (2007), for the concave function.  P.-W. Wang, W.-C. Chang, J. Z. Kolter,
*The mixing method: low-rank coordinate descent for semidefinite programming with diagonal constraints* (2017).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_RANK = 8
"""Entries per vector."""

_MIXED = 8
"""Sweeps of the mixing method over the vectors."""

_SWEEPS = 4
"""Sweeps of coordinate ascent per node."""

_MOVED = 1e-3
"""Smaller moves of a coordinate are skipped."""

_LACKING = 1e-3
"""First multiple of the identity added to D, relative to the largest entry of D; increased until it suffices."""

_PIVOT = 1e-9
"""Smallest pivot of the factorization, relative to the largest entry of D: far above rounding errors."""

_ROUNDED = 1e-13
"""Allowance for rounding in the bound, relative to the sum of its terms."""


@njit(cache=True)
def raise_low_scores(scores: Floats) -> Floats:
    """Return the scores with a lower limit of minus the largest score."""
    low = 0.0
    for i in range(len(scores)):
        for j in range(i):
            low = max(low, scores[i, j])
    return np.maximum(scores, -low)


@njit(cache=True)
def compute_curvature(scores: Floats, candidates: Ints, m: int, gain: Floats, curvature: Floats) -> int:
    """Compute D for the first ``m`` of ``candidates``.  Return the number of entries visited.

    D depends on g, which is ``gain``.  Output is ``curvature``, shape (n,), at these items.  ``scores`` is symmetric
    with a zero diagonal, shape (n, n).
    """
    quadratic = _homogeneous(scores, candidates, m, gain)
    vectors = np.empty((m + 1, _RANK))
    drawn = 12345
    for i in range(m + 1):
        for a in range(_RANK):
            drawn = (drawn * 1103515245 + 12345) % 2147483648
            vectors[i, a] = drawn / 2147483648.0 - 0.5
    length = np.zeros(m + 1)
    for _ in range(_MIXED):
        _mix(quadratic, vectors, length)
    largest = 0.0
    for a in range(m):
        largest = max(largest, length[a])
    largest = 4.0 * largest if largest > 0.0 else 1e-300
    lacking, tries = _LACKING * largest, 1
    while not _is_definite(scores, candidates, m, 4.0 * length, lacking, _PIVOT * largest):
        lacking *= 1.6
        tries += 1
    for a in range(m):
        curvature[candidates[a]] = 4.0 * length[a] + lacking + 2.0 * _PIVOT * largest
    return _MIXED * m * m + tries * m * m * m // 6


@njit(cache=True, no_cpython_wrapper=True)
def _homogeneous(scores: Floats, candidates: Ints, m: int, gain: Floats) -> Floats:
    """Return M with ½ sᵀMs = f(x) up to a constant, where s = 2x - 1 followed by an entry 1."""
    quadratic = np.zeros((m + 1, m + 1))
    for a in range(m):
        row, total = scores[candidates[a]], 0.0
        for b in range(m):
            quadratic[a, b] = 0.25 * row[candidates[b]]
            total += row[candidates[b]]
        quadratic[a, m] = quadratic[m, a] = 0.5 * (gain[candidates[a]] + 0.5 * total)
    return quadratic


@njit(cache=True, no_cpython_wrapper=True)
def _mix(quadratic: Floats, vectors: Floats, length: Floats) -> None:
    """Turn each vector to the direction of largest gain, and store the length of that direction."""
    size, rank = vectors.shape
    towards = np.empty(rank)
    for i in range(size):
        for a in range(rank):
            towards[a] = 0.0
        for j in range(size):
            weight = quadratic[i, j]
            if weight != 0.0:
                for a in range(rank):
                    towards[a] += weight * vectors[j, a]
        square = 0.0
        for a in range(rank):
            square += towards[a] * towards[a]
        length[i] = np.sqrt(square)
        if length[i] > 1e-300:
            for a in range(rank):
                vectors[i, a] = towards[a] / length[i]


@njit(cache=True, no_cpython_wrapper=True)
def _is_definite(scores: Floats, candidates: Ints, m: int, diagonal: Floats, more: float, pivot: float) -> bool:
    """Return whether D - W has a Cholesky factorization after ``more`` is added to D."""
    factor = np.empty((m, m))
    for a in range(m):
        row = scores[candidates[a]]
        for b in range(a):
            factor[a, b] = -row[candidates[b]]
        factor[a, a] = diagonal[a] + more
        for b in range(a + 1):
            rest = factor[a, b]
            for c in range(b):
                rest -= factor[a, c] * factor[b, c]
            if b < a:
                factor[a, b] = rest / factor[b, b]
            elif rest <= pivot:
                return False
            else:
                factor[a, a] = np.sqrt(rest)
    return True


@njit(cache=True, borrows=True)
def concave_bound(
    scores: Floats,
    candidates: Ints,
    m: int,
    gain: Floats,
    curvature: Floats,
    value: float,
    wanted: float,
    point: Floats,
    attracted: Floats,
) -> float:
    """Return an upper bound on f, tightened only while it may still fall to ``wanted``.

    ``value`` is the value without any of the items.  ``point`` is the start point y, moved in place.  ``attracted`` is
    a workspace for Wy.  Other arguments are as for :func:`compute_curvature`.
    """
    for a in range(m):
        i = candidates[a]
        row, total = scores[i], 0.0
        for b in range(m):
            total += row[candidates[b]] * point[candidates[b]]
        attracted[i] = total
    sweep = 0
    while True:
        reached, above, terms = value, 0.0, abs(value)
        for a in range(m):
            i = candidates[a]
            y, curved = point[i], curvature[i]
            linear = gain[i] + 0.5 * curved
            reached += y * (linear + 0.5 * (attracted[i] - curved * y))
            slope = linear + attracted[i] - curved * y
            above += slope * (1.0 - y) if slope > 0.0 else -slope * y
            terms += abs(gain[i]) + curved + abs(attracted[i])
        bound = reached + above + _ROUNDED * terms
        if bound <= wanted or reached > wanted or sweep == _SWEEPS:
            return bound
        sweep += 1
        for a in range(m):
            i = candidates[a]
            curved = curvature[i]
            moved = min(max((gain[i] + 0.5 * curved + attracted[i]) / curved, 0.0), 1.0) - point[i]
            if abs(moved) > _MOVED:
                point[i] += moved
                row = scores[i]
                for b in range(m):
                    attracted[candidates[b]] += row[candidates[b]] * moved
