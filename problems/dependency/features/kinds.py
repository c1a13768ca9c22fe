"""Kinds of tokens: what tokens of the same tags and morphology have in common, kept from one sentence to the next.

A token's *kind* is the tuple of its codes of a few conjunctions that have few codes each, -1 included.  A text has some
hundreds of kinds, and the same two meet again and again; what templates say that look at nothing else is summed up once
for two kinds and a place, and kept.  Who asks holds the sums, one row for each number that is given here.

Kinds are compared by their codes, never by a number that came from elsewhere: sentences of any vocabulary may be
mixed.  What there is no room for gets no number, and is summed up afresh each time.
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
    """Kinds that have been met, and pairs of them.

    Attributes
    ----------
    conjunctions
        Whose codes make a kind.
    counts
        How many kinds and how many pairs there are, shape (2,).
    slots
        A hash table of the kinds, shape (a power of two,): their numbers; -1 where empty.
    codes
        By number of the kind, shape (room for kinds, conjunctions).
    pairs
        A hash table of pairs with their places, shape (a power of two, 2): key and number, -1 where empty.
    room
        How many pairs have room, shape (1,).
    """

    conjunctions: Ints
    counts: Ints
    slots: Ints
    codes: Shorts
    pairs: Ints
    room: Ints


def no_kinds(conjunctions: Ints, kinds: int, pairs: int) -> Kinds:
    """Room for so many kinds and pairs, of which none has been met."""
    slots, places = (1 << max(1, (2 * room - 1).bit_length()) for room in (kinds, pairs))  # half full at most
    codes = np.zeros((kinds, len(conjunctions)), dtype=np.int32)
    counts, room = np.zeros(2, dtype=np.int64), np.array([pairs], dtype=np.int64)
    return Kinds(conjunctions, counts, np.full(slots, EMPTY), codes, np.full((places, 2), EMPTY), room)


@njit(cache=True)
def number_kinds(kinds: Kinds, codes: Shorts, numbers: Ints) -> None:
    """Write the numbers of the kinds of a sentence's tokens, the root first; -1 where there is no room."""
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
    """Write the numbers of pairs of one head with all modifiers, that of token 1 first.

    Parameters
    ----------
    head, modifiers
        Numbers of kinds, those of the modifiers by token; -1 for none.
    places, many
        Which place a modifier has to the head, by token, and of how many there are; -1 for no pair.
    numbers
        Takes the numbers, by token: -1 where there is no room; as -2 - number if the pair is new.
    """
    mask = len(kinds.pairs) - 1
    first = head * len(kinds.codes)
    for m in range(1, len(modifiers)):  # these wait for the memory together
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
