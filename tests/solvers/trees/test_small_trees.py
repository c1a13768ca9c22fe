"""Best trees of few words, against all trees."""

import numpy as np
import pytest

from benchmarks.learning.reference import trees
from colgen.learning import ProjectiveTrees
from colgen.solvers.arrays import ArrayError
from colgen.solvers.trees.small_trees import LARGEST, best_small_tree
from tests.sweeps import seeds


def score(heads, arcs, grandchildren, siblings):
    places = ProjectiveTrees("grandchildren", "siblings").structure(heads)
    return sum(float(a.ravel()[p].sum()) for a, p in zip((arcs, grandchildren, siblings), places, strict=True))


@pytest.mark.parametrize("seed", seeds(24))
@pytest.mark.parametrize("single_root", [False, True])
def test_no_tree_is_better(seed, single_root):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 7))
    scores = [rng.normal(size=(size,) * k) for k in (2, 3, 3)]
    if seed % 3 == 0:
        scores = [np.round(theta) for theta in scores]
    for theta in scores:
        theta[rng.uniform(size=theta.shape) < (0.0, 0.15, 0.4)[seed % 3]] = -np.inf
    if seed % 4 == 0:
        scores = [1e290 * theta for theta in scores]
    found = best_small_tree(*scores, single_root=single_root)
    best = max(score(np.array(tree), *scores) for tree in trees(size - 1, single_root=single_root))
    if best == -np.inf:
        assert found is None
        return
    value, heads = found
    assert value == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert score(heads, *scores) == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert heads[0] == -1
    assert not single_root or (heads[1:] == 0).sum() == 1
    with_zeros = best_small_tree(scores[0], np.zeros((size,) * 3), scores[2], single_root=single_root)
    without = best_small_tree(scores[0], None, scores[2], single_root=single_root)
    assert (with_zeros is None) == (without is None)
    assert without is None or without[0] == with_zeros[0]


def test_wrong_sizes():
    for size in (1, LARGEST + 2):
        with pytest.raises(ArrayError, match=f"arcs: expected from 2 to {LARGEST + 1} positions"):
            best_small_tree(np.zeros((size, size)))
    with pytest.raises(ArrayError, match="siblings"):
        best_small_tree(np.zeros((3, 3)), siblings=np.zeros((3, 3, 2)))
