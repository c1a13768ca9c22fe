"""Token types: cached sums for tokens with the same tags and morphology, across sentences.

A token's *kind* is the tuple of its codes for a few conjunctions with few values, -1 included.  A text has some
hundreds of kinds, and the same pairs recur.  Weights of templates that depend on kinds only are summed once per pair
and position.  The caller stores the sums, one row per number assigned here.

Kinds are compared by their codes, so sentences of different vocabularies can be mixed.  If memory is full, a pair gets
no number and is summed again each time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.dependency.features.hashed_keys import EMPTY, hash_of
from colgen.solvers.kernel_cache import njit

Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]

NONE = -1


class Kinds(NamedTuple):
    """Known kinds and pairs of kinds.

    Attributes
    ----------
    conjunctions
        Conjunctions whose codes define a kind.
    counts, room
        Number of kinds and of pairs, shape (2,), and maximum number of pairs, shape (1,).
    slots
        A hash table of kind numbers, length a power of two; -1 where empty.
    codes
        Codes by kind number, shape (maximum number of kinds, conjunctions).
    pairs
        A hash table of pairs with positions, shape (a power of two, 2): key and number, -1 where empty.
    """

    conjunctions: Ints
    counts: Ints
    slots: Ints
    codes: Shorts
    pairs: Ints
    room: Ints


def no_kinds(conjunctions: Ints, kinds: int, pairs: int) -> Kinds:
    """Return an empty set with space for numbers of kinds and pairs."""
    slots, places = (1 << max(1, (2 * room - 1).bit_length()) for room in (kinds, pairs))  # at most half full
    codes = np.zeros((kinds, len(conjunctions)), dtype=np.int32)
    counts, room = np.zeros(2, dtype=np.int64), np.array([pairs], dtype=np.int64)
    return Kinds(conjunctions, counts, np.full(slots, EMPTY), codes, np.full((places, 2), EMPTY), room)


@njit(cache=True)
def number_kinds(kinds: Kinds, codes: Shorts, numbers: Ints) -> None:
    """Write the kind numbers of a sentence's tokens, the root first; -1 if memory is full."""
    mask = len(kinds.slots) - 1
    for token in range(len(numbers)):
        mixed = np.int64(0)
        for k in range(len(kinds.conjunctions)):
            mixed = (mixed ^ (np.int64(codes[kinds.conjunctions[k], token]) + 1)) * 0x2545F491
            mixed = (mixed ^ (mixed >> 29)) & 0x7FFFFFFF  # no product overflows
        slot = mixed & mask
        while kinds.slots[slot] != EMPTY:
            known, same = kinds.slots[slot], True
            for k in range(len(kinds.conjunctions)):
                same &= kinds.codes[known, k] == codes[kinds.conjunctions[k], token]
            if same:
                break
            slot = (slot + 1) & mask
        if kinds.slots[slot] == EMPTY and kinds.counts[0] < len(kinds.codes):
            known = kinds.counts[0]
            for k in range(len(kinds.conjunctions)):
                kinds.codes[known, k] = codes[kinds.conjunctions[k], token]
            kinds.slots[slot] = known
            kinds.counts[0] += 1
        numbers[token] = kinds.slots[slot]


@njit(cache=True)
def number_pairs(kinds: Kinds, head: int, modifiers: Ints, places: Ints, many: int, numbers: Ints) -> None:
    """Write the numbers of the pairs of one head with all modifiers.

    ``head`` and ``modifiers`` are kind numbers, or -1.  ``places`` are the modifiers' positions relative to the head,
    out of ``many``; -1: no pair.  The result is -1 if memory is full, and -2 - number if the pair is new.
    """
    mask = len(kinds.pairs) - 1
    first = head * len(kinds.codes)
    for m in range(1, len(modifiers)):  # independent loads overlap their memory latency
        slot = hash_of((first + modifiers[m]) * many + places[m], mask)
        numbers[m] = kinds.pairs[slot, 1] if kinds.pairs[slot, 0] == (first + modifiers[m]) * many + places[m] else NONE
    for m in range(1, len(modifiers)):
        if head < 0 or modifiers[m] < 0 or places[m] < 0:
            numbers[m] = NONE
        elif numbers[m] < 0:
            key = (first + modifiers[m]) * many + places[m]
            slot = hash_of(key, mask)
            while kinds.pairs[slot, 0] != key and kinds.pairs[slot, 0] != EMPTY:
                slot = (slot + 1) & mask
            if kinds.pairs[slot, 0] == key:
                numbers[m] = kinds.pairs[slot, 1]
            elif kinds.counts[1] < kinds.room[0]:
                kinds.pairs[slot, 0], kinds.pairs[slot, 1] = key, kinds.counts[1]
                numbers[m] = -2 - kinds.counts[1]
                kinds.counts[1] += 1
