r"""Projective parsing with grand-siblings, O(n⁴) time and O(n³) memory: model 1 of Koo and Collins (2010).

An arc h → m beneath the grandparent g scores arc[h, m] + grand[g, h, m], and with its adjacent sibling s (h: none)
sib[h, m, s] + triple[g > h, m > h, k(g), k(h), k(m), k(s)], where k is a word's kind: its part of speech, or its
position, which makes the table complete.  The last kind of the table stands for "no sibling".  Every item knows its
head's head:

    C[g, h, e] = max_m I[g, h, m] + C[h, m, e]
    I[g, h, m] = max(first modifier: C[h, m, h ± 1];  max_s I[g, h, s] + S[h, s, m])  + the scores of (g, h, m, s)
    S[h, s, m] = max_r C[h, s, r] + C[h, m, r + 1]

The root has no head; its items are those with g = h = 0, and grand[0, 0, m] and g = 0 in the table are read for them.

Chart of 4 N³ numbers: C by (g, h, e), I by (g, h, m), S by (h, s, m) and (h, m, s), C by (g, e, h).

Source: T. Koo, M. Collins, *Efficient third-order dependency parsers*, ACL 2010.
"""

from __future__ import annotations

from numba import njit

from solvers.literals import whole
from solvers.trees.eisner_first import NEG, Floats, Ints, ways_complete, ways_halves

_IMPOSSIBLE = 0.5 * NEG


@njit(cache=True, fastmath=True)
def _one_side(
    g: int,
    h: int,
    m: int,
    arc: Floats,
    sib: Floats,
    grand: Floats,
    triple: Floats,
    kinds: Ints,
    single_root: bool,
    complete: Floats,
    incomplete: Floats,
    sibling: Floats,
    by_end: Floats,
) -> None:
    """Fill I[g, h, m] and C[g, h, m]."""
    none = triple.shape[5] - 1
    step = 1 if m > h else -1
    lowest, highest = (h + 1, m) if m > h else (m + 1, h)
    possible = arc[h, m] > _IMPOSSIBLE and (h == 0 or arc[g, h] > _IMPOSSIBLE)
    if possible:
        table = triple[1 if g > h else 0, 1 if m > h else 0, kinds[g], kinds[h], kinds[m]]
        best = complete[h, m, h + step] + sib[h, m, h] + table[none]
        if h > 0 or not single_root:
            own, beside, scores = incomplete[g, h], sibling[h, m], sib[h, m]
            for s in range(lowest, highest):
                value = own[s] + beside[s] + scores[s] + table[kinds[s]]
                if value > best:
                    best = value
        incomplete[g, h, m] = best + arc[h, m] + grand[g, h, m]
    else:
        incomplete[g, h, m] = NEG
    best = NEG
    own, ends = incomplete[g, h], by_end[h, m]
    if m > h:
        for k in range(h + 1, m + 1):
            value = own[k] + ends[k]
            if value > best:
                best = value
    else:
        for k in range(m, h):
            value = own[k] + ends[k]
            if value > best:
                best = value
    complete[g, h, m] = by_end[g, m, h] = best


@njit(cache=True, fastmath=True)
def inside_third(
    arc: Floats,
    sib: Floats,
    grand: Floats,
    triple: Floats,
    kinds: Ints,
    single_root: bool,
    chart: Floats,
    first: int,
    end: int,
) -> float:
    """Fill the chart; the value of the best tree once all of it is full, below ``NEG / 2`` if there is none.

    Parameters
    ----------
    arc, sib, grand
        Shapes (N, N), by head and modifier; (N, N, N), by head, modifier and sibling; (N, N, N), by grandparent, head
        and modifier.
    triple, kinds
        Shapes (2, 2, K, K, K, K) and (N,): see above; kinds are below K - 1.
    chart
        At least 4 N³ numbers, overwritten.
    first, end
        Widths of the spans that are filled in: first to end - 1, of 1 to N - 1.  All narrower ones have been.
    """
    size = len(arc)
    cube = size * size * size
    complete = chart[:cube].reshape(size, size, size)
    incomplete = chart[cube : 2 * cube].reshape(size, size, size)
    sibling = chart[2 * cube : 3 * cube].reshape(size, size, size)
    by_end = chart[3 * cube : 4 * cube].reshape(size, size, size)
    for g in range(size):
        for i in range(size):
            complete[g, i, i] = by_end[g, i, i] = 0.0
    for width in range(first, end):
        for i in range(size - width):
            j = i + width
            if i == 0:
                _one_side(
                    whole(0),
                    whole(0),
                    j,
                    arc,
                    sib,
                    grand,
                    triple,
                    kinds,
                    single_root,
                    complete,
                    incomplete,
                    sibling,
                    by_end,
                )
                continue
            for g in range(size):
                if i <= g <= j:
                    continue
                best = NEG
                left, right = complete[g, i], complete[g, j]
                for r in range(i, j):
                    value = left[r] + right[r + 1]
                    if value > best:
                        best = value
                sibling[g, i, j] = sibling[g, j, i] = best
                _one_side(g, i, j, arc, sib, grand, triple, kinds, single_root, complete, incomplete, sibling, by_end)
                _one_side(g, j, i, arc, sib, grand, triple, kinds, single_root, complete, incomplete, sibling, by_end)
    return float(complete[0, 0, size - 1])


@njit(cache=True)
def expand_third(
    item: int,
    arc: Floats,
    sib: Floats,
    grand: Floats,
    triple: Floats,
    kinds: Ints,
    single_root: bool,
    score: Floats,
    first: Ints,
    second: Ints,
) -> tuple[int, int, int]:
    """The ways to build an item, as :func:`solvers.trees.eisner_first.expand_first` gives them."""
    size = len(arc)
    square, cube = size * size, size * size * size
    kind, place = item // cube, item % cube
    x, y, z = place // square, place // size % size, place % size
    if kind == 0:  # C[g, h, e]
        return ways_complete(y, z, size, cube + (x * size + y) * size, y * square, score, first, second)
    if kind == 2:  # S[h, s, m], s < m
        left, right = (x * size + y) * size, (x * size + z) * size
        return ways_halves(y, z, z, left, right, 0.0, score, first, second), -1, -1
    g, h, m = x, y, z
    step = 1 if m > h else -1
    none = triple.shape[5] - 1
    table = triple[1 if g > h else 0, 1 if m > h else 0, kinds[g], kinds[h], kinds[m]]
    base = arc[h, m] + grand[g, h, m]
    score[0] = base + sib[h, m, h] + table[none]
    first[0] = (h * size + m) * size + h + step if m != h + step else -1
    second[0] = -1
    count = 1
    if h > 0 or not single_root:
        for s in range(min(h, m) + 1, max(h, m)):
            score[count] = base + sib[h, m, s] + table[kinds[s]]
            first[count] = cube + (g * size + h) * size + s
            second[count] = 2 * cube + (h * size + min(s, m)) * size + max(s, m)
            count += 1
    return count, h, m
