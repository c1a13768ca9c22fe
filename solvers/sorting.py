"""Sorting and selection inside kernels."""

from __future__ import annotations

from typing import Any

from colgen.solvers.kernel_cache import njit


@njit(cache=True, nogil=True, borrows=True)
def order_by(keys: Any, number: int, order: Any) -> None:
    """Write into ``order`` the permutation that sorts the first ``number`` keys, by Shell's method.

    Numba's ``argsort`` takes two seconds to compile.  The sort is stable for small ``number`` only.
    """
    for k in range(number):
        order[k] = k
    gap = 1
    while 3 * gap < number >> 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, number):
            mine = order[k]
            place = k
            while place >= gap and keys[order[place - gap]] > keys[mine]:
                order[place] = order[place - gap]
                place -= gap
            order[place] = mine
        gap //= 3


@njit(cache=True, nogil=True, borrows=True)
def median(values: Any, number: int) -> float:
    """Return the median of the first ``number`` ≥ 1 values by Hoare's selection, which reorders them.

    Numba's ``sort`` takes a second to compile.
    """
    half, low, high = number // 2, 0, number - 1
    while low < high:
        pivot, i, j = values[half], low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i, j = i + 1, j - 1
        if j < half:
            low = i
        if half < i:
            high = j
    upper: float = values[half]
    if number % 2:
        return upper
    lower = values[0]
    for k in range(1, half):
        lower = max(lower, values[k])
    middle: float = (lower + upper) / 2.0
    return middle
