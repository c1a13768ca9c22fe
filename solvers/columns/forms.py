"""Columns in compressed form, looked at in one pass: whether they are as they must be.

A kernel: nothing is checked but what it says.
"""

from __future__ import annotations

import numpy as np
from numba import types

from solvers.columns.kinds import FLOATS, POSITIONS, typed


@typed(types.boolean(POSITIONS, POSITIONS, FLOATS, FLOATS, types.int32[::1], types.int32[::1]))
def in_form(starts, rows, values, costs, short_starts, short_rows):  # type: ignore[no-untyped-def]
    """Whether columns are in order, and copies of their starts and rows as numbers of 32 bits.

    In order are starts that rise from 0 to the number of entries, rows from 0 that rise strictly within a column, and
    costs and values that are finite.  If they are not, the copies mean nothing.
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
