"""The k best arborescences compared with all trees."""

import numpy as np
import pytest

from colgen.solvers.trees.arborescence import arborescence
from colgen.solvers.trees.arborescence_k_best import k_best_arborescences
from tests.twins.trees import all_trees


@pytest.mark.parametrize("single_root", [False, True])
def test_each_tree_is_found_once_in_the_order_of_weights(single_root):
    trees = [tree for tree in all_trees(4) if not single_root or (np.array(tree)[1:] == 0).sum() == 1]
    for seed in range(4):
        rng = np.random.default_rng(seed)
        weights = rng.integers(-2, 3, size=(5, 5)).astype(float) if seed % 2 else rng.normal(size=(5, 5))
        weights[rng.random((5, 5)) < 0.15] = -np.inf
        every = [sum(weights[tree[m], m] for m in range(1, 5)) for tree in trees]
        order = sorted((weight for weight in every if weight > -np.inf), reverse=True)
        found = k_best_arborescences(weights[::-1, ::-1][::-1, ::-1], 1000, single_root=single_root)
        assert [weight for _, weight in found] == pytest.approx(order, abs=1e-9)
        assert len({tuple(heads) for heads, _ in found}) == len(order)
        assert {tuple(heads[1:]) for heads, _ in found} <= {tuple(np.array(tree)[1:]) for tree in trees}


def test_the_first_is_the_best_and_masked_arcs_come_last():
    weights = np.random.default_rng(0).normal(size=(12, 12))
    weights[np.random.default_rng(1).random((12, 12)) < 0.3] = -1e30
    for single_root in (False, True):
        found = k_best_arborescences(weights, 3, single_root=single_root)
        heads, weight = arborescence(weights, single_root=single_root)
        assert np.array_equal(found[0][0], heads)
        assert found[0][1] == weight
        assert found[0][1] > found[1][1] > found[2][1] > -1e29


def test_a_root_alone_and_no_tree():
    assert [weight for _, weight in k_best_arborescences(np.zeros((1, 1)), 3)] == [0.0]
    assert k_best_arborescences(np.full((3, 3), -np.inf), 3) == []
