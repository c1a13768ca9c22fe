"""Scores of tuples of tokens under tables with exact keys, and the changes that learning makes to them.

The tables are those of :mod:`solvers.factored_scores`, with templates of any number of tokens: a tuple's key joins one
conjunction of each token with a relation of the tuple, a small number below the table's number of relations.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.factored_scores import Codes, Singles, Table, _claim, _find, _hash, distance_bin

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@njit(cache=True)
def score_tuples(codes: Codes, table: Table, columns: Ints, relation: Ints) -> Floats:
    """Scores of tuples, shape (parts,).

    Parameters
    ----------
    codes
        Shape (conjunctions, columns): the code of each conjunction in each token, -1 where it is unknown.
    columns
        The tokens, shape (parts, r).
    relation
        Shape (parts,).
    """
    scores = np.zeros(len(columns))
    width = columns.shape[1]
    wanted = np.empty(len(columns), np.int64)
    slots = np.empty(len(columns), np.int64)
    held = np.empty(len(columns), np.int64)
    for t in range(len(table.templates)):
        # All first looks at the table without a branch between them, so that the memory can answer many at a time.
        for part in range(len(columns)):
            key = table.offsets[t] + relation[part]
            unknown = 0
            for k in range(width):
                code = codes[table.templates[t, k], columns[part, k]]
                unknown |= code
                key += code * table.strides[t, k]
            wanted[part] = key if unknown >= 0 else -2
            slots[part] = _hash(wanted[part], len(table.keys) - 1)
            held[part] = table.keys[slots[part]]
        for part in range(len(columns)):
            slot = slots[part]
            if wanted[part] >= 0 and held[part] != wanted[part] and held[part] >= 0:
                slot = _find(table.keys, wanted[part])
                held[part] = wanted[part] if slot >= 0 else -1
            if held[part] == wanted[part]:
                scores[part] += table.values[slot, 0]
    return scores


@njit(cache=True)
def score_allowed_arcs(codes: Codes, table: Table, tags: Ints, between: Singles, allowed: Bools) -> Floats:
    """As :func:`solvers.factored_scores.score_arcs`, of the allowed arcs alone; shape (N, N), 0 elsewhere."""
    size = len(allowed)
    scores = np.zeros((size, size))
    count = 0
    pairs = np.empty((size * size, 2), np.int64)
    for h in range(size):
        for m in range(1, size):
            if allowed[h, m]:
                pairs[count, 0], pairs[count, 1] = h, m
                count += 1
    total = np.zeros(count)
    wanted, slots, held = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    for t in range(len(table.templates)):
        heads, modifiers = codes[table.templates[t, 0]], codes[table.templates[t, 1]]
        for k in range(count):
            h, m = pairs[k]
            first, second = np.int64(heads[h]), np.int64(modifiers[m])
            key = table.offsets[t] + first * table.strides[t, 0] + second * table.strides[t, 1] + (h > m)
            wanted[k] = key if (first | second) >= 0 else -2
            slots[k] = _hash(wanted[k], len(table.keys) - 1)
            held[k] = table.keys[slots[k]]
        for k in range(count):
            slot = slots[k]
            if wanted[k] >= 0 and held[k] != wanted[k] and held[k] >= 0:
                slot = _find(table.keys, wanted[k])
                held[k] = wanted[k] if slot >= 0 else -1
            if held[k] == wanted[k]:
                total[k] += table.values[slot, 0] + table.values[slot, 1 + distance_bin(pairs[k, 0], pairs[k, 1])]
    for k in range(count):
        scores[pairs[k, 0], pairs[k, 1]] = total[k]
    seen = np.zeros(len(between), dtype=np.bool_)
    found = np.empty(len(between), dtype=np.int64)
    for h in range(size):
        for side in range(2):
            seen[:] = False
            count = 0
            step = 1 - 2 * side
            m = h + step
            while 1 <= m < size:
                if allowed[h, m]:
                    row = between[tags[h], tags[m], side]
                    for k in range(count):
                        scores[h, m] += row[found[k]]
                if not seen[tags[m]]:
                    seen[tags[m]] = True
                    found[count] = tags[m]
                    count += 1
                m += step
    return scores


@njit(cache=True)
def mark_tuples(
    codes: Codes, table: Table, delta: Singles, columns: Ints, relation: Ints, sign: float, slots: Ints
) -> int:
    """Add ``sign`` to the features of tuples; how many slots were written, some more than once.

    The table must have room for one key a tuple and template.
    """
    count = 0
    width = columns.shape[1]
    for part in range(len(columns)):
        for t in range(len(table.templates)):
            key = table.offsets[t] + relation[part]
            known = True
            for k in range(width):
                code = codes[table.templates[t, k], columns[part, k]]
                known = known and code >= 0
                key += code * table.strides[t, k]
            if known:
                slot, _ = _claim(table.keys, key)
                delta[slot, 0] += sign
                slots[count] = slot
                count += 1
    return count
