"""Numbers of conjunctions that join the attributes of neighbouring tokens."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from problems.dependency.features.hashed_keys import find
from solvers.kernel_cache import njit

Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]

NONE = -1


@njit(cache=True)
def find_joined(
    ids: Shorts, edges: Ints, attributes: Ints, shifts: Ints, radix: Ints, offsets: Ints, keys: Ints, numbers: Shorts
) -> Shorts:
    """Of each list and token: the number of the key that joins ids of the token and its neighbours, -1 for none.

    Parameters
    ----------
    ids
        Of each attribute and token, shape (attributes, tokens); -1 where unknown.
    edges
        Of each attribute: the id beyond the first and the last token.
    attributes, shifts
        What list l joins, shape (lists, most): attribute, -1 behind the last one, and which neighbour's.
    radix
        What follows an id in the key is less than this, by attribute.
    offsets
        What the keys of list l are counted from.
    keys, numbers
        A table of all lists' keys (:mod:`problems.dependency.features.hashed_keys`), and the number of each, by slot.

    Returns
    -------
    Shorts
        Shape (lists, tokens).
    """
    lists, tokens = len(attributes), ids.shape[1]
    found = np.full((lists, tokens), NONE, dtype=np.int32)
    for one in range(lists):
        for token in range(tokens):
            key = np.int64(0)
            for k in range(attributes.shape[1]):
                attribute = attributes[one, k]
                if attribute < 0:
                    break
                other = token + shifts[one, k]
                code = np.int64(ids[attribute, other]) if 0 <= other < tokens else edges[attribute]
                if code < 0:
                    key = np.int64(NONE)
                    break
                key = key * radix[attribute] + code
            if key < 0:
                continue
            slot = find(keys, offsets[one] + key)
            if slot >= 0:
                found[one, token] = numbers[slot]
    return found
