"""Keys of features of two tokens, block by block: those that share the code of one of the tokens stand together.

A sentence asks for the same few thousand blocks again and again, one for each token and template, and for many keys of
each: what a token's block holds is near after the first.  In one hash table of all keys each question is for another
place in memory, and waiting for it is most of the time.

A template's blocks are those of the token whose conjunction has more codes: its *owner*.  A block is a hash table with
open addressing of the rest of the key, the code of the other token with the place; at least one slot of it is empty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit

Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]

FREE = np.int32(-1)

SPREAD = 0x9E3779B1
"""An odd number that the rests are multiplied by: no product of 31 bits with it overflows."""


class Blocks(NamedTuple):
    """Which keys there are.

    Attributes
    ----------
    owners
        Which token of a template owns its blocks, 0 or 1; shape (templates,).
    widths
        How many places follow the other token's code in the rest of a key.
    begins
        Where the blocks of a template begin, one for each code of the owner that has any; shape (templates + 1,).
    blocks
        First slot of a block, one less than how many slots it has, a power of two, and a set of 64 elements: a rest has
        an element that says whether the block may hold it.  Shape (blocks, 3); the set of an empty block is 0.
    slots
        A rest and the number of its key, shape (slots, 2); -1 where empty.  Keys of one block have numbers that follow
        each other.
    """

    owners: Ints
    widths: Ints
    begins: Ints
    blocks: Ints
    slots: Shorts


@njit(cache=True, no_cpython_wrapper=True)
def element_of(spread):  # type: ignore[no-untyped-def]
    """Which of a set's 64 elements a rest has, by its product with :data:`SPREAD`."""
    return (spread >> 20) & 63


@njit(cache=True, no_cpython_wrapper=True)
def find_rest(slots, first, mask, rest, spread):  # type: ignore[no-untyped-def]
    """Number of the key with a rest in a block, -1 if there is none."""
    at = spread & mask
    while slots[first + at, 0] != rest:
        if slots[first + at, 0] == FREE:
            return np.int64(-1)
        at = (at + 1) & mask
    return np.int64(slots[first + at, 1])


@njit(cache=True, nogil=True)
def find(blocks, t, owner, other, place):  # type: ignore[no-untyped-def]
    """Number of a template's key, -1 if it is not there or a code is -1."""
    if owner < 0 or other < 0 or owner >= blocks.begins[t + 1] - blocks.begins[t]:
        return np.int64(-1)
    block = blocks.blocks[blocks.begins[t] + owner]
    rest = other * blocks.widths[t] + place
    spread = rest * SPREAD
    if not (block[2] >> element_of(spread)) & 1:
        return np.int64(-1)
    return find_rest(blocks.slots, block[0], block[1], rest, spread)


@njit(cache=True, no_cpython_wrapper=True)
def _parts(key, starts, sizes, widths, owners):  # type: ignore[no-untyped-def]
    """Template of a key, the owner's code, and the rest."""
    t = np.searchsorted(starts, key, side="right") - 1
    pair, place = divmod(key - starts[t], widths[t])
    first, second = divmod(pair, sizes[t])
    owner, other = (first, second) if owners[t] == 0 else (second, first)
    return t, owner, other * widths[t] + place


@njit(cache=True)
def _count(keys, starts, sizes, widths, owners, begins, counts):  # type: ignore[no-untyped-def]
    """Count the keys of each block, or of each template the codes that own some, if there are no blocks."""
    for key in keys:
        if key >= 0:
            t, owner, _ = _parts(key, starts, sizes, widths, owners)
            if len(begins):
                counts[begins[t] + owner] += 1
            else:
                counts[t] = max(counts[t], owner + 1)


@njit(cache=True)
def _lay_out(blocks):  # type: ignore[no-untyped-def]
    """Give room to blocks, where each has the number of its keys as yet; how many slots and how many keys there are.

    Two thirds of a block are full at most.
    """
    room, held = 0, 0
    for block in blocks:
        count, length = block[1], 2
        while 2 * length < 3 * count:
            length *= 2
        block[0], block[1] = room, length - 1 if count > 0 else 0
        room += length if count > 0 else 0
        held += count
    return room, held


@njit(cache=True)
def _claim(keys, starts, sizes, widths, owners, begins, blocks, slots, order):  # type: ignore[no-untyped-def]
    """Put keys into their blocks, and number them by their places there; ``order``: takes each number's key."""
    for k in range(len(keys)):
        if keys[k] < 0:
            continue
        t, owner, rest = _parts(keys[k], starts, sizes, widths, owners)
        block = blocks[begins[t] + owner]
        spread = rest * SPREAD
        at = spread & block[1]
        while slots[block[0] + at, 0] != FREE:
            at = (at + 1) & block[1]
        slots[block[0] + at, 0], slots[block[0] + at, 1] = rest, k
        block[2] |= np.int64(1) << element_of(spread)
    number = 0
    for slot in range(len(slots)):
        if slots[slot, 0] != FREE:
            order[number] = slots[slot, 1]
            slots[slot, 1] = number
            number += 1


def blocks_of(keys: Ints, starts: Ints, sizes: Ints, widths: Ints) -> tuple[Blocks, Shorts]:
    """Blocks of keys, and the places in ``keys`` of what has the numbers 0, 1, ...

    Parameters
    ----------
    keys
        Different ones; what is negative is none.  That of template t is
        ``starts[t] + (first * sizes[t, 1] + second) * widths[t] + place``.
    starts
        The first key of each template, ascending.
    sizes
        How many codes the conjunctions have, shape (templates, 2).
    widths
        How many places a template tells apart.

    Raises
    ------
    OverflowError
        If there are so many codes or keys that a rest or a place does not fit into 31 bits.
    """
    owners = np.where(sizes[:, 0] >= sizes[:, 1], 0, 1).astype(np.int64)
    if len(keys) >= 2**31 or (sizes.min(axis=1) * widths >= 2**31).any():
        raise OverflowError("too many codes: what is looked up in a block does not fit into 31 bits")
    given = starts, np.ascontiguousarray(sizes[:, 1]), np.asarray(widths, dtype=np.int64), owners
    many = np.zeros(len(starts), dtype=np.int64)
    _count(keys, *given, np.empty(0, dtype=np.int64), many)
    begins = np.concatenate([[0], np.cumsum(many)]).astype(np.int64)
    blocks = np.zeros((int(begins[-1]), 3), dtype=np.int64)
    _count(keys, *given, begins, blocks[:, 1])
    room, held = _lay_out(blocks)
    slots = np.full((room, 2), FREE)
    order = np.empty(held, dtype=np.int32)
    _claim(keys, *given, begins, blocks, slots, order)
    return Blocks(owners, given[2], begins, blocks, slots), order
