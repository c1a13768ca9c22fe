"""A tagger's features of tokens, put together from rows that belong to words and from pairs of neighbours.

What a word says by itself stands in the row of that word, worked out when it is first met; what two neighbours say
together is found by their numbers in a hash table with open addressing that compares whole keys.  Time O(1) a feature.
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
"""Columns of a row: the shape inside, first and last; with the length; as word before, after, two before and two after;
the end as word before and after; and the numbers of the plain word, of its shape and of its end; how many there are."""

BEFORE, AFTER = 0, 1
"""Rows that stand for the words next to a sentence and for those beyond."""

_EMPTY = -1


@njit(cache=True, no_cpython_wrapper=True)
def _start(key: Any, mask: Any) -> Any:
    mixed = (key & 0x7FFFFFFF) * 0x2545F491 + (key >> 31) * 0x1B873593
    return (mixed ^ (mixed >> 29)) & mask


@njit(cache=True, borrows=True)
def fill_pairs(keys: Offsets, numbers: Ints, new_keys: Offsets, new_numbers: Ints) -> None:
    """Put features into an empty table, whose length is a power of two above their number."""
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
    """Feature numbers of the tokens of sentences, -1 where a feature has none.

    Parameters
    ----------
    rows
        Of words, shape (words, ``WIDTH``).
    words
        The row of each token; the sentences one after the other.
    lengths
        Of the sentences.
    keys, numbers
        The table of pairs: keys (kind · atoms + first) · atoms + second, -1 where empty; and their features.
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
            # In a loop, so that the search is compiled once and not nine times.
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
