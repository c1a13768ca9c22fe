"""Growing arrays and the signature index, compared with a list and a dictionary."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from colgen.master.growing_arrays import Growing, GrowingTogether, SignatureIndex


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


@given(st.lists(st.lists(st.integers(-9, 9), max_size=40), max_size=8))
def test_arrays_that_grow_together_are_lists_of_one_length(parts):
    together, expected = GrowingTogether(np.int32, np.float64, np.bool_), []
    before = together.arrays[1]
    for part in parts:
        together.extend(len(part), part, 0.5, [number > 0 for number in part])
        expected += part
        numbers, halves, positive = together.arrays
        assert numbers.tolist() == expected
        assert halves.tolist() == [0.5] * len(expected)
        assert positive.tolist() == [number > 0 for number in expected]
    assert not len(before)  # a view of an array stays unchanged


def patterns(costs):
    """Columns without entries, distinguished by their costs."""
    return np.array(costs, dtype=float), np.zeros(len(costs) + 1, np.int32), np.empty(0, np.int32), np.empty(0)


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=120), max_size=6), st.integers(0, 63))
def test_the_index_finds_present_columns(parts, shift):
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
        wanted = np.array(asked, dtype=np.uint64)
        found = index.find(patterns(np.zeros(len(asked))), wanted, patterns(np.zeros(len(known))))
        assert found.tolist() == [known.get(number, -1) for number in asked]


def test_columns_with_equal_signatures_are_distinguished():
    signatures = Growing(np.empty(0, dtype=np.uint64))
    index = SignatureIndex(signatures)
    signatures.extend(np.full(16, 5, dtype=np.uint64), 16)
    index.add(np.arange(16))
    found = index.find(patterns([2, 16, 15]), np.full(3, 5, dtype=np.uint64), patterns(range(16)))
    assert found.tolist() == [2, -1, 15]
