"""Keys in blocks against a dictionary of all keys."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.problems.dependency.features.blocks import FREE, blocks_of, find


@given(seed=st.integers(0, 10_000), share=st.floats(0.0, 1.0))
def test_every_key_is_found_and_no_other(seed, share):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, size=(4, 2))
    widths = rng.choice([2, 12], size=4)
    counts = sizes.prod(axis=1) * widths
    starts = np.cumsum(counts) - counts
    every = np.arange(counts.sum())
    keys = rng.permutation(np.where(rng.random(len(every)) < share, every, -1))  # negative keys are ignored
    blocks, order = blocks_of(keys, starts, sizes, widths)
    held = set(keys[keys >= 0].tolist())
    met = {}
    for t in range(4):
        larger = 0 if sizes[t, 0] >= sizes[t, 1] else 1
        assert blocks.owners[t] == larger
        for first, second in itertools.product(range(-1, sizes[t, 0] + 1), range(-1, sizes[t, 1])):
            owner, other = (first, second) if larger == 0 else (second, first)
            for place in range(widths[t]):
                key = int(starts[t] + (first * sizes[t, 1] + second) * widths[t] + place)
                known = key in held and 0 <= first < sizes[t, 0] and second >= 0
                number = find(blocks, t, owner, other, place)
                assert (number >= 0) == known
                if known:
                    met[int(number)] = key
    assert [met[number] for number in range(len(order))] == keys[order].tolist()
    assert len(met) == len(held)


def test_blocks_are_never_full():
    keys = np.arange(3 * 50 * 2)
    blocks, _ = blocks_of(keys, np.array([0]), np.array([[3, 50]]), np.array([2]))
    for first, mask, _ in blocks.blocks:
        assert (blocks.slots[first : first + mask + 1, 0] == FREE).any()


def test_no_keys():
    blocks, order = blocks_of(np.full(4, -1), np.array([0]), np.array([[3, 5]]), np.array([2]))
    assert not len(order)
    assert find(blocks, 0, 1, 1, 0) == -1


def test_too_many_codes():
    with pytest.raises(OverflowError, match="31 bits"):
        blocks_of(np.array([1]), np.array([0]), np.array([[2**30, 2**30]]), np.array([2]))
