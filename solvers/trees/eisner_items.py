r"""Common parts of the projective parsers: scores, ways to build an item, and the best sum of two halves.

Positions are 0 to n, 0 is the root; N = n + 1.  A complete item is a head h with its descendants up to e.  An
incomplete item is an arc (h, m) and everything beneath it.  All parsers build complete items from incomplete ones:

    C[h, e] = max_m I[h, m] + C[m, e]

They build incomplete items differently, and items store different contexts.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, quick

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEG = -1e30
"""Score of the impossible: finite, so that its sums and differences are numbers."""

IMPOSSIBLE = 0.5 * NEG
"""Smaller values are impossible."""

FIRST, SIBLING, GRANDCHILD, THIRD = 1, 2, 3, 4
"""Orders, one per parser."""

Rest: TypeAlias = tuple[int, Floats, Floats, Floats, Ints, bool]
""":class:`Scores` without the arc scores, in order: a kernel receives a plain tuple much faster than a named one."""


class Scores(NamedTuple):
    """Scores of the parts of one parser; arrays of other parts have any size."""

    arc: Floats  # (N, N) array by head and modifier: ``NEG`` marks a forbidden arc
    order: int  # FIRST, SIBLING, GRANDCHILD or THIRD
    sib: Floats  # (N, N, N) array by head, modifier and nearer sibling (the head if none exists)
    # grand: (N, N, N) array: GRANDCHILD: by head, modifier and the modifier's modifier.  THIRD: by grandparent, head
    # and modifier
    grand: Floats
    # triple, kinds: shapes (2, 2, K, K, K, K) and (N,), see :mod:`colgen.solvers.trees.eisner_sibling`; kinds are below
    # K - 1
    triple: Floats
    kinds: Ints
    single_root: bool  # whether the root must have exactly one modifier


@njit(cache=True, no_cpython_wrapper=True)
def scores_of(arc: Floats, rest: Rest) -> Scores:
    """Return the scores as a named tuple."""
    order, sib, grand, triple, kinds, single_root = rest
    return Scores(arc, order, sib, grand, triple, kinds, single_root)


class Ways(NamedTuple):
    """Ways to build an item: ``score[k]`` plus the values of items ``first[k]`` and ``second[k]``, -1 for none."""

    score: Floats
    first: Ints
    second: Ints


@njit(cache=True, no_cpython_wrapper=True)
def allocate_ways(size: int) -> Ways:
    """Allocate the ways to build any item, for ``size`` positions."""
    return Ways(np.empty(size + 1), np.empty(size + 1, np.int64), np.empty(size + 1, np.int64))


@inner
def value_of(ways: Ways, k: int, chart: Floats) -> float:
    """Return the value of the best derivation that starts with way k."""
    value: float = ways.score[k]
    if ways.first[k] >= 0:
        value += chart[ways.first[k]]
    if ways.second[k] >= 0:
        value += chart[ways.second[k]]
    return value


@inner
def put(ways: Ways, k: int, score: float, first: int, second: int) -> int:
    """Write way k to build an item.  Return k + 1."""
    ways.score[k], ways.first[k], ways.second[k] = score, first, second
    return k + 1


@inner
def ways_complete(h: int, e: int, size: int, arcs: int, rest: int, ways: Ways) -> int:
    """List the ways to build a complete item, I[h, m] + C[m, e].  Return their number.

    ``arcs`` and ``rest`` are the numbers of the items I[h, 0] and C[0, 0].
    """
    count = 0
    lowest, highest = (h + 1, e) if e > h else (e, h - 1)
    for m in range(lowest, highest + 1):
        count = put(ways, count, 0.0, arcs + m, rest + m * size + e if m != e else -1)
    return count


@inner
def ways_halves(low: int, high: int, end: int, left: int, right: int, value: float, ways: Ways) -> int:
    """List the ways to span two words, value + C[low, r] + C[high, r + 1] for r < end.  Return their number.

    ``left`` and ``right`` are the numbers of the items C[low, 0] and C[high, 0].
    """
    count = 0
    for r in range(low, end):
        count = put(ways, count, value, left + r if r != low else -1, right + r + 1 if r + 1 != high else -1)
    return count


@quick
def best_sum(left: Floats, right: Floats, lowest: int, highest: int) -> float:
    """Return the maximum over lowest ≤ k < highest of left[k] + right[k]."""
    best = NEG
    for k in range(lowest, highest):
        value = left[k] + right[k]
        if value > best:
            best = value
    return best


@quick
def raise_by(outer: Floats, scores: Floats, base: float, lowest: int, highest: int) -> None:
    """Set outer[k] = max(outer[k], base + scores[k]) for lowest ≤ k < highest."""
    for k in range(lowest, highest):
        value = base + scores[k]
        if value > outer[k]:
            outer[k] = value
