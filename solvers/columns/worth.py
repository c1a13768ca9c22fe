"""What columns are worth, in one pass each: products, activities, the least reduced costs, the terms of a bound.

Kernels: an array is one of float64, row numbers and origins of int32, all contiguous; nothing is checked.
"""

from __future__ import annotations

import numpy as np
from numba import types

from solvers.columns.kinds import FLOAT, FLOATS, NUMBERS, WHOLE, typed


@typed(FLOAT[::1](NUMBERS, NUMBERS, FLOATS, FLOATS))
def products(starts, rows, values, duals):  # type: ignore[no-untyped-def]
    """πᵀa_j of each column; rows that there are no dual values of count as zero."""
    found = np.empty(len(starts) - 1)
    known = len(duals)
    for j in range(len(found)):
        total = 0.0
        for entry in range(starts[j], starts[j + 1]):
            if rows[entry] < known:
                total += values[entry] * duals[rows[entry]]
        found[j] = total
    return found


@typed(FLOAT[::1](NUMBERS, NUMBERS, FLOATS, FLOATS, WHOLE))
def activities(starts, rows, values, amounts, num_rows):  # type: ignore[no-untyped-def]
    """Σ_j a_ij x_j of each row, for the amounts x of the first columns."""
    found = np.zeros(num_rows)
    for j in range(len(amounts)):
        if amounts[j] != 0.0:
            for entry in range(starts[j], starts[j + 1]):
                found[rows[entry]] += values[entry] * amounts[j]
    return found


@typed(FLOAT[::1](FLOATS, FLOATS, FLOATS, NUMBERS, FLOAT, WHOLE, WHOLE))
def least_reduced_costs(costs, earned, upper, origins, sign, first, count):  # type: ignore[no-untyped-def]
    """The least ``sign * (cost - earned)`` of the columns without an upper bound that came from each of ``count``.

    Origins below ``first`` are nobody's; with a single pricing problem all others are its own.
    """
    least = np.full(count, np.inf)
    for j in range(len(costs)):
        if upper[j] == np.inf and origins[j] >= first:
            whose = 0 if count == 1 else origins[j]
            reduced = sign * (costs[j] - earned[j])
            if whose < count and reduced < least[whose]:
                least[whose] = reduced
    return least


@typed(
    types.UniTuple(FLOAT, 3)(
        FLOATS,
        FLOATS,
        FLOATS,
        FLOATS,
        FLOATS,
        FLOATS,
        FLOATS,
        FLOATS,
        NUMBERS,
        FLOAT,
        FLOAT,
        FLOAT,
        FLOAT,
        FLOAT,
        WHOLE,
    )
)
def bound_terms(  # type: ignore[no-untyped-def]
    duals,
    row_lower,
    row_upper,
    costs,
    earned,
    lower,
    upper,
    weights,
    origins,
    sign,
    theta,
    clean,
    share,
    rounding,
    template,
):
    """What a dual bound is made of besides what oracles state, as if minimising.

    Returns
    -------
    tuple
        πᵀr, of each row the side that its dual value speaks of.

        What these terms are in size, none of which cancels another: rounding is relative to it.

        Σ_j min over l ≤ x_j ≤ u of (c_j - θ earned_j) x_j over columns that no oracle answers for: variables of the
        template, columns with an upper bound, and what all columns have that have a lower one.  Where x_j has no bound
        on the side that it is driven to, its reduced cost must vanish: but for ``clean`` times its weight, at least 1,
        and no more than ``share`` of what it is the difference of.  If something is taken off its cost, ``rounding``
        times its weight may be left.  If it does not vanish, then nothing bounds the sum: -inf.
    """
    sides, sizes = 0.0, 0.0
    for i in range(len(duals)):
        pull = sign * duals[i]
        if pull != 0.0:
            term = pull * (row_lower[i] if pull > 0.0 else row_upper[i])
            sides += term
            sizes += abs(term)
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
                    return sides, sizes, -np.inf
    return sides, sizes, boxes
