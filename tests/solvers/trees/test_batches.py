"""Best trees of a batch against enumeration of all trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colgen.solvers.arrays import ArrayError
from colgen.solvers.trees.batches import best_trees
from tests.twins.trees import all_trees, places

every_kind = [(projective, single_root) for projective in (False, True) for single_root in (False, True)]


@settings(max_examples=150)
@given(
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    seed=st.integers(0, 2**20),
    whole=st.booleans(),
    missing=st.sampled_from([0.0, 0.2, 0.5]),
    scale=st.sampled_from([1.0, 1.0, 1e-20, 1e20, 1e30, 1e300]),
)
def test_best_trees_are_those_of_enumeration(lengths, seed, whole, missing, scale):
    rng = np.random.default_rng(seed)
    size = max(lengths) + 1 + int(rng.integers(2))
    arcs = np.full((len(lengths), size, size), np.nan)  # entries beyond a length are ignored
    for own, n in zip(arcs, lengths, strict=True):
        inside = rng.integers(-2, 3, (n + 1, n + 1)).astype(float) if whole else rng.normal(size=(n + 1, n + 1))
        inside[rng.random(inside.shape) < missing] = -np.inf
        inside[:, 0] = inside[np.arange(n + 1), np.arange(n + 1)] = np.nan  # so are column 0 and the diagonal
        own[: n + 1, : n + 1] = scale * inside
    for projective, single_root in every_kind:
        found = best_trees(arcs, lengths, projective=projective, single_root=single_root)
        for own, n, heads, score, bound in zip(arcs, lengths, found.heads, found.scores, found.bounds, strict=True):
            worths = own[all_trees(n, projective, single_root)[:, 1:], np.arange(1, n + 1)].sum(axis=1)
            best = worths.max()
            assert (heads[[0, *range(n + 1, size)]] == -1).all()
            if best == -np.inf:
                assert (score, bound, heads.max()) == (-np.inf, -np.inf, -1)
                continue
            close = pytest.approx(best, rel=1e-9, abs=1e-9 * scale)
            assert worths[places(n, projective, single_root)[tuple(heads[1 : n + 1])]] == close
            assert (score, bound) == (close, close)


def test_lengths_default_to_the_whole_matrix():
    arcs = np.random.default_rng(0).normal(size=(2, 5, 5))
    assert (best_trees(arcs).heads == best_trees(arcs, [4, 4]).heads).all()
    assert best_trees(arcs[:0]).heads.shape == (0, 5)


@pytest.mark.parametrize("projective", [False, True])
def test_wrong_scores_are_rejected(projective):
    arcs = np.zeros((2, 3, 3))
    for wrong in (np.nan, np.inf):
        arcs[1, 0, 2] = wrong
        with pytest.raises(ArrayError, match="sentence 1"):
            best_trees(arcs, projective=projective)
        assert best_trees(arcs, [2, 1], projective=projective).heads.tolist()[1] == [-1, 0, -1]
    for shape in ((2, 3, 4), (3, 3), (2, 1, 1)):
        with pytest.raises(ArrayError, match="expected arc scores of shape"):
            best_trees(np.zeros(shape), projective=projective)
    with pytest.raises(ArrayError, match="lengths"):
        best_trees(np.zeros((2, 3, 3)), [0, 2], projective=projective)
