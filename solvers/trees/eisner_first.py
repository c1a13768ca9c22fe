r"""First-order projective parsing: the best tree of a sum of arc scores, O(n³) (Eisner, 1996).

Positions 0 to n, of which 0 is the root; N = n + 1.  Two kinds of items, both with their head at one end:

    complete    C[h, e]   h and its descendants up to e        C[h, e] = max_m I[h, m] + C[m, e]
    incomplete  I[h, m]   an arc and what lies beneath it      I[h, m] = arc[h, m] + max_r C[h, r] + C[m, r ± 1]

A word gathers its modifiers to the left and to the right independently, so that every tree has one derivation.  If
the root is to have a single modifier then the arc from it admits r = 0 alone.

Chart of 3 N² numbers: C by (h, e), I by (h, m), and C once more by (e, h), which keeps all inner loops contiguous.

Source: J. Eisner, *Three new probabilistic models for dependency parsing: an exploration*, COLING 1996.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.literals import whole

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEG = -1e30
"""Score of what is impossible: finite, so that sums and differences of it stay numbers."""

_IMPOSSIBLE = 0.5 * NEG


@njit(cache=True, fastmath=True)
def inside_first(arc: Floats, single_root: bool, chart: Floats, first: int, end: int) -> float:
    """Fill the chart; the value of the best tree once all of it is full, below ``NEG / 2`` if there is none.

    Parameters
    ----------
    arc
        Shape (N, N), by head and modifier; ``NEG`` where an arc is forbidden.
    chart
        At least 3 N² numbers, overwritten.
    first, end
        Widths of the spans that are filled in: first to end - 1, of 1 to N - 1.  All narrower ones have been.
    """
    size = len(arc)
    square = size * size
    complete = chart[:square].reshape(size, size)
    incomplete = chart[square : 2 * square].reshape(size, size)
    by_end = chart[2 * square : 3 * square].reshape(size, size)
    for i in range(size):
        complete[i, i] = by_end[i, i] = 0.0
    for width in range(first, end):
        for i in range(size - width):
            j = i + width
            best = complete[i, i] + complete[j, i + 1]
            if i > 0 or not single_root:
                for r in range(i + 1, j):
                    value = complete[i, r] + complete[j, r + 1]
                    if value > best:
                        best = value
            incomplete[i, j] = best + arc[i, j]
            best_right = NEG
            for m in range(i + 1, j + 1):
                value = incomplete[i, m] + by_end[j, m]
                if value > best_right:
                    best_right = value
            complete[i, j] = by_end[j, i] = best_right
            if i > 0:
                incomplete[j, i] = best + arc[j, i]
                best_left = NEG
                for m in range(i, j):
                    value = incomplete[j, m] + by_end[i, m]
                    if value > best_left:
                        best_left = value
                complete[j, i] = by_end[i, j] = best_left
    return float(complete[0, size - 1])


@njit(cache=True, fastmath=True)
def outside_first(
    arc: Floats, single_root: bool, chart: Floats, outside: Floats, best: Floats, first: int, end: int
) -> None:
    """Write the value of the best tree with each arc, shape (N, N), from a filled chart; ``NEG`` where there is none.

    ``outside``, as long as the chart, is overwritten: the value of the best tree around each item.

    The widths end - 1 down to first of the spans are gone over; all wider ones have been.
    """
    size = len(arc)
    square = size * size
    complete = chart[:square].reshape(size, size)
    incomplete = chart[square : 2 * square].reshape(size, size)
    around = outside[:square].reshape(size, size)
    around_arc = outside[square : 2 * square].reshape(size, size)
    if end == size:
        outside[: 2 * square] = NEG
        best[:] = NEG
        around[0, size - 1] = 0.0
    for width in range(end - 1, first - 1, -1):
        for i in range(size - width):
            j = i + width
            for turn in range(2 if i > 0 else 1):
                h, e, step = (i, j, 1) if turn == 0 else (j, i, -1)
                rest = around[h, e]
                if rest > _IMPOSSIBLE:
                    around_arc[h, e] = max(around_arc[h, e], rest)
                    for m in range(h + step, e, step):
                        around_arc[h, m] = max(around_arc[h, m], rest + complete[m, e])
                        around[m, e] = max(around[m, e], rest + incomplete[h, m])
                value = incomplete[h, e] + around_arc[h, e]
                if value < _IMPOSSIBLE:
                    continue
                best[h, e] = value
                rest = around_arc[h, e] + arc[h, e]
                around[j, i + 1] = max(around[j, i + 1], rest)
                if i > 0 or not single_root:
                    for r in range(i + 1, j):
                        around[i, r] = max(around[i, r], rest + complete[j, r + 1])
                        around[j, r + 1] = max(around[j, r + 1], rest + complete[i, r])


@njit(cache=True)
def ways_complete(
    h: int, e: int, size: int, arcs: int, rest: int, score: Floats, first: Ints, second: Ints
) -> tuple[int, int, int]:
    """The ways to build a complete item: C[h, e] = max_m I[h, m] + C[m, e], as :func:`expand_first` gives them.

    Parameters
    ----------
    arcs, rest
        Items I[h, 0] and C[0, 0], from which the others are counted.
    """
    count = 0
    lowest, highest = (h + 1, e) if e > h else (e, h - 1)
    for m in range(lowest, highest + 1):
        score[count] = 0.0
        first[count] = arcs + m
        second[count] = rest + m * size + e if m != e else -1
        count += 1
    return count, -1, -1


@njit(cache=True)
def ways_halves(
    low: int, high: int, end: int, left: int, right: int, value: float, score: Floats, first: Ints, second: Ints
) -> int:
    """How many ways there are to cover two words and what lies between: value + C[low, r] + C[high, r + 1], r < end.

    Parameters
    ----------
    left, right
        Items C[low, 0] and C[high, 0], from which the others are counted.
    """
    for r in range(low, end):
        score[r - low] = value
        first[r - low] = left + r if r != low else -1
        second[r - low] = right + r + 1 if r + 1 != high else -1
    return end - low


@njit(cache=True)
def expand_first(
    item: int, arc: Floats, single_root: bool, score: Floats, first: Ints, second: Ints
) -> tuple[int, int, int]:
    """The ways to build an item: their number, and the arc (head, modifier) that the item stands for, or (-1, -1).

    Way k scores ``score[k]`` plus the values of the items ``first[k]`` and ``second[k]``, -1 where there is none.
    """
    size = len(arc)
    square = size * size
    if item < square:
        h, e = item // size, item % size
        return ways_complete(h, e, size, square + h * size, whole(0), score, first, second)
    h, m = (item - square) // size, (item - square) % size
    if m > h:
        end = m if h > 0 or not single_root else 1
        count = ways_halves(h, m, end, h * size, m * size, arc[h, m], score, first, second)
    else:
        count = ways_halves(m, h, h, m * size, h * size, arc[h, m], score, second, first)
    return count, h, m
