r"""What the projective parsers share: their scores, the ways to build an item, and the best of two halves.

Positions 0 to n, of which 0 is the root; N = n + 1.  All parsers build complete items, a head h with its descendants up
to e, of incomplete ones, an arc (h, m) and what lies beneath it:

    C[h, e] = max_m I[h, m] + C[m, e]

They differ in what an incomplete item is built of, and in how much every item remembers.
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
"""Score of what is impossible: finite, so that sums and differences of it stay numbers."""

IMPOSSIBLE = 0.5 * NEG
"""What is less is impossible."""

FIRST, SIBLING, GRANDCHILD, THIRD = 1, 2, 3, 4
"""Orders, of which each is a parser."""

Rest: TypeAlias = tuple[int, Floats, Floats, Floats, Ints, bool]
""":class:`Scores` without the arcs', in that order: a plain tuple comes into a kernel much faster than a named one."""


class Scores(NamedTuple):
    """Scores of the parts that a parser of some order knows; of others, arrays of any size.

    Attributes
    ----------
    arc
        Shape (N, N), by head and modifier; ``NEG`` where an arc is forbidden.
    order
        FIRST, SIBLING, GRANDCHILD or THIRD.
    sib
        Shape (N, N, N), by head, modifier and nearer sibling, the head if there is none.
    grand
        Shape (N, N, N).  GRANDCHILD: by head, modifier and the modifier's modifier.  THIRD: by grandparent, head and
        modifier.
    triple, kinds
        Shapes (2, 2, K, K, K, K) and (N,), see :mod:`colgen.solvers.trees.eisner_sibling`; kinds are below K - 1.
    single_root
        Whether the root must have exactly one modifier.
    """

    arc: Floats
    order: int
    sib: Floats
    grand: Floats
    triple: Floats
    kinds: Ints
    single_root: bool


@njit(cache=True, no_cpython_wrapper=True)
def scores_of(arc: Floats, rest: Rest) -> Scores:
    """Scores by name."""
    order, sib, grand, triple, kinds, single_root = rest
    return Scores(arc, order, sib, grand, triple, kinds, single_root)


class Ways(NamedTuple):
    """Ways to build an item: way k adds to ``score[k]`` the values of ``first[k]`` and ``second[k]``, -1 for none."""

    score: Floats
    first: Ints
    second: Ints


@njit(cache=True, no_cpython_wrapper=True)
def room_for_ways(size: int) -> Ways:
    """Room for the ways to build any item, with ``size`` positions."""
    return Ways(np.empty(size + 1), np.empty(size + 1, np.int64), np.empty(size + 1, np.int64))


@inner
def value_of(ways: Ways, k: int, chart: Floats) -> float:
    """The value of the best derivation that begins in way k."""
    value: float = ways.score[k]
    if ways.first[k] >= 0:
        value += chart[ways.first[k]]
    if ways.second[k] >= 0:
        value += chart[ways.second[k]]
    return value


@inner
def put(ways: Ways, k: int, score: float, first: int, second: int) -> int:
    """Write way k; returns the next number."""
    ways.score[k], ways.first[k], ways.second[k] = score, first, second
    return k + 1


@inner
def ways_complete(h: int, e: int, size: int, arcs: int, rest: int, ways: Ways) -> int:
    """The ways to build a complete item, I[h, m] + C[m, e]; returns how many there are.

    Parameters
    ----------
    arcs, rest
        Items I[h, 0] and C[0, 0], from which the others are counted.
    """
    count = 0
    lowest, highest = (h + 1, e) if e > h else (e, h - 1)
    for m in range(lowest, highest + 1):
        count = put(ways, count, 0.0, arcs + m, rest + m * size + e if m != e else -1)
    return count


@inner
def ways_halves(low: int, high: int, end: int, left: int, right: int, value: float, ways: Ways) -> int:
    """The ways to cover two words and what lies between, value + C[low, r] + C[high, r + 1] for r < end; how many.

    Parameters
    ----------
    left, right
        Items C[low, 0] and C[high, 0], from which the others are counted.
    """
    count = 0
    for r in range(low, end):
        count = put(ways, count, value, left + r if r != low else -1, right + r + 1 if r + 1 != high else -1)
    return count


@quick
def best_sum(left: Floats, right: Floats, lowest: int, highest: int) -> float:
    """Max over k in lowest, ..., highest - 1 of left[k] + right[k]."""
    best = NEG
    for k in range(lowest, highest):
        value = left[k] + right[k]
        if value > best:
            best = value
    return best


@quick
def raise_by(outer: Floats, scores: Floats, base: float, lowest: int, highest: int) -> None:
    """outer[k] = max(outer[k], base + scores[k]) for k in lowest, ..., highest - 1."""
    for k in range(lowest, highest):
        value = base + scores[k]
        if value > outer[k]:
            outer[k] = value
