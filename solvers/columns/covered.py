"""Which columns have entries in given rows: one pass over the entries.

A kernel: arrays are of the kinds of :mod:`solvers.columns.kinds`, all contiguous; nothing is checked.
"""

from __future__ import annotations

import numpy as np
from numba import types

from solvers.columns.kinds import FLOATS, NUMBERS, WHOLE, typed

FIRST, SECOND = 1, 2
"""What :func:`covered_of_two` says of a column with an entry in the first row, or in the second; 3 is both."""


@typed(types.uint8[::1](NUMBERS, NUMBERS, FLOATS, WHOLE, WHOLE))
def covered_of_two(starts, rows, values, first, second):  # type: ignore[no-untyped-def]
    """Which of two rows each column has an entry in that is not zero: a sum of :data:`FIRST` and :data:`SECOND`."""
    found = np.zeros(len(starts) - 1, dtype=np.uint8)
    for j in range(len(found)):
        for entry in range(starts[j], starts[j + 1]):
            if values[entry] != 0.0:
                if rows[entry] == first:
                    found[j] |= FIRST
                if rows[entry] == second:
                    found[j] |= SECOND
    return found
