r"""Projective parsing with scores of adjacent siblings, O(n³) (McDonald and Pereira, 2006).

Besides the items of :mod:`solvers.trees.eisner_first` there are sibling items S[s, m]: two neighbouring modifiers of
one head and what lies between them.  With sib[h, m, s] the score of m after its sibling s, s = h if m is the first,

    S[s, m] = max_r C[s, r] + C[m, r + 1]        (s < m; the same item for both orders)
    I[h, m] = arc[h, m] + max(C[m, h ± 1] + sib[h, m, h],  max_s I[h, s] + S[s, m] + sib[h, m, s])
    C[h, e] = max_m I[h, m] + C[m, e]

Chart of 4 N² numbers: C by (h, e), I by (h, m), S by (s, m) and by (m, s), C by (e, h).

Source: R. McDonald, F. Pereira, *Online learning of approximate dependency parsing algorithms*, EACL 2006.
"""

from __future__ import annotations

from numba import njit

from solvers.literals import whole
from solvers.trees.eisner_first import NEG, Floats, Ints, ways_complete, ways_halves


@njit(cache=True, fastmath=True)
def inside_sibling(arc: Floats, sib: Floats, single_root: bool, chart: Floats, first: int, end: int) -> float:
    """Fill the chart; the value of the best tree once all of it is full, below ``NEG / 2`` if there is none.

    Parameters
    ----------
    arc, sib
        Shapes (N, N), by head and modifier, and (N, N, N), by head, modifier and nearer sibling.
    chart
        At least 4 N² numbers, overwritten.
    first, end
        Widths of the spans that are filled in: first to end - 1, of 1 to N - 1.  All narrower ones have been.
    """
    size = len(arc)
    square = size * size
    complete = chart[:square].reshape(size, size)
    incomplete = chart[square : 2 * square].reshape(size, size)
    sibling = chart[2 * square : 3 * square].reshape(size, size)
    by_end = chart[3 * square : 4 * square].reshape(size, size)
    for i in range(size):
        complete[i, i] = by_end[i, i] = 0.0
    for width in range(first, end):
        for i in range(size - width):
            j = i + width
            if i > 0:
                best = NEG
                for r in range(i, j):
                    value = complete[i, r] + complete[j, r + 1]
                    if value > best:
                        best = value
                sibling[i, j] = sibling[j, i] = best
            best = complete[j, i + 1] + sib[i, j, i]
            if i > 0 or not single_root:
                for s in range(i + 1, j):
                    value = incomplete[i, s] + sibling[j, s] + sib[i, j, s]
                    if value > best:
                        best = value
            incomplete[i, j] = best + arc[i, j]
            best = NEG
            for m in range(i + 1, j + 1):
                value = incomplete[i, m] + by_end[j, m]
                if value > best:
                    best = value
            complete[i, j] = by_end[j, i] = best
            if i > 0:
                best = complete[i, j - 1] + sib[j, i, j]
                for s in range(i + 1, j):
                    value = incomplete[j, s] + sibling[i, s] + sib[j, i, s]
                    if value > best:
                        best = value
                incomplete[j, i] = best + arc[j, i]
                best = NEG
                for m in range(i, j):
                    value = incomplete[j, m] + by_end[i, m]
                    if value > best:
                        best = value
                complete[j, i] = by_end[i, j] = best
    return float(complete[0, size - 1])


@njit(cache=True)
def expand_sibling(
    item: int, arc: Floats, sib: Floats, single_root: bool, score: Floats, first: Ints, second: Ints
) -> tuple[int, int, int]:
    """The ways to build an item, as :func:`solvers.trees.eisner_first.expand_first` gives them."""
    size = len(arc)
    square = size * size
    if item < square:
        h, e = item // size, item % size
        return ways_complete(h, e, size, square + h * size, whole(0), score, first, second)
    if item >= 2 * square:
        s, m = (item - 2 * square) // size, (item - 2 * square) % size
        return ways_halves(s, m, m, s * size, m * size, 0.0, score, first, second), -1, -1
    h, m = (item - square) // size, (item - square) % size
    step = 1 if m > h else -1
    score[0] = arc[h, m] + sib[h, m, h]
    first[0] = m * size + h + step if m != h + step else -1
    second[0] = -1
    count = 1
    if h > 0 or not single_root:
        for s in range(min(h, m) + 1, max(h, m)):
            score[count] = arc[h, m] + sib[h, m, s]
            first[count] = square + h * size + s
            second[count] = 2 * square + min(s, m) * size + max(s, m)
            count += 1
    return count, h, m
