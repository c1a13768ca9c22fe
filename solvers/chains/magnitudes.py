"""Magnitudes of the numbers in arrays, for tests of overflow and for scales of rounding errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit
from colgen.solvers.vectors import row_argmax, row_least


def largest(array: NDArray[Any]) -> float:
    """Return the largest magnitude of an array in C order, ignoring -inf.

    The result is 0 without numbers, inf if an entry is +inf, and NaN if one is NaN.
    """
    # Magnitudes are ordered like their bits: maxima of integers become vector instructions.
    kind = np.uint32 if array.dtype == np.float32 else np.uint64
    infinity = array.dtype.type(np.inf).view(kind)
    bits = _largest(array.reshape(-1).view(kind), infinity, ~kind(0) >> kind(1), array.dtype.type(-np.inf).view(kind))
    return math.nan if bits > infinity else float(kind(bits).view(array.dtype))


@njit(cache=True)
def _largest(bits: NDArray[Any], infinity: Any, magnitude: Any, forbidden: Any) -> Any:
    most = infinity ^ infinity
    for k in range(len(bits)):
        most = max(most, most if bits[k] == forbidden else bits[k] & magnitude)
    return most


@njit(cache=True)
def find_extremes(
    scores: NDArray[Any], first: int, end: int, tops: NDArray[np.float64], places: NDArray[np.int32], lowest: Any
) -> None:
    """Find the largest number in each of rows ``first`` to ``end - 1``, and how far below it a row's smallest may be.

    ``scores`` may contain -inf.  ``tops`` receives each row's largest number, 0 if all are -inf, and ``places`` its
    first position.  ``lowest`` has two numbers.  Each is lowered to the least value of a row's smallest number minus
    its largest: the first over all numbers including -inf, the second over finite ones.
    """
    num = scores.shape[1]
    for i in range(first, end):
        places[i] = row_argmax(scores, i)
        most, least = scores[i, places[i]], row_least(scores, i)
        tops[i] = most if most > -np.inf else 0.0
        finite = least
        if least == -np.inf:
            finite = most
            for k in range(num):
                x = scores[i, k]
                finite = x if -np.inf < x < finite else finite
        if most > -np.inf:
            lowest[0] = min(lowest[0], np.float64(least) - tops[i])
            lowest[1] = min(lowest[1], np.float64(finite) - tops[i])
        else:
            lowest[0] = -np.inf


def low_step(*parts: NDArray[Any]) -> float:
    """Return the lowest decile of the positive differences between the best entry of a row and the others; 0 if none.

    Not the median: in small tables half of the entries may be penalties, which are unlike the other differences.
    ``parts`` are arrays of shape (rows, entries), float32 or float64; entries of -inf are ignored.
    """
    counts = sum(part.size for part in parts)
    steps, count = np.empty(counts), 0
    for part in parts:
        count = _steps(part, steps, count)
    if not count:
        return 0.0
    tenth = (count - 1) // 10
    return float(np.partition(steps[:count], tenth)[tenth])


@njit(cache=True)
def _steps(part: NDArray[Any], steps: NDArray[np.float64], count: int) -> int:
    for row in range(len(part)):
        best = part[row, 0]
        for k in range(1, part.shape[1]):
            best = max(best, part[row, k])
        for k in range(part.shape[1]):
            if part[row, k] < best and part[row, k] > -np.inf:
                steps[count] = best - part[row, k]
                count += 1
    return count
