"""Features of characters: n-grams at fixed distances, and words of a dictionary, as integer keys in hash tables.

A key mixes all codes of an n-gram or word into 62 bits, so that no text is stored or compared. Time is O(n) per n-gram.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit

Shorts = NDArray[np.int32]
Ints = NDArray[np.int64]

_OUTSIDE = -1
_EMPTY = -1
_MULTIPLIER = 0x2545F4914F6CDD1D
_POSITIVE = (1 << 62) - 1


@njit(cache=True, no_cpython_wrapper=True)
def _mix(key: Any, code: Any) -> Any:
    mixed = (key ^ (code + np.int64(0x1B873593))) * np.int64(_MULTIPLIER)
    return mixed ^ (mixed >> np.int64(31))


@njit(cache=True)
def write_keys(streams: Ints, offsets: Ints, windows: Ints, out: Ints) -> None:
    """Write the keys of the features of all characters.

    Parameters
    ----------
    streams
        Codes of the characters of all chains, none of them negative, shape (streams, characters).
    offsets
        Start of each chain, and the end of the last one.
    windows
        Shape (windows, 3): the stream, the distance of the first character, and the number of characters. Codes beyond
        either end of the chain are -1.
    out
        Shape (characters, windows), written: keys from 0 to 2^62 - 1.
    """
    for chain in range(len(offsets) - 1):
        begin, end = offsets[chain], offsets[chain + 1]
        for i in range(begin, end):
            for k in range(len(windows)):
                key = _mix(np.int64(windows[k, 2]), np.int64(k))
                first = i + windows[k, 1]
                for place in range(first, first + windows[k, 2]):
                    key = _mix(key, streams[windows[k, 0], place] if begin <= place < end else np.int64(_OUTSIDE))
                out[i, k] = key & np.int64(_POSITIVE)


@njit(cache=True)
def fill_table(keys: Ints, numbers: Shorts, new_keys: Ints) -> None:
    """Insert keys with their places into an empty table, whose length is a power of two above their number."""
    mask = len(keys) - 1
    for k in range(len(new_keys)):
        slot = new_keys[k] & mask
        while keys[slot] != _EMPTY:
            slot = (slot + 1) & mask
        keys[slot], numbers[slot] = new_keys[k], k


@njit(cache=True)
def find_keys(keys: Ints, numbers: Shorts, wanted: Ints, out: Shorts) -> None:
    """Write the numbers of keys, shape (characters, windows); -1 for keys that the table does not contain."""
    mask = len(keys) - 1
    for i in range(wanted.shape[0]):
        for k in range(wanted.shape[1]):
            slot = wanted[i, k] & mask
            while keys[slot] != wanted[i, k] and keys[slot] != _EMPTY:
                slot = (slot + 1) & mask
            out[i, k] = numbers[slot] if keys[slot] != _EMPTY else np.int32(-1)


@njit(cache=True, no_cpython_wrapper=True)
def _contains(keys: Ints, wanted: Any) -> Any:
    mask = len(keys) - 1
    slot = wanted & mask
    while keys[slot] != wanted and keys[slot] != _EMPTY:
        slot = (slot + 1) & mask
    return keys[slot] == wanted


@njit(cache=True)
def write_word_keys(codes: Ints, offsets: Ints, out: Ints) -> None:
    """Write the key of each word, given the codes of the characters of all words."""
    for word in range(len(offsets) - 1):
        key = np.int64(0)
        for place in range(offsets[word], offsets[word + 1]):
            key = _mix(key, codes[place])
        out[word] = key & np.int64(_POSITIVE)


@njit(cache=True)
def match_words(codes: Ints, offsets: Ints, keys: Ints, longest: int, streams: Ints) -> None:
    """Write the lengths of the longest words of a dictionary around each character.

    Parameters
    ----------
    codes, offsets
        Codes of the characters of all chains, and the start of each chain.
    keys
        Hash table of the words, -1 if empty.
    longest
        Maximum length of the words.
    streams
        Shape (3, characters), zero, written: the longest word that begins at the character, that ends before it, and
        that has it inside. Of the first two, words that end or begin with the chain add ``longest + 1``.
    """
    for chain in range(len(offsets) - 1):
        begin, end = offsets[chain], offsets[chain + 1]
        for i in range(begin, end):
            key = np.int64(0)
            for j in range(i, min(end, i + longest)):
                key = _mix(key, codes[j])
                if not _contains(keys, key & np.int64(_POSITIVE)):
                    continue
                length = j + 1 - i
                streams[0, i] = length + (longest + 1 if j + 1 == end else 0)
                if j + 1 < end:
                    streams[1, j + 1] = max(streams[1, j + 1], length + (longest + 1 if i == begin else 0))
                for inside in range(i + 1, j + 1):
                    streams[2, inside] = max(streams[2, inside], length)
