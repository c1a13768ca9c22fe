"""A set of non-negative integer keys in a hash table with open addressing.

Complete keys are compared, so there are no collisions.  Data of a key is stored in other arrays at the same slot.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner

Ints = NDArray[np.int64]

EMPTY = np.int64(-1)


def room_for_keys(count: int) -> Ints:
    """Return an empty table that ``count`` keys fill at most half."""
    return np.full(1 << max(4, (2 * count).bit_length()), EMPTY)


@njit(cache=True, no_cpython_wrapper=True)
def hash_of(key, mask):  # type: ignore[no-untyped-def]
    """Return the first slot to search for a key; ``mask``: table length, a power of two, minus 1."""
    # Both halves of the key times odd 30-bit numbers: no product overflows, even without numba.
    mixed = (key & 0x7FFFFFFF) * 0x2545F491 + (key >> 31) * 0x1B873593
    return (mixed ^ (mixed >> 29)) & mask


@inner
def find(keys, key):  # type: ignore[no-untyped-def]
    """Return the slot of a key, or -1."""
    mask = keys.shape[0] - 1
    slot = hash_of(key, mask)
    while keys[slot] != key:
        if keys[slot] == EMPTY:
            return np.int64(-1)
        slot = (slot + 1) & mask
    return slot


@inner
def claim(keys, key):  # type: ignore[no-untyped-def]
    """Return the slot of a key, inserting it if missing."""
    mask = keys.shape[0] - 1
    slot = hash_of(key, mask)
    while keys[slot] != key:
        if keys[slot] == EMPTY:
            keys[slot] = key
            return slot
        slot = (slot + 1) & mask
    return slot


@njit(cache=True)
def claim_all(keys: Ints, new_keys: Ints) -> Ints:
    """Return the slots of several keys, inserting missing ones; the table must be large enough."""
    slots = np.empty(len(new_keys), dtype=np.int64)
    for k in range(len(new_keys)):
        slots[k] = claim(keys, new_keys[k])
    return slots
