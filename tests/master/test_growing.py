"""Arrays that grow, and the index of 64-bit numbers, beside a list and a dictionary."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from colgen.master.growing import Growing, SignatureIndex


@given(st.lists(st.lists(st.integers(-9, 9), max_size=40), max_size=8))
def test_growing_is_a_list(parts):
    growing, expected = Growing(np.array([7], dtype=np.int32)), [7]
    for part in parts:
        growing.extend(part, len(part))
        expected += part
        assert growing.array.tolist() == expected
        assert growing.array.dtype == np.int32
    growing.extend(3, 2)
    assert growing.array.tolist() == [*expected, 3, 3]


def anything(asked, positions):
    return np.ones(len(asked), dtype=bool)


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=120), max_size=6), st.integers(0, 63))
def test_the_index_finds_what_is_there(parts, shift):
    """Numbers that share their low bits crowd into the same slots."""
    signatures = Growing(np.empty(0, dtype=np.uint64))
    index, known = SignatureIndex(signatures), {}
    for part in parts:
        numbers = [(number << shift) % 2**64 for number in part]
        fresh = list(dict.fromkeys(number for number in numbers if number not in known))
        first = len(signatures)
        signatures.extend(np.array(fresh, dtype=np.uint64), len(fresh))
        index.add(np.arange(first, first + len(fresh)))
        known.update((number, first + k) for k, number in enumerate(fresh))
        asked = [*known, *(number ^ 1 for number in known)]
        for some in (asked, asked[:5]):
            found = index.find(np.array(some, dtype=np.uint64), anything)
            assert found.tolist() == [known.get(number, -1) for number in some]


def test_equal_numbers_that_mean_different_things_are_told_apart():
    signatures = Growing(np.empty(0, dtype=np.uint64))
    index = SignatureIndex(signatures)
    meanings = [*"abcdefghijklmnop"]
    signatures.extend(np.full(16, 5, dtype=np.uint64), 16)
    index.add(np.arange(16))
    for wanted in (["c", "q"], ["p", *"abcdefghijkl"]):

        def same(asked, positions, wanted=wanted):
            return np.array([wanted[k] == meanings[p] for k, p in zip(asked, positions, strict=True)], dtype=bool)

        found = index.find(np.full(len(wanted), 5, dtype=np.uint64), same)
        assert found.tolist() == [meanings.index(w) if w in meanings else -1 for w in wanted]
