"""Upper bounds on scores of triples with two known tokens: maxima over weight tables.

Keys of :mod:`colgen.problems.dependency.features.factored_scores` are unique, so the bounds are valid.

Source: S. Riedel, D. Smith, A. McCallum, *Parse, price and cut*, EMNLP (2012), section 4.3.2.
"""

from __future__ import annotations

import numpy as np

from colgen.problems.dependency.features.factored_scores import Codes, Floats, Ints, WeightTable, table_of
from colgen.problems.dependency.features.hashed_keys import EMPTY, find
from colgen.solvers.kernel_cache import njit


def bound_table(table: WeightTable, kept: tuple[int, int], sides: Ints) -> WeightTable:
    """Return the maxima of a table of triples over one of the tokens (the source's equation 13).

    ``kept`` are the positions of the two known tokens in the triple; ``sides`` is their order in each of the eight
    relations, 0 or 1.

    The result has templates of the two known tokens, one weight per key, and two relations.  Weights are never
    negative, because the third token may be unknown to the model.  Every pair that occurs has a key; without a key a
    template has no weights.
    """
    held = np.flatnonzero(table.keys != EMPTY)
    keys, weights = table.keys[held], table.values[held, 0]
    order = np.argsort(keys)
    keys, weights = keys[order], weights[order]
    template = np.searchsorted(table.offsets, keys, side="right") - 1
    rest = keys - table.offsets[template]
    codes = []
    for position in range(3):
        codes.append(rest // table.strides[template, position])
        rest = rest % table.strides[template, position]
    # The radix is that of the codes that occur, which may be smaller than the vocabulary's.
    sizes = np.ones((len(table.templates), 2), dtype=np.int64)
    for k, position in enumerate(kept):
        np.maximum.at(sizes[:, k], template, codes[position] + 1)
    strides = np.stack([2 * sizes[:, 1], np.full(len(sizes), 2)], axis=1)
    offsets = np.concatenate([[0], np.cumsum(2 * sizes[:, 0] * sizes[:, 1])[:-1]]).astype(np.int64)
    projected = (
        offsets[template] + codes[kept[0]] * strides[template, 0] + codes[kept[1]] * strides[template, 1] + sides[rest]
    )
    unique, inverse = np.unique(projected, return_inverse=True)
    largest = np.zeros((len(unique), 1), dtype=np.float32)
    np.maximum.at(largest[:, 0], inverse, weights)
    limits = np.ascontiguousarray(sizes)
    bounds = WeightTable(
        np.ascontiguousarray(np.concatenate([table.templates[:, list(kept)], limits], axis=1)),
        offsets,
        np.ascontiguousarray(strides),
        np.full(16, EMPTY),
        np.zeros((16, 1), dtype=np.float32),
    )
    return table_of(bounds, unique, largest)


@njit(cache=True)
def score_bounds(codes: Codes, bounds: WeightTable, first: int, second: int) -> Floats:
    """Return upper bounds on triples with two known tokens, for all pairs of tokens, shape (n + 1, n + 1).

    ``first`` and ``second`` select the columns of ``codes``: 0: that of the token; 1 or 2: that of no sibling before or
    after.
    """
    n = codes.shape[1] - 3
    result = np.zeros((n + 1, n + 1))
    for t in range(bounds.templates.shape[0]):
        rows = codes[bounds.templates[t, 0]]
        columns = codes[bounds.templates[t, 1]]
        row_limit, column_limit = bounds.templates[t, 2], bounds.templates[t, 3]
        for i in range(n + 1):
            a = rows[i if first == 0 else n + first]
            if a < 0 or a >= row_limit:
                continue
            key = bounds.offsets[t] + a * bounds.strides[t, 0]
            for j in range(n + 1):
                b = columns[j if second == 0 else n + second]
                if b < 0 or b >= column_limit or i == j:
                    continue
                slot = find(bounds.keys, key + b * bounds.strides[t, 1] + (i > j))
                if slot >= 0:
                    result[i, j] += bounds.values[slot, 0]
    return result


@njit(cache=True)
def score_ends(codes: Codes, bounds: WeightTable) -> Floats:
    """Return upper bounds, at least 0, on the part of a last modifier by head and side, shape (n + 1, 2).

    ``bounds`` is a table of head and modifier; "no sibling after" takes the place of the modifier.
    """
    n = codes.shape[1] - 3
    result = np.zeros((n + 1, 2))
    for t in range(bounds.templates.shape[0]):
        rows = codes[bounds.templates[t, 0]]
        last = codes[bounds.templates[t, 1], n + 2]
        if last < 0 or last >= bounds.templates[t, 3]:
            continue
        for h in range(n + 1):
            if 0 <= rows[h] < bounds.templates[t, 2]:
                key = bounds.offsets[t] + rows[h] * bounds.strides[t, 0] + last * bounds.strides[t, 1]
                for side in range(2):
                    # Relation 1 means that the head is after the modifier: the left side, 0 here.
                    slot = find(bounds.keys, key + 1 - side)
                    if slot >= 0:
                        result[h, side] += bounds.values[slot, 0]
    return result
