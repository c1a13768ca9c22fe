"""What all projective parsers share: the best tree and the max-marginals, from any chart.

A parser of :mod:`solvers.trees.eisner` is two functions: one fills a chart with the values of its items, the other
lists the ways to build one item.  All else follows from these (the k best trees in :mod:`solvers.trees.eisner_k_best`),
in kernels that know the parser by its order: FIRST, SIBLING, GRANDCHILD or THIRD.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from solvers.literals import whole
from solvers.trees.eisner_first import NEG, Floats, Ints, expand_first, inside_first, outside_first
from solvers.trees.eisner_grandchild import expand_grandchild, inside_grandchild, outside_grandchild
from solvers.trees.eisner_sibling import expand_sibling, inside_sibling
from solvers.trees.eisner_third import expand_third, inside_third

FIRST, SIBLING, GRANDCHILD, THIRD = 1, 2, 3, 4
_IMPOSSIBLE = 0.5 * NEG


@njit(cache=True)
def chart_size(order: int, size: int) -> int:
    """Length of a chart for ``size`` positions, the root among them."""
    square, cube = size * size, size * size * size
    if order == FIRST:
        return 3 * square
    if order == SIBLING:
        return 4 * square
    if order == GRANDCHILD:
        return 3 * cube + square + 1
    return 4 * cube


@njit(cache=True)
def goal(order: int, size: int) -> int:
    """The item whose derivations are the trees."""
    square, cube = size * size, size * size * size
    if order == GRANDCHILD:
        return square + 3 * cube
    return size - 1


@njit(cache=True)
def inside(
    order: int,
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
    """Fill the chart of the parser of that order; the value of the best tree, below ``NEG / 2`` if there is none.

    ``first`` and ``end``: widths of the spans that are filled in, first to end - 1, of 1 to N - 1; all narrower ones
    have been, and the value is that of a full chart.
    """
    if order == FIRST:
        return inside_first(arc, single_root, chart, first, end)
    if order == SIBLING:
        return inside_sibling(arc, sib, single_root, chart, first, end)
    if order == GRANDCHILD:
        return inside_grandchild(arc, sib, grand, single_root, chart, first, end)
    return inside_third(arc, sib, grand, triple, kinds, single_root, chart, first, end)


@njit(cache=True)
def expand(
    order: int,
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
    if order == FIRST:
        return expand_first(item, arc, single_root, score, first, second)
    if order == SIBLING:
        return expand_sibling(item, arc, sib, single_root, score, first, second)
    if order == GRANDCHILD:
        return expand_grandchild(item, arc, sib, grand, single_root, score, first, second)
    return expand_third(item, arc, sib, grand, triple, kinds, single_root, score, first, second)


@njit(cache=True)
def best_heads(
    order: int,
    arc: Floats,
    sib: Floats,
    grand: Floats,
    triple: Floats,
    kinds: Ints,
    single_root: bool,
    chart: Floats,
    heads: Ints,
) -> None:
    """Write the heads of the best tree, from a chart that holds a tree; ``heads[0]`` is -1."""
    size = len(arc)
    score, first, second = np.empty(size + 1), np.empty(size + 1, np.int64), np.empty(size + 1, np.int64)
    stack = np.empty(6 * size + 8, np.int64)
    heads[:] = -1
    stack[0], top = goal(order, size), 1
    while top > 0:
        top -= 1
        count, h, m = expand(order, stack[top], arc, sib, grand, triple, kinds, single_root, score, first, second)
        if m >= 0:
            heads[m] = h
        best, chosen = 4.0 * NEG, 0
        for k in range(count):
            value = score[k]
            if first[k] >= 0:
                value += chart[first[k]]
            if second[k] >= 0:
                value += chart[second[k]]
            if value > best:
                best, chosen = value, k
        if first[chosen] >= 0:
            stack[top] = first[chosen]
            top += 1
        if second[chosen] >= 0:
            stack[top] = second[chosen]
            top += 1


@njit(cache=True)
def best_with_heads(
    order: int,
    arc: Floats,
    sib: Floats,
    grand: Floats,
    triple: Floats,
    kinds: Ints,
    single_root: bool,
    chart: Floats,
    heads: Ints,
) -> float:
    """Fill the chart and write the heads of the best tree; its value, ``NEG`` if there is none."""
    value = inside(order, arc, sib, grand, triple, kinds, single_root, chart, whole(1), len(arc))
    if value < _IMPOSSIBLE:
        return NEG
    best_heads(order, arc, sib, grand, triple, kinds, single_root, chart, heads)
    return value


# --- max-marginals ---------------------------------------------------------------------------------------------------


@njit(cache=True)
def _relax(
    item: int,
    order: int,
    arc: Floats,
    sib: Floats,
    grand: Floats,
    triple: Floats,
    kinds: Ints,
    single_root: bool,
    chart: Floats,
    outside: Floats,
    score: Floats,
    first: Ints,
    second: Ints,
) -> None:
    """Carry the outside value of an item to the items that it is built of."""
    around = outside[item]
    if around < _IMPOSSIBLE or chart[item] < _IMPOSSIBLE:
        return
    count, _, _ = expand(order, item, arc, sib, grand, triple, kinds, single_root, score, first, second)
    for k in range(count):
        a, b = first[k], second[k]
        left = chart[a] if a >= 0 else 0.0
        right = chart[b] if b >= 0 else 0.0
        if left < _IMPOSSIBLE or right < _IMPOSSIBLE:
            continue
        value = around + score[k]
        if a >= 0 and value + right > outside[a]:
            outside[a] = value + right
        if b >= 0 and value + left > outside[b]:
            outside[b] = value + left


@njit(cache=True)
def marginals(
    order: int,
    arc: Floats,
    sib: Floats,
    grand: Floats,
    triple: Floats,
    kinds: Ints,
    single_root: bool,
    chart: Floats,
    outside: Floats,
    best: Floats,
    first: int,
    end: int,
) -> None:
    """Write the value of the best tree with each arc, from a filled chart; ``NEG`` where there is none.

    Parameters
    ----------
    outside
        As long as the chart, overwritten: the value of the best tree around each item, without what lies within it.
    best
        Shape (N, N), by head and modifier.
    first, end
        The widths end - 1 down to first of the spans are gone over, of N - 1 to 1; all wider ones have been.
    """
    if order == FIRST:
        outside_first(arc, single_root, chart, outside, best, first, end)
        return
    if order == GRANDCHILD:
        outside_grandchild(arc, sib, grand, single_root, chart, outside, best, first, end)
        return
    size = len(arc)
    square, cube = size * size, size * size * size
    if end == size:
        outside[: chart_size(order, size)] = NEG
        outside[goal(order, size)] = 0.0
        best[:] = NEG
    score, left, right = np.empty(size + 1), np.empty(size + 1, np.int64), np.empty(size + 1, np.int64)
    rest = (order, arc, sib, grand, triple, kinds, single_root, chart, outside, score, left, right)
    for width in range(end - 1, first - 1, -1):
        for i in range(size - width):
            j = i + width
            for turn in range(2 if i > 0 else 1):
                h, e = (i, j) if turn == 0 else (j, i)
                if order == SIBLING:
                    _relax(h * size + e, *rest)
                    _relax(square + h * size + e, *rest)
                    best[h, e] = _through(chart, outside, square + h * size + e)
                else:
                    for g in range(size):
                        if (i <= g <= j) if i > 0 else g > 0:
                            continue
                        _relax((g * size + h) * size + e, *rest)
                        _relax(cube + (g * size + h) * size + e, *rest)
                        best[h, e] = max(best[h, e], _through(chart, outside, cube + (g * size + h) * size + e))
            if i > 0 and order == SIBLING:
                _relax(2 * square + i * size + j, *rest)
            elif i > 0 and order == THIRD:
                for g in range(size):
                    if g < i or g > j:
                        _relax(2 * cube + (g * size + i) * size + j, *rest)


@njit(cache=True)
def _through(chart: Floats, outside: Floats, item: int) -> float:
    if chart[item] < _IMPOSSIBLE or outside[item] < _IMPOSSIBLE:
        return NEG
    return float(chart[item] + outside[item])
