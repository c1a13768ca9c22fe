"""Best tree and max-marginals from a chart, for all projective parsers.

A parser of :mod:`colgen.solvers.trees.eisner` consists of two functions.  One fills a chart with the values of its
items.  The other lists the ways to build an item.  The kernels here and in :mod:`colgen.solvers.trees.eisner_k_best`
select them by the order of the parser.
"""

from __future__ import annotations

import numpy as np

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, int64
from colgen.solvers.trees.eisner_first import expand_first, inside_first, outside_first
from colgen.solvers.trees.eisner_grandchild import expand_grandchild, inside_grandchild, outside_grandchild
from colgen.solvers.trees.eisner_items import (
    FIRST,
    GRANDCHILD,
    IMPOSSIBLE,
    NEG,
    THIRD,
    Floats,
    Ints,
    Rest,
    Scores,
    Ways,
    allocate_ways,
    scores_of,
    value_of,
)
from colgen.solvers.trees.eisner_sibling import expand_sibling, inside_sibling


@njit(cache=True)
def chart_size(order: int, size: int) -> int:
    """Return the length of a chart for ``size`` positions, including the root."""
    square, cube = size * size, size * size * size
    if order == FIRST:
        return 3 * square
    if order == GRANDCHILD:
        return 3 * cube + square + 1
    return 4 * (cube if order == THIRD else square)


@njit(cache=True)
def goal(order: int, size: int) -> int:
    """Return the item whose derivations are the trees."""
    return size * size + 3 * size * size * size if order == GRANDCHILD else size - 1


@njit(cache=True)
def inside(arc: Floats, rest: Rest, chart: Floats, first: int, end: int) -> float:
    """Fill the chart.  Return the value of the best tree, below ``NEG / 2`` if none exists.

    The call fills spans of widths first to end - 1, of 1 to N - 1.  Narrower ones come before.  The value is valid once
    the chart is full.  Scores (``arc``, ``rest``) as in :class:`~colgen.solvers.trees.eisner_items.Scores`.
    """
    scores = scores_of(arc, rest)
    if scores.order == FIRST:
        inside_first(scores, chart, first, end)
    elif scores.order == GRANDCHILD:
        inside_grandchild(scores, chart, first, end)
    else:
        inside_sibling(scores, chart, first, end)
    return float(chart[goal(scores.order, len(arc))])


@inner
def expand(item: int, scores: Scores, ways: Ways) -> tuple[int, int, int]:
    """List the ways to build an item, as :func:`colgen.solvers.trees.eisner_first.expand_first` does."""
    if scores.order == FIRST:
        return expand_first(item, scores, ways)
    if scores.order == GRANDCHILD:
        return expand_grandchild(item, scores, ways)
    return expand_sibling(item, scores, ways)


@njit(cache=True)
def best_heads(arc: Floats, rest: Rest, chart: Floats, heads: Ints) -> None:
    """Write the heads of the best tree, -1 for the root, from a chart that contains a tree."""
    scores, size = scores_of(arc, rest), len(arc)
    ways, stack = allocate_ways(size), np.empty(6 * size + 8, np.int64)
    heads[:] = -1
    stack[0], top = goal(scores.order, size), 1
    while top > 0:
        top -= 1
        count, h, m = expand(stack[top], scores, ways)
        if m >= 0:
            heads[m] = h
        best, chosen = 4.0 * NEG, 0
        for k in range(count):
            value = value_of(ways, k, chart)
            if value > best:
                best, chosen = value, k
        for item in (ways.first[chosen], ways.second[chosen]):
            if item >= 0:
                stack[top] = item
                top += 1


@njit(cache=True)
def best_with_heads(arc: Floats, rest: Rest, chart: Floats, heads: Ints) -> float:
    """Fill the chart and write the heads of the best tree.  Return its value, or ``NEG``."""
    value = inside(arc, rest, chart, int64(1), len(arc))
    if value < IMPOSSIBLE:
        return NEG
    best_heads(arc, rest, chart, heads)
    return value


# --- max-marginals ---------------------------------------------------------------------------------------------------


@njit(cache=True)
def marginals(arc: Floats, rest: Rest, chart: Floats, outside: Floats, best: Floats, first: int, end: int) -> None:
    """Write the value of the best tree with each arc to ``best``, shape (N, N), from a full chart; ``NEG`` for no tree.

    ``outside``, as long as the chart, is overwritten: the value of the best tree around each item, without its inside.
    The call processes spans of widths end - 1 down to first, of N - 1 to 1.  Wider ones come before.
    """
    scores, size = scores_of(arc, rest), len(arc)
    if scores.order == FIRST:
        outside_first(scores, chart, outside, best, first, end)
    elif scores.order == GRANDCHILD:
        outside_grandchild(scores, chart, outside, best, first, end)
    else:
        _outside(scores, chart, outside, best, first, end, allocate_ways(size))


@inner
def _outside(scores: Scores, chart: Floats, outside: Floats, best: Floats, first: int, end: int, ways: Ways) -> None:
    """Compute :func:`marginals` from the ways to build each item, for SIBLING and THIRD."""
    size, third = len(scores.arc), scores.order == THIRD
    contexts = size if third else 1
    block = contexts * size * size
    if end == size:
        outside[: 4 * block] = NEG
        outside[goal(scores.order, size)] = 0.0
        best[:] = NEG
    for width in range(end - 1, first - 1, -1):
        for i in range(size - width):
            j = i + width
            for g in range(contexts if i > 0 else 1):
                if third and i > 0 and i <= g <= j:
                    continue
                for turn in range(2 if i > 0 else 1):
                    h, e = (i, j) if turn == 0 else (j, i)
                    item = (g * size + h) * size + e
                    _relax(item, scores, chart, outside, ways)
                    _relax(block + item, scores, chart, outside, ways)
                    through = chart[block + item] + outside[block + item]
                    if through > IMPOSSIBLE and through > best[h, e]:
                        best[h, e] = through
                if i > 0:
                    _relax(2 * block + (g * size + i) * size + j, scores, chart, outside, ways)


@inner
def _relax(item: int, scores: Scores, chart: Floats, outside: Floats, ways: Ways) -> None:
    """Propagate the outside value of an item to the items that it is built from."""
    around = outside[item]
    if around < IMPOSSIBLE or chart[item] < IMPOSSIBLE:
        return
    count, _, _ = expand(item, scores, ways)
    for k in range(count):
        a, b = ways.first[k], ways.second[k]
        left = chart[a] if a >= 0 else 0.0
        right = chart[b] if b >= 0 else 0.0
        if left < IMPOSSIBLE or right < IMPOSSIBLE:
            continue
        value = around + ways.score[k]
        if a >= 0 and value + right > outside[a]:
            outside[a] = value + right
        if b >= 0 and value + left > outside[b]:
            outside[b] = value + left
