r"""Passive-aggressive steps for :mod:`colgen.problems.dependency.features.factored_scores`.

For the features f of the right tree and f' of a wrong one, of loss ℓ, the step that makes the right tree score at least
ℓ more, with the least change of the weights but no more than C,

    w ← w + τ (f - f'),     τ = min(C, (ℓ - w·f + w·f') / ‖f - f'‖²),

is the 1-best MIRA update.  Only features that differ are touched: kernels here mark them
(:mod:`colgen.solvers.averaging`).

Source: K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online passive-aggressive algorithms*, JMLR 7
(2006); R. McDonald, K. Crammer, F. Pereira, *Online large-margin training of dependency parsers*, ACL (2005).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.problems.dependency.features.factored_scores import Codes, WeightTable, _columns
from colgen.problems.dependency.features.hashed_keys import claim
from colgen.solvers.kernel_cache import njit
from colgen.solvers.tiers import tiered

Ints = NDArray[np.int64]


@njit(cache=True)
def mark_between(tags: Ints, size: int, heads: Ints, other: Ints, plus: bool, marks: Ints, count: int) -> int:
    """Write a mark for each tag between head and modifier, of the arcs of ``heads`` that ``other`` does not have.

    Return how many marks there are.  Places are those in weights of shape (tags, tags, 2, tags), of ``size`` tags, by
    tag of the head, of the modifier, side, and of a tag that occurs between.
    """
    for m in range(1, heads.shape[0]):
        h = heads[m]
        if h == other[m]:
            continue
        base = ((tags[h] * size + tags[m]) * 2 + (h > m)) * size
        seen = np.zeros(size, dtype=np.bool_)
        for k in range(min(h, m) + 1, max(h, m)):
            if not seen[tags[k]]:
                seen[tags[k]] = True
                marks[count] = 2 * (base + tags[k]) + np.int64(plus)
                count += 1
    return count


@tiered
@njit(cache=True)
def tree_triples(heads: Ints, kind: int) -> Ints:
    """The grandparent parts (kind 0) or the sibling parts (kind 1) of a tree, shape (parts, 3)."""
    n = heads.shape[0] - 1
    parts = np.empty((3 * n, 3), dtype=np.int64)
    count = 0
    if kind == 0:
        for c in range(1, n + 1):
            p = heads[c]
            if p > 0:
                parts[count, 0], parts[count, 1], parts[count, 2] = heads[p], p, c
                count += 1
        return parts[:count]
    for h in range(n + 1):
        for side in range(2):
            before = h
            step = 1 if side else -1
            m = h + step
            while 1 <= m <= n:
                if heads[m] == h:
                    parts[count, 0], parts[count, 1], parts[count, 2] = h, before, m
                    count += 1
                    before = m
                m += step
            if before != h:
                parts[count, 0], parts[count, 1], parts[count, 2] = h, before, h
                count += 1
    return parts[:count]


@njit(cache=True)
def mark_triples(
    codes: Codes, table: WeightTable, kind: int, triples: Ints, plus: bool, marks: Ints, count: int
) -> int:
    """Write a mark for each feature of triples, 2 · slot, and 1 more where ``plus``; how many marks there are.

    The table must have room.
    """
    n = codes.shape[1] - 3
    for part in range(triples.shape[0]):
        relation, a, b, c = _columns(kind, triples[part, 0], triples[part, 1], triples[part, 2], n)
        for t in range(table.templates.shape[0]):
            first = codes[table.templates[t, 0], a]
            second = codes[table.templates[t, 1], b]
            third = codes[table.templates[t, 2], c]
            if first >= 0 and second >= 0 and third >= 0:
                key = (
                    table.offsets[t]
                    + first * table.strides[t, 0]
                    + second * table.strides[t, 1]
                    + third * table.strides[t, 2]
                    + relation
                )
                marks[count] = 2 * claim(table.keys, key) + np.int64(plus)
                count += 1
    return count
