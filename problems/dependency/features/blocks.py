"""Keys of two-token features, stored in blocks of keys that share the code of one token.

A sentence looks up many keys in each of a few thousand blocks, one per token and template.  The keys of a block are
close in memory.  In a single hash table of all keys, waiting for memory would take most of the time.

A template's blocks belong to the token whose conjunction has more codes, its *owner*.  A block is an open-addressing
hash table of the rest of the key: the code of the other token and the position.  At least one of its slots is empty.
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
"""Odd multiplier for rests; its product with 31-bit numbers does not overflow."""


class Blocks(NamedTuple):
    """The set of keys.

    Attributes
    ----------
    owners
        Which token of a template owns its blocks, 0 or 1; shape (templates,).
    widths
        Number of positions that follow the other token's code in the rest of a key.
    begins
        First block of each template, one block per code of the owner; shape (templates + 1,).
    blocks
        First slot of a block, number of slots (a power of two) minus 1, and a set of 64 elements as a filter: the block
        can contain a rest only if the set contains its element.  Shape (blocks, 3); the set of an empty block is 0.
    slots
        A rest and the number of its key, shape (slots, 2); -1 where empty.  Keys of a block are numbered consecutively.
    """

    owners: Ints
    widths: Ints
    begins: Ints
    blocks: Ints
    slots: Shorts


@njit(cache=True, no_cpython_wrapper=True)
def element_of(spread):  # type: ignore[no-untyped-def]
    """Return the element for a rest in the filter of a block; ``spread`` is the rest times :data:`SPREAD`."""
    return (spread >> 20) & 63


@njit(cache=True, no_cpython_wrapper=True)
def find_rest(slots, first, mask, rest, spread):  # type: ignore[no-untyped-def]
    """Return the number of the key that has this rest in a block, or -1 if there is none."""
    at = spread & mask
    while slots[first + at, 0] != rest:
        if slots[first + at, 0] == FREE:
            return np.int64(-1)
        at = (at + 1) & mask
    return np.int64(slots[first + at, 1])


@njit(cache=True, nogil=True)
def find(blocks, t, owner, other, place):  # type: ignore[no-untyped-def]
    """Return the number of a template's key; -1 if it is missing or a code is -1."""
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
    """Return the template of a key, the owner's code, and the rest."""
    t = np.searchsorted(starts, key, side="right") - 1
    pair, place = divmod(key - starts[t], widths[t])
    first, second = divmod(pair, sizes[t])
    owner, other = (first, second) if owners[t] == 0 else (second, first)
    return t, owner, other * widths[t] + place


@njit(cache=True)
def _count(keys, starts, sizes, widths, owners, begins, counts):  # type: ignore[no-untyped-def]
    """Count the keys of each block; without blocks, compute the number of owner codes of each template."""
    for key in keys:
        if key >= 0:
            t, owner, _ = _parts(key, starts, sizes, widths, owners)
            if len(begins):
                counts[begins[t] + owner] += 1
            else:
                counts[t] = max(counts[t], owner + 1)


@njit(cache=True)
def _lay_out(blocks):  # type: ignore[no-untyped-def]
    """Assign slots to blocks, at most two thirds full, which hold key counts; return the numbers of slots and keys."""
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
    """Insert keys into their blocks and number them by position; ``order`` receives the key of each number."""
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
    """Return the blocks of keys, and the index in ``keys`` of each key number.

    Parameters
    ----------
    keys
        Distinct keys; negative ones are ignored.  Template t has the keys ``starts[t] + (first * sizes[t, 1] + second)
        * widths[t] + place``.
    starts
        The first key of each template, ascending.
    sizes
        Number of codes of the conjunctions, shape (templates, 2).
    widths
        Number of positions of each template.
    """
    owners = np.where(sizes[:, 0] >= sizes[:, 1], 0, 1).astype(np.int64)
    if len(keys) >= 2**31 or (sizes.min(axis=1) * widths >= 2**31).any():
        raise OverflowError("too many codes: a key within its block does not fit into 31 bits")
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
