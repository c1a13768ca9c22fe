"""Codes of conjunctions of neighbouring tokens' attributes, computed from the attributes' numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.dependency.features.hashed_keys import claim_all, find, room_for_keys
from colgen.solvers.kernel_cache import njit

Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]

NONE = -1


class Joined(NamedTuple):
    """Conjunctions with attributes of neighbours, and the codes of their values.

    Attributes
    ----------
    conjunctions
        Numbers of the conjunctions.
    attributes, shifts
        Attributes of each conjunction, -1 after the last, and offsets of the neighbours; shape (conjunctions, most).
    edges
        Number of each attribute beyond the first and the last token.
    radix
        Number of values of each attribute.
    offsets
        Key offset of each conjunction.
    keys, codes
        A table of all keys (:mod:`colgen.problems.dependency.features.hashed_keys`), and their codes by slot.
    """

    conjunctions: Ints
    attributes: Ints
    shifts: Ints
    edges: Ints
    radix: Ints
    offsets: Ints
    keys: Ints
    codes: Shorts


def joined_of(
    conjunctions: Sequence[int],
    parts: Sequence[Sequence[tuple[int, int]]],
    values: Sequence[Sequence[Sequence[int]]],
    edges: Sequence[int],
    sizes: Sequence[int],
) -> Joined:
    """Return the :class:`Joined` table of some conjunctions.

    ``parts`` lists attributes and neighbour offsets of each conjunction; ``values`` the numbers of each of these
    attributes in the order of the codes; ``edges`` the number of each attribute beyond the first and the last token;
    ``sizes`` the number of values of each attribute.  Raises OverflowError if the keys do not fit into 63 bits.
    """
    attributes = np.full((len(parts), max(map(len, parts))), NONE, dtype=np.int64)
    shifts = np.zeros_like(attributes)
    offset, offsets = 0, []  # Python integers do not overflow
    keys: list[Ints] = []
    for row, (of_list, columns) in enumerate(zip(parts, values, strict=True)):
        several = np.zeros(len(columns[0]), dtype=np.int64)
        for position, ((attribute, shift), numbers) in enumerate(zip(of_list, columns, strict=True)):
            attributes[row, position], shifts[row, position] = attribute, shift
            several = several * sizes[attribute] + np.array(numbers, dtype=np.int64)
        offsets.append(offset)
        offset += math.prod(sizes[attribute] for attribute, _ in of_list)
        if offset >= 2**63:
            raise OverflowError("too many attribute values: the keys of conjunctions do not fit into 63 bits")
        keys.append(offsets[-1] + several)
    held = room_for_keys(sum(map(len, keys)))
    codes = np.empty(len(held), dtype=np.int32)
    for of_one in keys:
        codes[claim_all(held, of_one)] = np.arange(len(of_one))
    integers = (np.array(each, dtype=np.int64) for each in (conjunctions, edges, sizes, offsets))
    numbers_of, edges_of, radix, begins = integers
    return Joined(numbers_of, attributes, shifts, edges_of, radix, begins, held, codes)


@njit(cache=True)
def codes_of_tokens(which: Ints, kept: Shorts, alone: Ints, joined: Joined, ends: Shorts) -> Shorts:
    """Return the codes of a sentence, shape (conjunctions, n + 3), -1 if unknown.

    Parameters
    ----------
    which
        The row of each token.
    kept
        Rows with the codes of one-token conjunctions (``alone``), then the numbers of attributes, -1 if unknown.
    ends
        Codes of the root and of the two tokens that stand for no sibling, shape (3, conjunctions).
    """
    n, first = len(which), len(alone)
    codes = np.empty((ends.shape[1], n + 3), dtype=np.int32)
    for k in range(ends.shape[1]):
        codes[k, 0], codes[k, n + 1], codes[k, n + 2] = ends[0, k], ends[1, k], ends[2, k]
    for token in range(n):
        row = which[token]
        for k in range(first):
            codes[alone[k], token + 1] = kept[row, k]
    attributes, shifts, edges, radix = joined.attributes, joined.shifts, joined.edges, joined.radix
    offsets, keys, numbers = joined.offsets, joined.keys, joined.codes
    for one in range(len(attributes)):
        into = codes[joined.conjunctions[one]]
        for token in range(n):
            key = np.int64(0)
            for k in range(attributes.shape[1]):
                attribute = attributes[one, k]
                if attribute < 0:
                    break
                other = token + shifts[one, k]
                number = np.int64(kept[which[other], first + attribute]) if 0 <= other < n else edges[attribute]
                if number < 0:
                    key = np.int64(NONE)
                    break
                key = key * radix[attribute] + number
            slot = np.int64(NONE) if key < 0 else find(keys, offsets[one] + key)
            into[token + 1] = numbers[slot] if slot >= 0 else np.int32(NONE)
    return codes
