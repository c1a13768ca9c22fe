"""Kernels on columns in compressed form: products with dual values, activities, reduced costs, sums, validation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from colgen.solvers.kernel_cache import njit


def _read(kind: types.Type) -> types.Array:
    return types.Array(kind, 1, "C", readonly=True)


FLOATS, NUMBERS, SIGNATURES = _read(types.float64), _read(types.int32), _read(types.uint64)
POSITIONS, FLAGS = _read(types.int64), _read(types.boolean)
FLOAT, INTEGER = types.float64, types.int64


def typed(*signatures: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function at its first call, for these argument types only.

    Numba itself compiles for stated types at import, which takes several seconds.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        kernel: Any = njit(cache=True, nogil=True)(function)
        if not hasattr(kernel, "compile"):  # NUMBA_DISABLE_JIT
            return function

        @functools.cache
        def compile_once() -> None:
            for signature in signatures:
                kernel.compile(signature)
            kernel.disable_compile()

        @functools.wraps(function)
        def call(*arguments: Any) -> Any:
            compile_once()
            return kernel(*arguments)

        return call

    return decorate


FIRST, SECOND = 1, 2
"""Flags returned by :func:`find_covered`: a nonzero entry in the first row, or in the second; 3 is both."""


@typed(types.uint8[::1](NUMBERS, NUMBERS, FLOATS, INTEGER, INTEGER))
def find_covered(starts, rows, values, first, second):  # type: ignore[no-untyped-def]
    """Return in which of two rows each column has a nonzero entry: a sum of :data:`FIRST` and :data:`SECOND`."""
    found = np.zeros(len(starts) - 1, dtype=np.uint8)
    for j in range(len(found)):
        for entry in range(starts[j], starts[j + 1]):
            if values[entry] != 0.0:
                if rows[entry] == first:
                    found[j] |= FIRST
                if rows[entry] == second:
                    found[j] |= SECOND
    return found


@typed(types.boolean(POSITIONS, POSITIONS, FLOATS, FLOATS, types.int32[::1], types.int32[::1]))
def copy_if_valid(starts, rows, values, costs, short_starts, short_rows):  # type: ignore[no-untyped-def]
    """Return whether columns are valid, and 32-bit copies of their starts and rows (meaningless if they are not).

    Valid starts rise from 0 to the number of entries.  Valid rows rise strictly within a column from at least 0.  Costs
    and values are finite.
    """
    entries = len(rows)
    if len(values) != entries or starts[0] != 0 or starts[len(costs)] != entries or entries > np.iinfo(np.int32).max:
        return False
    for j in range(len(costs)):
        begin, end = starts[j], starts[j + 1]
        if end < begin or end > entries or not np.isfinite(costs[j]):
            return False
        last = -1
        for entry in range(begin, end):
            row = rows[entry]
            if row <= last or row > np.iinfo(np.int32).max or not np.isfinite(values[entry]):
                return False
            last = row
            short_rows[entry] = row
        short_starts[j + 1] = end
    short_starts[0] = 0
    return True


@typed(types.Tuple((types.int64[::1], FLOAT[::1]))(POSITIONS, POSITIONS, FLOATS))
def sums_by_number(numbers, lengths, amounts):  # type: ignore[no-untyped-def]
    """Return the distinct numbers, ascending, and for each the sum of the amounts of the columns that list it.

    ``numbers`` are listed column by column; ``lengths`` counts them per column; ``amounts`` has one entry per column.
    """
    terms, entry = np.empty(len(numbers)), 0
    for j in range(len(lengths)):
        for _ in range(lengths[j]):
            terms[entry] = amounts[j]
            entry += 1
    found, sums, count = np.empty(len(numbers), dtype=np.int64), np.zeros(len(numbers)), 0
    for entry in np.argsort(numbers, kind="mergesort"):
        if count == 0 or numbers[entry] != found[count - 1]:
            found[count] = numbers[entry]
            count += 1
        sums[count - 1] += terms[entry]
    return found[:count].copy(), sums[:count].copy()


@typed(types.int64[::1](POSITIONS, POSITIONS, INTEGER, INTEGER))
def limit_overlap(starts, rows, overlap, most):  # type: ignore[no-untyped-def]
    """Return the positions of at most ``most`` columns of which at most ``overlap`` share a row.

    Each column in order is selected unless one of its rows is full.  Negative rows are ignored.
    """
    used = np.zeros(rows.max() + 1 if len(rows) else 0, dtype=np.int64)
    chosen, count = np.empty(min(most, len(starts) - 1), dtype=np.int64), 0
    for j in range(len(starts) - 1):
        if count == len(chosen):
            break
        full = False
        for row in rows[starts[j] : starts[j + 1]]:
            full = full or (row >= 0 and used[row] >= overlap)
        if full:
            continue
        for row in rows[starts[j] : starts[j + 1]]:
            if row >= 0:
                used[row] += 1
        chosen[count] = j
        count += 1
    return chosen[:count].copy()


_ROUNDING = 2.0**-50
"""Rounding error of numbers relative to the largest one."""


@typed(FLOAT[::1](FLOATS, FLOATS, FLOATS, FLOAT))
def signed_duals(duals, lower, upper, sign):  # type: ignore[no-untyped-def]
    """Return the dual values with wrong signs, left by a solver's tolerance, set to zero.

    A dual value has the wrong sign if its row has no side in that direction.
    """
    found = np.empty(len(duals))
    for i in range(len(duals)):
        pull = sign * duals[i]
        if (pull > 0.0 and lower[i] == -np.inf) or (pull < 0.0 and upper[i] == np.inf):
            pull = 0.0
        found[i] = sign * pull
    return found


@typed(FLOAT(FLOATS, FLOATS))
def largest_product(numbers, sizes):  # type: ignore[no-untyped-def]
    """Return max_i |numbers_i| sizes_i, or 0 if empty."""
    largest = 0.0
    for i in range(len(numbers)):
        largest = max(largest, abs(numbers[i]) * sizes[i])
    return largest


@typed(types.void(types.int16[::1], NUMBERS, FLOATS, FLOAT, FLOAT))
def update_ages(ages, active, reduced_costs, sign, least):  # type: ignore[no-untyped-def]
    """Increase the age of active columns with reduced cost above ``least``; reset that of the others."""
    for k in range(len(active)):
        j = active[k]
        if not sign * reduced_costs[k] > least:
            ages[j] = 0
        elif ages[j] < np.iinfo(np.int16).max:
            ages[j] += 1


@typed(types.boolean(FLOATS, FLAGS, FLOAT))
def are_integral(values, integer, room):  # type: ignore[no-untyped-def]
    """Return whether each value that must be integer is within ``room`` of an integer."""
    for j in range(len(values)):
        if integer[j] and not abs(values[j] - np.rint(values[j])) <= room:
            return False
    return True


@typed(types.Tuple((types.int64[::1], FLOAT[::1]))(FLOATS, FLOATS, FLOATS, FLAGS, FLOAT))
def find_used(values, lower, upper, integer, share):  # type: ignore[no-untyped-def]
    """Return the positions of nonzero values, and these values clipped to their bounds (the lower one has precedence).

    ``values`` are those of the first columns.  Values up to ``share`` count as zero in the columns that ``integer``
    marks.  The tolerance of other columns is relative to their largest value.  It is at most ``share`` unless rounding
    errors of large values exceed it.
    """
    least, inside = 0.0, np.empty(len(values))
    for j in range(len(values)):
        inside[j] = min(max(values[j], lower[j]), max(lower[j], upper[j]))
        if not integer[j]:
            least = max(least, abs(inside[j]))
    nothing = max(share * min(least, 1.0), _ROUNDING * least)
    places, count = np.empty(len(values), dtype=np.int64), 0
    for j in range(len(values)):
        if abs(inside[j]) > (share if integer[j] else nothing):
            places[count] = j
            count += 1
    return places[:count].copy(), inside[places[:count]]


@typed(FLOAT[::1](NUMBERS, NUMBERS, FLOATS, FLOATS))
def products(starts, rows, values, duals):  # type: ignore[no-untyped-def]
    """Return πᵀa_j of each column; rows without a dual value count as zero."""
    found = np.empty(len(starts) - 1)
    known = len(duals)
    for j in range(len(found)):
        total = 0.0
        for entry in range(starts[j], starts[j + 1]):
            if rows[entry] < known:
                total += values[entry] * duals[rows[entry]]
        found[j] = total
    return found


@typed(FLOAT[::1](NUMBERS, NUMBERS, FLOATS, FLOATS, INTEGER))
def activities(starts, rows, values, amounts, num_rows):  # type: ignore[no-untyped-def]
    """Return Σ_j a_ij x_j of each row, for the amounts x of the first columns."""
    found = np.zeros(num_rows)
    for j in range(len(amounts)):
        if amounts[j] != 0.0:
            for entry in range(starts[j], starts[j + 1]):
                found[rows[entry]] += values[entry] * amounts[j]
    return found


@typed(FLOAT[::1](FLOATS, FLOATS, FLOATS, NUMBERS, FLOAT, INTEGER, INTEGER))
def least_reduced_costs(costs, earned, upper, origins, sign, first, count):  # type: ignore[no-untyped-def]
    """Return the least ``sign * (cost - earned)`` per pricing problem, over its columns without an upper bound.

    Origins below ``first`` belong to no pricing problem.  With ``count`` = 1 all others belong to the single one.
    """
    least = np.full(count, np.inf)
    for j in range(len(costs)):
        if upper[j] == np.inf and origins[j] >= first:
            whose = 0 if count == 1 else origins[j]
            reduced = sign * (costs[j] - earned[j])
            if whose < count and reduced < least[whose]:
                least[whose] = reduced
    return least


@typed(types.UniTuple(FLOAT, 2)(FLOATS, FLOATS, FLOATS, FLOAT))
def side_terms(duals, lower, upper, sign):  # type: ignore[no-untyped-def]
    """Return πᵀr as if minimising, with each row's side that its dual value applies to, and the sum of absolute terms.

    Rounding errors are relative to that sum, since terms may cancel.
    """
    sides, sizes = 0.0, 0.0
    for i in range(len(duals)):
        pull = sign * duals[i]
        if pull != 0.0:
            term = pull * (lower[i] if pull > 0.0 else upper[i])
            sides += term
            sizes += abs(term)
    return sides, sizes


@typed(FLOAT(FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, NUMBERS, INTEGER, FLOAT, FLOAT, types.UniTuple(FLOAT, 3)))
def box_terms(costs, earned, lower, upper, weights, origins, template, sign, theta, allowed):  # type: ignore[no-untyped-def]
    """Return Σ_j min over l ≤ x_j ≤ u of (c_j - θ earned_j) x_j, as if minimising, for columns without an oracle.

    These are variables of the template (those with origin ``template``), columns with an upper bound, and the part of
    any column due to its lower bound.  If x_j has no bound in the direction of its minimum, its reduced cost must
    vanish.  Otherwise the sum is -inf.

    It vanishes within the tolerances ``allowed`` = (clean, share, rounding).  It is at most ``clean`` times the
    column's weight, at least 1, and at most ``share`` of the terms of the difference.  If something is subtracted from
    the cost, ``rounding`` times the weight is allowed.
    """
    clean, share, rounding = allowed
    boxes = 0.0
    for j in range(len(costs)):
        mine = upper[j] != np.inf or origins[j] == template
        if (mine and upper[j] != 0.0) or lower[j] != 0.0:
            reduced = sign * (costs[j] - theta * earned[j])
            end = upper[j] if mine and reduced < 0.0 else lower[j]
            if not np.isinf(end):
                boxes += reduced * end
            else:
                weight, taken = max(1.0, weights[j]), abs(theta * earned[j])
                slack = min(clean * weight, share * (abs(costs[j]) + taken))
                if abs(reduced) > (max(slack, rounding * weight) if taken > 0.0 else slack):
                    return -np.inf
    return boxes
