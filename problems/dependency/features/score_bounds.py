"""Upper bounds on the scores of triples of which two tokens are known: maxima over tables of weights.

No two tuples share a key of :mod:`colgen.problems.dependency.features.factored_scores`, so that these bounds are true
ones.

Source: S. Riedel, D. Smith, A. McCallum, *Parse, price and cut*, EMNLP (2012), section 4.3.2.
"""

from __future__ import annotations

import numpy as np

from colgen.problems.dependency.features.factored_scores import Codes, Floats, Ints, WeightTable, table_of
from colgen.problems.dependency.features.hashed_keys import EMPTY, find
from colgen.solvers.kernel_cache import njit


def bound_table(table: WeightTable, kept: tuple[int, int], sides: Ints) -> WeightTable:
    """Of a table of triples: the largest weight over what one of the tokens can be (the source's equation 13).

    Parameters
    ----------
    kept
        The two tokens of the triple whose codes are known.
    sides
        Of each of the eight relations: what it says of the two known tokens, 0 or 1, which is known as well.

    Returns
    -------
    Table
        Templates of the two known tokens, one weight a key, the relation of two values.  Never negative: a token can
        always be one that no weight speaks of.  It holds a key for all that occurs, so that a key which is not there
        says that a template has nothing to say.
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
    # The codes that occur say how large a radix has to be, which need not be that of the vocabulary.
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
    """Upper bounds on the scores of triples of which two tokens are known, for all pairs of tokens.

    Parameters
    ----------
    first, second
        Column of ``codes`` that describes a token is the token itself where this is 0; where it is 1 (or 2), it is the
        token that stands for no sibling before (or after).

    Returns
    -------
    Floats
        Shape (n + 1, n + 1).
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
    """Upper bounds, at least 0, on the score of the part of a last modifier, by head and side: shape (n + 1, 2).

    ``bounds`` knows the head and the modifier; "no sibling after" is the modifier here.
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
                    # The relation of a part says 1 where the head stands after the modifier: the left side, 0 here.
                    slot = find(bounds.keys, key + 1 - side)
                    if slot >= 0:
                        result[h, side] += bounds.values[slot, 0]
    return result
