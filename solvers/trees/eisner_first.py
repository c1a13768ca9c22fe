r"""First-order projective parsing: the best tree of a sum of arc scores, O(n³) (Eisner, 1996).

Two kinds of items (:mod:`colgen.solvers.trees.eisner_items`), both with their head at one end:

    C[h, e] = max_m I[h, m] + C[m, e]
    I[h, m] = arc[h, m] + max_r C[h, r] + C[m, r ± 1]

A word collects its modifiers to the left and to the right independently, so every tree has one derivation.  If the
root must have a single modifier, its arc allows only r = 0.

The chart has 3 N² numbers: C by (h, e), I by (h, m), and C again by (e, h).  So all inner loops are contiguous.

Source: J. Eisner, *Three new probabilistic models for dependency parsing: an exploration*, COLING 1996.
"""

from __future__ import annotations

from colgen.solvers.kernels import inner, int64, quick
from colgen.solvers.trees.eisner_items import (
    IMPOSSIBLE,
    NEG,
    Floats,
    Scores,
    Ways,
    best_sum,
    ways_complete,
    ways_halves,
)


@quick
def inside_first(scores: Scores, chart: Floats, first: int, end: int) -> None:
    """Fill the chart for spans of widths first to end - 1, given all narrower ones."""
    arc = scores.arc
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
            last = j if i > 0 or not scores.single_root else i + 1
            best = best_sum(complete[i], complete[j, 1:], i, last)
            incomplete[i, j] = best + arc[i, j]
            complete[i, j] = by_end[j, i] = best_sum(incomplete[i], by_end[j], i + 1, j + 1)
            if i > 0:
                incomplete[j, i] = best + arc[j, i]
                complete[j, i] = by_end[i, j] = best_sum(incomplete[j], by_end[i], i, j)


@quick
def outside_first(scores: Scores, chart: Floats, outside: Floats, best: Floats, first: int, end: int) -> None:
    """Write the value of the best tree with each arc, shape (N, N), from a full chart; ``NEG`` if none exists.

    ``outside``, as long as the chart, receives the value of the best tree around each item.  The call processes spans
    of widths end - 1 down to first.  Wider ones come before.
    """
    arc = scores.arc
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
                if rest > IMPOSSIBLE:
                    around_arc[h, e] = max(around_arc[h, e], rest)
                    for m in range(h + step, e, step):
                        around_arc[h, m] = max(around_arc[h, m], rest + complete[m, e])
                        around[m, e] = max(around[m, e], rest + incomplete[h, m])
                value = incomplete[h, e] + around_arc[h, e]
                if value < IMPOSSIBLE:
                    continue
                best[h, e] = value
                rest = around_arc[h, e] + arc[h, e]
                around[j, i + 1] = max(around[j, i + 1], rest)
                if i > 0 or not scores.single_root:
                    for r in range(i + 1, j):
                        around[i, r] = max(around[i, r], rest + complete[j, r + 1])
                        around[j, r + 1] = max(around[j, r + 1], rest + complete[i, r])


@inner
def expand_first(item: int, scores: Scores, ways: Ways) -> tuple[int, int, int]:
    """List the ways to build an item.  Return their number and the item's arc (head, modifier), or (-1, -1)."""
    arc = scores.arc
    size = len(arc)
    square = size * size
    if item < square:
        h, e = item // size, item % size
        return ways_complete(h, e, size, square + h * size, int64(0), ways), -1, -1
    h, m = (item - square) // size, (item - square) % size
    low, high = (h, m) if m > h else (m, h)
    end = low + 1 if h == 0 and scores.single_root else high
    return ways_halves(low, high, end, low * size, high * size, arc[h, m], ways), h, m
