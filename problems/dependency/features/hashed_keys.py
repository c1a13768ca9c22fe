"""A set of keys, whole numbers from 0 on, in a hash table with open addressing.

Whole keys are compared, so that nothing collides.  What belongs to a key stands in other arrays, under the same slot.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner

Ints = NDArray[np.int64]

EMPTY = np.int64(-1)


def room_for_keys(count: int) -> Ints:
    """An empty table, of which so many keys fill half at most."""
    return np.full(1 << max(4, (2 * count).bit_length()), EMPTY)


@njit(cache=True, no_cpython_wrapper=True)
def hash_of(key, mask):  # type: ignore[no-untyped-def]
    """The slot where the search for a key begins; ``mask``: the length of the table, a power of two, less 1."""
    # Both halves of the key times odd numbers of 30 bits: no product overflows, also where numba is switched off.
    mixed = (key & 0x7FFFFFFF) * 0x2545F491 + (key >> 31) * 0x1B873593
    return (mixed ^ (mixed >> 29)) & mask


@inner
def find(keys, key):  # type: ignore[no-untyped-def]
    """Slot of a key, -1 if it is not there."""
    mask = keys.shape[0] - 1
    slot = hash_of(key, mask)
    while keys[slot] != key:
        if keys[slot] == EMPTY:
            return np.int64(-1)
        slot = (slot + 1) & mask
    return slot


@inner
def claim(keys, key):  # type: ignore[no-untyped-def]
    """Slot of a key, which is put there if it was not."""
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
    """Slots of several keys, for which there must be room."""
    slots = np.empty(len(new_keys), dtype=np.int64)
    for k in range(len(new_keys)):
        slots[k] = claim(keys, new_keys[k])
    return slots
