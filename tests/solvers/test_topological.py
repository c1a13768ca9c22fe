"""Topological orders and levels against longest walks."""

import numpy as np
import pytest

from colgen.solvers.topological import levels, topological_ranks


@pytest.mark.parametrize("seed", range(20))
def test_ranks_increase_along_arcs_and_levels_are_longest_walks(seed):
    rng = np.random.default_rng(seed)
    count = 30
    tails, heads = rng.permutation(count)[rng.integers(0, count, (2, 60))]
    forward = tails < heads
    tails, heads = tails[forward], heads[forward]
    expected = np.zeros(count, dtype=int)
    for _ in range(count):
        np.maximum.at(expected, heads, expected[tails] + 1)
    assert levels(count, tails, heads).tolist() == expected.tolist()
    ranks = topological_ranks(count, tails, heads)
    assert sorted(ranks) == list(range(count))
    assert (ranks[tails] < ranks[heads]).all()


def test_cycles_and_loops_have_no_order():
    for heads in ([1, 2, 0], [0, 2, 1]):
        assert levels(3, np.array([0, 1, 2]), np.array(heads)) is None
        assert topological_ranks(3, np.array([0, 1, 2]), np.array(heads)) is None
    assert topological_ranks(0, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)).tolist() == []
