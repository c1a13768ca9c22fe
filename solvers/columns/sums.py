"""What columns add up to by number: one pass over all that they state.

A kernel: nothing is checked.
"""

from __future__ import annotations

import numpy as np
from numba import types

from solvers.columns.kinds import FLOAT, FLOATS, POSITIONS, typed


@typed(types.Tuple((types.int64[::1], FLOAT[::1]))(POSITIONS, POSITIONS, FLOATS))
def sums_by_number(numbers, lengths, amounts):  # type: ignore[no-untyped-def]
    """The numbers that there are, rising, and of each the sum of the amounts of the columns that state it.

    Parameters
    ----------
    numbers
        Of all columns, one column's after the other's.
    lengths, amounts
        How many numbers each column states, and its amount.
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
