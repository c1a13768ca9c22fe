"""Steps that change few of many weights, and the sums from which the average of the weights over all steps follows.

The average after s steps is w less the sum of (number of the step × change) over s: it costs one addition per change.
A step is put together from *marks*, twice a place and 1 more where the place counts 1; else it counts -1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit

Ints = NDArray[np.int64]


@njit(cache=True)
def settle_marks(marks: Ints, count: int) -> int:
    """Add up the marks of each place; return how many places are left.

    They are written to the beginning, two entries each: the place, and the sum of its marks, which is not zero.
    """
    ordered = np.sort(marks[:count])
    kept, k = 0, 0
    while k < count:
        place, total = ordered[k] >> 1, np.int64(0)
        while k < count and ordered[k] >> 1 == place:
            total += 2 * (ordered[k] & 1) - 1
            k += 1
        if total:
            marks[2 * kept], marks[2 * kept + 1] = place, total
            kept += 1
    return kept


@njit(cache=True)
def norm_of_marks(marks: Ints, kept: int) -> float:
    """The squared norm of marks that were added up."""
    norm = 0.0
    for k in range(kept):
        norm += float(marks[2 * k + 1]) ** 2
    return norm


@njit(cache=True)
def step_of_marks(
    weights: NDArray[Any], sums: NDArray[Any], marks: Ints, kept: int, length: float, number: float
) -> None:
    """Add marks that were added up, times a length, to the weights; the same times the step's number to the sums."""
    for k in range(kept):
        change = length * float(marks[2 * k + 1])
        weights[marks[2 * k]] += change
        sums[marks[2 * k]] += number * change
