r"""Best dependency trees of few words, projective or not, with adjacent siblings and grandchildren.

    max Σ_m arc[h, m] + Σ_m grandchild[g, h, m] + Σ_m sibling[h, s, m]    over the trees,

where h is the head of m, g that of h (the root 0 for the root's modifiers), and s the modifier of h next to m on the
way to h (h itself if there is none).  A dynamic program over sets of words finds the best one.  A set below a head
consists of its modifiers' sets on the left and on the right.  Each of the two grows outwards by one modifier with the
set below it.  With n words this takes O(n⁴ 3ⁿ) time and O(n³ 2ⁿ) space.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_floats
from colgen.solvers.kernels import inner, kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGEST = 9
"""Maximum number of words."""


class _Tables(NamedTuple):
    """Best scores by head, set of words below it, and the head's head.

    ``chains`` has one more axis after the head, the outermost modifier of one side.  ``sides`` has one of two entries,
    left and right.  ``below`` is for both sides together.  Sets are bits, word m at m - 1.
    """

    chains: Floats
    sides: Floats
    below: Floats


def best_small_tree(
    arcs: ArrayLike,
    grandchildren: ArrayLike | None = None,
    siblings: ArrayLike | None = None,
    *,
    single_root: bool = False,
) -> tuple[float, Ints] | None:
    """Return the score of the best tree and its heads, with -1 for the root; None if all trees are forbidden.

    Parameters
    ----------
    arcs : (N, N) array by head and modifier; -inf forbids a part
    grandchildren : (N, N, N) array by grandparent, head and modifier
    siblings : (N, N, N) array by head, sibling and modifier
    single_root : whether exactly one arc leaves the root

    Raises
    ------
    ArrayError
        If an array is invalid, or there are more than :data:`LARGEST` words.
    """
    first = as_floats(arcs, "arcs", shape=("N", "N"), minus_infinity=True)
    size = len(first)
    if not 2 <= size <= LARGEST + 1:
        raise ArrayError(f"arcs: expected from 2 to {LARGEST + 1} positions, the root's included, got {size}")
    others = [
        np.zeros((size,) * 3) if given is None else as_floats(given, name, shape=(size,) * 3, minus_infinity=True)
        for name, given in (("grandchildren", grandchildren), ("siblings", siblings))
    ]
    sets = 1 << (size - 1)
    tables = _Tables(
        np.full((size, size, sets, size), -np.inf),
        np.full((2, size, sets, size), -np.inf),
        np.full((size, sets, size), -np.inf),
    )
    heads = np.full(size, -1, dtype=np.int64)
    value = _solve(first, *others, single_root, tables, heads, np.empty((size, 3), dtype=np.int64))
    return None if value == -np.inf else (value, heads)


@kernel
def _solve(
    arcs: Floats,
    grandchildren: Floats,
    siblings: Floats,
    single_root: bool,
    tables: _Tables,
    heads: Ints,
    open_sets: Ints,
) -> float:
    """Fill the tables by increasing sets; write the heads of the best tree."""
    size, sets = len(arcs), tables.below.shape[1]
    for g in range(size):
        for h in range(size):
            tables.below[h, 0, g] = 0.0
            tables.sides[0, h, 0, g] = tables.sides[1, h, 0, g] = 0.0
    for words in range(1, sets):
        for h in range(size):
            if h > 0 and words >> (h - 1) & 1:
                continue
            for m in range(1, size):
                if words >> (m - 1) & 1:
                    _lay(arcs, grandchildren, siblings, single_root and h == 0, tables, h, m, words)
            _join(tables, h, words)
    value: float = tables.below[0, sets - 1, 0]
    if value > -np.inf:
        _trace(arcs, grandchildren, siblings, single_root, tables, heads, open_sets)
    return value


@inner
def _lay(
    arcs: Floats,
    grandchildren: Floats,
    siblings: Floats,
    alone: bool,
    tables: _Tables,
    h: int,
    m: int,
    words: int,
) -> None:
    """Fill the chains of a head whose outermost modifier is m; ``alone``: without other modifiers."""
    size, side = len(arcs), 1 if m > h else 0
    found, rest = tables.chains[h, m, words], words ^ 1 << (m - 1)
    inside = 0 if alone else rest  # words of the modifiers nearer to the head
    while True:
        first, last = (h + 1, m) if side else (m + 1, h)
        below = tables.below[m, rest ^ inside, h] + arcs[h, m]
        if inside == 0:
            score = below + siblings[h, h, m]
            for g in range(size):
                found[g] = max(found[g], score)
        elif below > -np.inf:
            for s in range(first, last):
                if inside >> (s - 1) & 1:
                    score = below + siblings[h, s, m]
                    chain = tables.chains[h, s, inside]
                    for g in range(size):
                        found[g] = max(found[g], chain[g] + score)
        if inside == 0:
            break
        inside = (inside - 1) & rest
    best = tables.sides[side, h, words]
    for g in range(size):
        found[g] += grandchildren[g, h, m]
        best[g] = max(best[g], found[g])


@inner
def _join(tables: _Tables, h: int, words: int) -> None:
    """Fill the best scores of a head with a set of words below it."""
    found, left = tables.below[h, words], words
    while True:
        one, other = tables.sides[0, h, left], tables.sides[1, h, words ^ left]
        for g in range(len(found)):
            found[g] = max(found[g], one[g] + other[g])
        if left == 0:
            break
        left = (left - 1) & words


@inner
def _trace(
    arcs: Floats,
    grandchildren: Floats,
    siblings: Floats,
    single_root: bool,
    tables: _Tables,
    heads: Ints,
    open_sets: Ints,
) -> None:
    """Read the heads from the tables, by repeating the maximisations of the best tree."""
    open_sets[0, 0], open_sets[0, 1], open_sets[0, 2] = 0, tables.below.shape[1] - 1, 0
    count = 1
    while count:
        count -= 1
        h, words, g = open_sets[count, 0], open_sets[count, 1], open_sets[count, 2]
        best_left, left, best = 0, words, -np.inf
        while True:
            total = tables.sides[0, h, left, g] + tables.sides[1, h, words ^ left, g]
            if total > best:
                best, best_left = total, left
            if left == 0:
                break
            left = (left - 1) & words
        for side in range(2):
            remaining = words ^ best_left if side else best_left
            outer = -1
            while remaining:
                outer, below, remaining = _outermost(
                    arcs, siblings, single_root and h == 0, tables, h, side, outer, remaining, g
                )
                heads[outer] = h
                if below:
                    open_sets[count, 0], open_sets[count, 1], open_sets[count, 2] = outer, below, h
                    count += 1


@inner
def _outermost(
    arcs: Floats,
    siblings: Floats,
    alone: bool,
    tables: _Tables,
    h: int,
    side: int,
    outer: int,
    words: int,
    g: int,
) -> tuple[int, int, int]:
    """Return the outermost modifier of the best chain within ``outer`` (-1: none), the words below it and inside."""
    m, best = 0, -np.inf
    for s in range(1, len(arcs)):
        if not words >> (s - 1) & 1 or (s > h) != (side == 1):
            continue
        value = tables.chains[h, s, words, g]
        if outer >= 0:
            value = value + siblings[h, s, outer] if (s < outer) == (side == 1) else -np.inf
        if value > best:
            best, m = value, s
    rest = words ^ 1 << (m - 1)
    inside, best_inside, best = 0 if alone else rest, 0, -np.inf
    while True:
        below = tables.below[m, rest ^ inside, h] + arcs[h, m]
        if inside == 0:
            total = below + siblings[h, h, m]
            if total > best:
                best, best_inside = total, 0
            break
        first, last = (h + 1, m) if side else (m + 1, h)
        for s in range(first, last):
            if inside >> (s - 1) & 1:
                total = tables.chains[h, s, inside, g] + (below + siblings[h, s, m])
                if total > best:
                    best, best_inside = total, inside
        inside = (inside - 1) & rest
    return m, rest ^ best_inside, best_inside
