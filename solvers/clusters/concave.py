r"""A bound on subsets of largest value that counts negative scores too: the maximum of a concave function.

    f(x) = value + Σ_j g_j x_j + ½ Σ_jk w_jk x_j x_k        over x in {0, 1}^m

For every diagonal D ≥ 0 the function Σ_j (g_j + ½ D_j) x_j + ½ xᵀ(W - D)x has the same values there, for x_j² = x_j.
With W - D negative semidefinite it is concave, and each point y of the cube bounds it by its tangent,

    f(x) ≤ φ(y) + Σ_j max(v_j (1 - y_j), -v_j y_j)        v = ∇φ(y).

Shares of positive scores (:mod:`colgen.solvers.clusters.subset`) know nothing of negative ones: where scores are dense
and of both signs, this bound is a small part of theirs.  A subset of the items needs no other D.

*Point.*  Coordinate ascent from the point of the node above, O(m²) a sweep: until the tangent proves enough, or φ(y)
itself is more than that, so that no point can.

*Curvature.*  The best D is the dual solution of the semidefinite relaxation, with s = 2x - 1 and one item more for the
linear terms.  The mixing method finds nearly optimal vectors, and D from their lengths; what they lack to feasibility
is added to all of D, and tried by a Cholesky factorization.  O(m² r) a sweep over vectors of r entries.

A score may be raised before there is a D, and nothing is proved that does not hold: one that only says that two items
are apart would ask for a large D.

Sources: A. Billionnet, S. Elloumi, *Using a mixed integer quadratic programming solver for the unconstrained quadratic
0-1 problem*, Mathematical Programming 109 (2007), for the concave function; P.-W. Wang, W.-C. Chang, J. Z. Kolter, *The
mixing method: low-rank coordinate descent for semidefinite programming with diagonal constraints* (2017).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_RANK = 8
"""Entries of a vector."""

_MIXED = 8
"""Sweeps over the vectors."""

_SWEEPS = 4
"""Of coordinate ascent at a node."""

_MOVED = 1e-3
"""A coordinate that would move by less stays where it is."""

_LACKING = 1e-3
"""What is tried first to be added to D, relative to its largest entry; then more and more of it."""

_PIVOT = 1e-9
"""Pivots of the factorization are larger than this, relative to the same: far beyond its rounding errors."""

_ROUNDED = 1e-13
"""What rounding may take from the bound, relative to the sum of its terms."""


@njit(cache=True)
def not_far_below(scores: Floats) -> Floats:
    """The scores, raised where they are further below zero than the largest is above."""
    low = 0.0
    for i in range(len(scores)):
        for j in range(i):
            low = max(low, scores[i, j])
    return np.maximum(scores, -low)


@njit(cache=True)
def curve(scores: Floats, candidates: Ints, m: int, gain: Floats, curvature: Floats) -> int:
    """Find D for some items; how many entries have been visited.

    Parameters
    ----------
    scores
        w, symmetric with zero diagonal, shape (n, n).
    candidates, m
        The items are the first so many.
    gain
        g, shape (n,): the D that is best depends on it.
    curvature
        D of these items is written here, shape (n,).
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
    """M with ½ sᵀMs = f(x) but for a constant, s = 2x - 1 and 1 behind the last item."""
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
    """Turn each vector to where it gains most; ``length`` is that of what it is turned to."""
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
    """Whether D - W has a Cholesky factorization, with ``more`` added to D."""
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
    """A bound on f, sought only so far as it might be ``wanted`` or less.

    Parameters
    ----------
    scores, candidates, m, gain, curvature
        As for :func:`curve`.
    value
        Of no item.
    point
        y to start from, and where it has been moved to, shape (n,).
    attracted
        Room for Wy, shape (n,).
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
