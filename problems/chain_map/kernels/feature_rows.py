"""A tagger's features of tokens, assembled from rows of words and from pairs of neighbours.

The features of a word alone are in its row, which is computed once. The features of two neighbours are found in a hash
table with open addressing that compares complete keys. Time is O(1) per feature.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]

OWN = 12
"""Features of the word alone, in the first columns of its row."""

PLACE, LENGTH, AROUND, ENDS, PLAIN, SHAPE, SUFFIX, WIDTH = 12, 15, 16, 20, 22, 23, 24, 25
"""Columns of a row: the shape inside, first and last; the shape with the length; the word as neighbour before, after,
two before and two after; the suffix as neighbour before and after; the numbers of the plain word, its shape and its
suffix; the number of columns.
"""

BEFORE, AFTER = 0, 1
"""Rows of the placeholders next to a sentence and one further away."""

_EMPTY = -1


@njit(cache=True, no_cpython_wrapper=True)
def _start(key: Any, mask: Any) -> Any:
    mixed = (key & 0x7FFFFFFF) * 0x2545F491 + (key >> 31) * 0x1B873593
    return (mixed ^ (mixed >> 29)) & mask


@njit(cache=True, borrows=True)
def fill_pairs(keys: Offsets, numbers: Ints, new_keys: Offsets, new_numbers: Ints) -> None:
    """Insert features into an empty table, whose length is a power of two above their number."""
    mask = len(keys) - 1
    for k in range(len(new_keys)):
        slot = _start(new_keys[k], mask)
        while keys[slot] != _EMPTY:
            slot = (slot + 1) & mask
        keys[slot], numbers[slot] = new_keys[k], new_numbers[k]


@inner
def _pair(keys, numbers, atoms, kind, first, second):  # type: ignore[no-untyped-def]
    if first < 0 or second < 0:
        return np.int32(-1)
    key = (np.int64(kind) * atoms + first) * atoms + second
    mask = len(keys) - 1
    slot = _start(key, mask)
    while keys[slot] != key:
        if keys[slot] == _EMPTY:
            return np.int32(-1)
        slot = (slot + 1) & mask
    return numbers[slot]


@njit(cache=True)
def gather(rows: Ints, words: Ints, lengths: Offsets, keys: Offsets, numbers: Ints, atoms: int, out: Ints) -> None:
    """Write the feature numbers of the tokens of sentences, -1 for features not in the index.

    Parameters
    ----------
    rows, words
        Rows of words, shape (words, ``WIDTH``), and the row of each token, sentence by sentence.
    keys, numbers
        The table of pairs: keys (kind · atoms + first) · atoms + second, -1 if empty, and feature numbers.
    out
        Shape (tokens, kinds of features), written.
    """
    start = 0
    firsts, seconds = np.empty(9, np.int32), np.empty(9, np.int32)
    for length in lengths:
        for i in range(length):
            t = start + i
            own, row = rows[words[t]], out[t]
            left = rows[words[t - 1] if i > 0 else BEFORE]
            right = rows[words[t + 1] if i + 1 < length else BEFORE]
            far_left = rows[words[t - 2] if i > 1 else BEFORE if i == 1 else AFTER]
            far_right = rows[words[t + 2] if i + 2 < length else BEFORE if i + 2 == length else AFTER]
            for k in range(OWN):
                row[k] = own[k]
            row[12] = own[PLACE + (1 if i == 0 else 2 if i + 1 == length else 0)]
            row[13] = own[LENGTH]
            row[14], row[15] = left[AROUND], right[AROUND + 1]
            row[16], row[17] = far_left[AROUND + 2], far_right[AROUND + 3]
            row[20], row[21] = left[ENDS], right[ENDS + 1]
            # A loop, so that the search is compiled once and not nine times.
            firsts[0], seconds[0] = left[SHAPE], own[SHAPE]
            firsts[1], seconds[1] = own[SHAPE], right[SHAPE]
            firsts[2], seconds[2] = left[PLAIN], own[PLAIN]
            firsts[3], seconds[3] = own[PLAIN], right[PLAIN]
            firsts[4], seconds[4] = left[PLAIN], right[PLAIN]
            firsts[5], seconds[5] = far_left[PLAIN], left[PLAIN]
            firsts[6], seconds[6] = right[PLAIN], far_right[PLAIN]
            firsts[7], seconds[7] = left[PLAIN], own[SUFFIX]
            firsts[8], seconds[8] = own[SUFFIX], right[PLAIN]
            for k in range(9):
                row[18 + k if k < 2 else 20 + k] = _pair(keys, numbers, atoms, k, firsts[k], seconds[k])
        start += length
