"""One linear program with many right-hand sides and bounds, by the dual simplex method from a shared basis.

    min qᵀy    subject to    W y = r,    l ≤ y ≤ u,    rᴸ ≤ r ≤ rᵁ

Sides and bounds differ between the programs, but a basis that is dual feasible for one is dual feasible for all.  Each
program starts from that basis with a dense inverse, so the kernel suits up to a few hundred rows.  The results are
guesses: callers check points and dual values.

References
----------
A. Koberstein, *The dual simplex method, techniques for a fast and stable implementation*, University of Paderborn
(2005); R. J.-B. Wets, *Large scale linear programming techniques in stochastic programming*, Numerical Techniques for
Stochastic Optimization (1988), on bases that scenarios share.
"""

from __future__ import annotations

import numpy as np

from colgen.solvers.kernels import inner, kernel

OPTIMAL, INFEASIBLE, FAILED, UNCHANGED = 0, 1, 2, 3
"""Result of a program; a failed one exceeds the limit of pivots or has an infinite nonbasic bound, and the first basis
is optimal for an unchanged one."""

_FEASIBLE = 1e-9
"""Largest violation of a bound, relative to the largest value of the program."""

_PIVOT = 1e-7
"""Smallest pivot element, relative to the largest of its row."""


@inner
def _place_nonbasic(matrix, bounds, number, state, point, work):  # type: ignore[no-untyped-def]
    """Set the nonbasic variables to bounds, and ``work`` to their part of ``-W y + r``; return False if one has none.

    Return False too if a bound is infinite that the sign of a reduced cost requires.
    """
    starts, rows, data = matrix
    lower, upper, low, high = bounds
    _, position, at_upper, _ = state
    count, height = len(starts) - 1, len(work)
    own = number if len(lower) > 1 else 0
    for i in range(height):
        work[i] = 0.0
    for j in range(count + height):
        if position[j] >= 0:
            continue
        if j < count:
            below, above = lower[own, j], upper[own, j]
        else:
            below, above = low[number, j - count], high[number, j - count]
        value = above if at_upper[j] else below
        if not np.isfinite(value):
            if np.isfinite(below) or np.isfinite(above):
                return False
            value = 0.0
        point[j] = value
        if value == 0.0:
            continue
        if j < count:
            for entry in range(starts[j], starts[j + 1]):
                work[rows[entry]] -= data[entry] * value
        else:
            work[j - count] += value
    return True


@inner
def _leaving(bounds, number, count, basic, point):  # type: ignore[no-untyped-def]
    """Return the position of the basic variable that violates a bound most, or -1, and its signed violation."""
    lower, upper, low, high = bounds
    own = number if len(lower) > 1 else 0
    largest = 0.0
    for value in point:
        largest = max(largest, abs(value))
    room, chosen, signed = _FEASIBLE * largest, -1, 0.0
    for p in range(len(basic)):
        j = basic[p]
        if j < count:
            below, above = lower[own, j], upper[own, j]
        else:
            below, above = low[number, j - count], high[number, j - count]
        if point[j] < below - room and below - point[j] > abs(signed):
            chosen, signed = p, point[j] - below
        elif point[j] > above + room and point[j] - above > abs(signed):
            chosen, signed = p, point[j] - above
    return chosen, signed


@inner
def _row_of(matrix, inverse, p, position, alpha):  # type: ignore[no-untyped-def]
    """Set ``alpha`` to row ``p`` of the tableau over nonbasic variables; return the largest entry."""
    starts, rows, data = matrix
    count, height = len(starts) - 1, len(inverse)
    largest = 0.0
    for j in range(count):
        total = 0.0
        if position[j] < 0:
            for entry in range(starts[j], starts[j + 1]):
                total += inverse[p, rows[entry]] * data[entry]
        alpha[j] = total
        largest = max(largest, abs(total))
    for i in range(height):
        alpha[count + i] = -inverse[p, i] if position[count + i] < 0 else 0.0
        largest = max(largest, abs(alpha[count + i]))
    return largest


@inner
def _entering(bounds, number, count, state, alpha, signed, least):  # type: ignore[no-untyped-def]
    """Return the nonbasic variable of the smallest dual ratio with the largest pivot among ties, or -1."""
    lower, upper, low, high = bounds
    _, position, at_upper, reduced = state
    own = number if len(lower) > 1 else 0
    chosen, best = -1, np.inf
    for j in range(len(alpha)):
        if position[j] >= 0 or abs(alpha[j]) <= least:
            continue
        if j < count:
            below, above = lower[own, j], upper[own, j]
        else:
            below, above = low[number, j - count], high[number, j - count]
        if below == above:
            continue
        # A violated upper bound needs a smaller basic variable: its row is alpha times the entering one, negated.
        grows = (alpha[j] > 0.0) == (signed > 0.0)
        is_free = not np.isfinite(below) and not np.isfinite(above)
        if not is_free and grows == bool(at_upper[j]):
            continue
        ratio = 0.0 if is_free else abs(reduced[j]) / abs(alpha[j])
        if ratio < best or (ratio == best and abs(alpha[j]) > abs(alpha[chosen])):
            chosen, best = j, ratio
    return chosen


@inner
def _column_of(matrix, inverse, q, column):  # type: ignore[no-untyped-def]
    """Set ``column`` to the inverse times the column of variable ``q``."""
    starts, rows, data = matrix
    count = len(starts) - 1
    for i in range(len(inverse)):
        total = 0.0
        if q < count:
            for entry in range(starts[q], starts[q + 1]):
                total += inverse[i, rows[entry]] * data[entry]
        else:
            total = -inverse[i, q - count]
        column[i] = total


@inner
def _update(inverse, column, p):  # type: ignore[no-untyped-def]
    """Update the inverse for a new column at position ``p``."""
    height = len(inverse)
    for k in range(height):
        inverse[p, k] /= column[p]
    for i in range(height):
        factor = column[i]
        if i != p and factor != 0.0:
            for k in range(height):
                inverse[i, k] -= factor * inverse[p, k]


@inner
def _pivot(matrix, inverse, p, q, signed, state, alpha, point, column):  # type: ignore[no-untyped-def]
    """Exchange the variable at position ``p`` for ``q``: values, reduced costs and inverse."""
    basic, position, at_upper, reduced = state
    _column_of(matrix, inverse, q, column)
    step, out = signed / column[p], basic[p]
    for i in range(len(inverse)):
        point[basic[i]] -= step * column[i]
    point[q] += step
    ratio = reduced[q] / alpha[q]
    for j in range(len(alpha)):
        if position[j] < 0:
            reduced[j] -= ratio * alpha[j]
    reduced[q], reduced[out] = 0.0, -ratio
    _update(inverse, column, p)
    basic[p] = q
    position[q], position[out] = p, -1
    at_upper[out] = signed > 0.0


@kernel
def invert(matrix, chosen, basic, inverse, column):  # type: ignore[no-untyped-def]
    """Compute the inverse of a basis of variables ``chosen``, and their positions; return the error of the inverse.

    ``basic`` receives the variable of each position, ``column`` is a work array of the height.  The error is infinite
    if the basis is singular.
    """
    count, height = len(matrix[0]) - 1, len(inverse)
    for i in range(height):
        basic[i] = -1
        for k in range(height):
            inverse[i, k] = -1.0 if i == k else 0.0
    for q in chosen:
        if q >= count:
            basic[q - count] = q
    for q in chosen:
        if q >= count:
            continue
        _column_of(matrix, inverse, q, column)
        p, largest = -1, 0.0
        for i in range(height):
            if basic[i] < 0 and abs(column[i]) > largest:
                p, largest = i, abs(column[i])
        if p < 0:
            return np.inf
        _update(inverse, column, p)
        basic[p] = q
    error = 0.0
    for p in range(height):
        _column_of(matrix, inverse, basic[p], column)
        for i in range(height):
            error = max(error, abs(column[i] - (1.0 if i == p else 0.0)))
    return error


@kernel
def reoptimize(matrix, bounds, numbers, start, state, inverses, limit, work, results):  # type: ignore[no-untyped-def]
    """Solve the programs ``numbers`` from one basis.

    ``matrix`` is W by columns: starts, rows, entries.  ``bounds`` are l, u (one row per program, or one for all), and
    rᴸ, rᵁ.  Variables are y, then r.  ``start`` and ``state`` are bases: the basic variable of each position, the
    position of each variable or -1, whether nonbasic ones are at their upper bounds, and reduced costs.  ``inverses``
    are the inverse of the basis, and space for another one.  ``work`` are four arrays of sizes (variables), (rows),
    (rows), (variables).  ``results`` per program: status, point, dual values of the rows, basic variables, variables
    at upper bounds.  Dual values of an infeasible program are a ray.
    """
    point, column, total, alpha = work
    status, points, duals, basics, uppers = results
    basic, position, at_upper, reduced = state
    inverse, own = inverses
    count, height = len(matrix[0]) - 1, len(inverse)
    for number in numbers:
        for j in range(count + height):
            position[j], at_upper[j], reduced[j] = start[1][j], start[2][j], start[3][j]
        for i in range(height):
            basic[i] = start[0][i]
        status[number] = FAILED
        if not _place_nonbasic(matrix, bounds, number, state, point, total):
            continue
        for i in range(height):
            value = 0.0
            for k in range(height):
                value += inverse[i, k] * total[k]
            point[basic[i]] = value
        for pivots in range(limit):
            p, signed = _leaving(bounds, number, count, basic, point)
            if p < 0:
                status[number] = OPTIMAL if pivots else UNCHANGED
                break
            if pivots == 0:
                for i in range(height):
                    for k in range(height):
                        own[i, k] = inverse[i, k]
            largest = _row_of(matrix, own, p, position, alpha)
            q = _entering(bounds, number, count, state, alpha, signed, _PIVOT * largest)
            if q < 0:
                status[number] = INFEASIBLE
                for i in range(height):
                    duals[number, i] = own[p, i] if signed > 0.0 else -own[p, i]
                break
            _pivot(matrix, own, p, q, signed, state, alpha, point, column)
        if status[number] == OPTIMAL or status[number] == UNCHANGED:
            for i in range(height):
                duals[number, i] = reduced[count + i]
                basics[number, i] = basic[i]
            for j in range(count):
                points[number, j] = point[j]
            for j in range(count + height):
                uppers[number, j] = at_upper[j]
