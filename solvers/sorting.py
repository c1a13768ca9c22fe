"""Sorting, for kernels."""

from __future__ import annotations

from typing import Any

from solvers.kernel_cache import njit


@njit(cache=True, nogil=True)
def order_by(keys: Any, number: int, order: Any) -> None:
    """Write into ``order`` what sorts the first ``number`` keys, by Shell's method.

    numba's own ``argsort`` takes two seconds to compile.  Equal keys stay in their order while there are few of them.
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
