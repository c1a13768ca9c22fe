r"""Passive-aggressive steps for :mod:`colgen.problems.dependency.features.factored_scores`, and averages of weights.

For the features f of the right tree and f' of a wrong one, of loss ℓ, the step that makes the right tree score at least
ℓ more, with the least change of the weights but no more than C,

    w ← w + τ (f - f'),     τ = min(C, (ℓ - w·f + w·f') / ‖f - f'‖²),

is the 1-best MIRA update.  Only features that differ are touched.  The average of the weights over all steps is w less
the sum of (step number × change) over the number of steps, so that it costs one more addition a feature.

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
Singles = NDArray[np.float32]


@njit(cache=True)
def mark_between(tags: Ints, delta: Singles, heads: Ints, other: Ints, sign: float, places: Ints) -> int:
    """Add ``sign`` to the tags between head and modifier, of the arcs of ``heads`` that ``other`` does not have.

    Returns how many positions in the flat ``delta`` were written to ``places``, some of them more than once.
    """
    count = 0
    flat = delta.reshape(-1)
    size = delta.shape[0]
    for m in range(1, heads.shape[0]):
        h = heads[m]
        if h == other[m]:
            continue
        base = ((tags[h] * size + tags[m]) * 2 + (h > m)) * size
        seen = np.zeros(size, dtype=np.bool_)
        for k in range(min(h, m) + 1, max(h, m)):
            if not seen[tags[k]]:
                seen[tags[k]] = True
                flat[base + tags[k]] += sign
                places[count] = base + tags[k]
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


@njit(cache=True)
def settle_marks(marks: Ints, count: int) -> int:
    """Put marks of one place together; how many are left.

    A mark is twice a place, and 1 more where it counts 1; else it counts -1.  What is left stands at the beginning, two
    entries each: the place, and the sum of what its marks count.  A sum of nothing is dropped.
    """
    ordered = np.sort(marks[:count])
    kept, k = 0, 0
    while k < count:
        place, total = ordered[k] >> 1, np.int64(0)
        while k < count and ordered[k] >> 1 == place:
            total += 2 * (ordered[k] & 1) - 1
            k += 1
        if total:
            marks[2 * kept], marks[2 * kept + 1] = place, total
            kept += 1
    return kept


@njit(cache=True)
def norm_of_marks(marks: Ints, kept: int) -> float:
    """‖f - f'‖² of marks that were put together."""
    norm = 0.0
    for k in range(kept):
        norm += float(marks[2 * k + 1]) ** 2
    return norm


@njit(cache=True)
def step_of_marks(values: Singles, sums: Singles, marks: Ints, kept: int, step: float, number: float) -> None:
    """Add marks that were put together times a step to the values, and the same times its number to the sums."""
    for k in range(kept):
        change = step * float(marks[2 * k + 1])
        values[marks[2 * k], 0] += change
        sums[marks[2 * k], 0] += number * change


@njit(cache=True)
def squared_norm(delta: Singles, slots: Ints, count: int) -> float:
    """‖f - f'‖² over the slots named, each counted once; NaN never occurs.

    The slots are made unique: a slot named before is overwritten by -1.
    """
    total = 0.0
    ordered = np.sort(slots[:count])
    unique = 0
    for k in range(count):
        if k == 0 or ordered[k] != ordered[k - 1]:
            slots[unique] = ordered[k]
            unique += 1
            for column in range(delta.shape[1]):
                value = delta[ordered[k], column]
                total += value * value
    for k in range(unique, count):
        slots[k] = -1
    return total


@njit(cache=True)
def take_step(
    values: Singles, sums: Singles, delta: Singles, slots: Ints, count: int, step: float, number: float
) -> None:
    """Set w ← w + step · delta at unique slots, the sums of number × change likewise; delta becomes 0 again."""
    for k in range(count):
        slot = slots[k]
        if slot < 0:
            continue
        for column in range(values.shape[1]):
            change = step * delta[slot, column]
            if change != 0.0:
                values[slot, column] += change
                sums[slot, column] += number * change
            delta[slot, column] = 0.0
