"""Branching on variables of blocks, and on counts of points of those that are the same."""

import numpy as np
import pytest

from colgen import decompose, solve
from colgen.decomposition.branching import _narrowed
from tests.amounts import examples
from tests.decomposition.models import FAMILIES


@pytest.mark.parametrize("seed", range(examples(2, 12)))
@pytest.mark.parametrize("family", ["packing", "cutting"])
def test_blocks_that_are_the_same_are_one_and_prove_what_blocks_one_by_one_prove(family, seed):
    make, by = FAMILIES[family]
    together, apart = decompose(make(seed), by), decompose(make(seed), by, aggregate=False)
    assert [sub.count for sub in together.splitting.subproblems] == [5]
    assert len(apart.splitting.subproblems) == 5
    one, other = solve(together), solve(apart)
    assert one.termination is other.termination
    assert one.objective == pytest.approx(other.objective)


def test_counts_that_are_whole_within_every_single_bound_are_not_within_two():
    # Each component is 1 in one point of two, and the points are used by halves.
    points = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]], dtype=float)
    bounds, count = _narrowed(points, np.full(4, 0.5), np.ones(3, dtype=bool))
    assert len(bounds) == 2
    assert count == 0.5


def test_points_that_agree_in_all_that_is_whole_are_cut_by_nothing():
    points = np.array([[1.0, 0.2], [1.0, 0.8]])
    assert _narrowed(points, np.array([0.5, 0.5]), np.array([True, False])) is None
