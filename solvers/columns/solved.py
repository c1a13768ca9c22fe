"""What a master looks at after each solve, in one pass each: dual values, reduced costs, whole values.

Kernels: arrays are of the kinds of :mod:`solvers.columns.kinds`, all contiguous; nothing is checked.
"""

from __future__ import annotations

import numpy as np
from numba import types

from solvers.columns.kinds import FLAGS, FLOAT, FLOATS, NUMBERS, typed

_ROUNDING = 2.0**-50
"""Of a large number, what rounding leaves of another."""


@typed(FLOAT[::1](FLOATS, FLOATS, FLOATS, FLOAT))
def signed_duals(duals, lower, upper, sign):  # type: ignore[no-untyped-def]
    """Dual values without the wrong signs that a solver's tolerance leaves: no lower side, no pull upwards."""
    found = np.empty(len(duals))
    for i in range(len(duals)):
        pull = sign * duals[i]
        if (pull > 0.0 and lower[i] == -np.inf) or (pull < 0.0 and upper[i] == np.inf):
            pull = 0.0
        found[i] = sign * pull
    return found


@typed(FLOAT(FLOATS, FLOATS))
def largest_product(numbers, sizes):  # type: ignore[no-untyped-def]
    """max_i |numbers_i| sizes_i, 0 where there are none."""
    largest = 0.0
    for i in range(len(numbers)):
        largest = max(largest, abs(numbers[i]) * sizes[i])
    return largest


@typed(types.void(types.int16[::1], NUMBERS, FLOATS, FLOAT, FLOAT))
def grow_older(ages, active, reduced_costs, sign, least):  # type: ignore[no-untyped-def]
    """Count one more solve for the active columns that are priced out by more than ``least``; others begin anew."""
    for k in range(len(active)):
        j = active[k]
        if not sign * reduced_costs[k] > least:
            ages[j] = 0
        elif ages[j] < np.iinfo(np.int16).max:
            ages[j] += 1


@typed(types.boolean(FLOATS, FLAGS, FLOAT))
def are_whole(values, whole, room):  # type: ignore[no-untyped-def]
    """Whether no value that must be whole misses a whole number by more than ``room``."""
    for j in range(len(values)):
        if whole[j] and not abs(values[j] - np.rint(values[j])) <= room:
            return False
    return True


@typed(types.Tuple((types.int64[::1], FLOAT[::1]))(FLOATS, FLOATS, FLOATS, FLAGS, FLOAT))
def used(values, lower, upper, whole, share):  # type: ignore[no-untyped-def]
    """Places of the values that are not zero, and these, within their bounds: a lower one counts above an upper one.

    Parameters
    ----------
    values
        Of the first columns.
    whole
        Which columns are counted: of such a one ``share`` is nothing.  Others have the size of their own numbers, and
        of nothing else; beside large ones that is no more than what is counted, and what rounding leaves of those.
    """
    least, inside = 0.0, np.empty(len(values))
    for j in range(len(values)):
        inside[j] = min(max(values[j], lower[j]), max(lower[j], upper[j]))
        if not whole[j]:
            least = max(least, abs(inside[j]))
    nothing = max(share * min(least, 1.0), _ROUNDING * least)
    places, count = np.empty(len(values), dtype=np.int64), 0
    for j in range(len(values)):
        if abs(inside[j]) > (share if whole[j] else nothing):
            places[count] = j
            count += 1
    return places[:count].copy(), inside[places[:count]]
