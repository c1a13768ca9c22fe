"""Sparse updates of weights, and the sums that give the average of the weights over all steps.

The average after s steps is w minus the sum of (step number × change) over s.  This costs one addition per change.  A
step is built from *marks*.  A mark is twice an index, plus 1 if the index counts +1.  Otherwise the index counts -1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit

Ints = NDArray[np.int64]


@njit(cache=True)
def settle_marks(marks: Ints, count: int) -> int:
    """Sum the marks of each index.  Return the number of indices with a non-zero sum.

    Index and sum are written to the front of ``marks``, two entries each.
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
    """Return the squared norm of summed marks."""
    norm = 0.0
    for k in range(kept):
        norm += float(marks[2 * k + 1]) ** 2
    return norm


@njit(cache=True)
def step_of_marks(
    weights: NDArray[Any], sums: NDArray[Any], marks: Ints, kept: int, length: float, number: float
) -> None:
    """Add ``length`` times the summed marks to the weights, and ``number`` times that to the sums."""
    for k in range(kept):
        change = length * float(marks[2 * k + 1])
        weights[marks[2 * k]] += change
        sums[marks[2 * k]] += number * change
