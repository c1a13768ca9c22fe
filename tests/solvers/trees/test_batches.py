"""Best trees of a batch against enumeration of all trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colgen.solvers.arrays import ArrayError, as_numbers
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


def worth_of_parts(heads, siblings, grandchildren):
    """Return the score of a tree's parts, from their definition."""
    total = 0.0
    for m in range(1, len(heads)):
        h = heads[m]
        nearer = [s for s in range(1, len(heads)) if heads[s] == h and (h < s < m or h > s > m)]
        s = min(nearer, key=lambda s: abs(m - s)) if nearer else h
        total += siblings[h, s, m] + grandchildren[heads[h] if h else 0, h, m]
    return total


@settings(max_examples=80)
@given(
    lengths=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    seed=st.integers(0, 2**20),
    whole=st.booleans(),
    missing=st.sampled_from([0.0, 0.1, 0.4]),
    scale=st.sampled_from([1.0, 1e-20, 1e20, 1e290]),
    names=st.sampled_from([("siblings",), ("grandchildren",), ("siblings", "grandchildren")]),
)
def test_best_trees_of_parts_are_those_of_enumeration(lengths, seed, whole, missing, scale, names):
    rng = np.random.default_rng(seed)
    size = max(lengths) + 1 + int(rng.integers(2))
    drawn = {name: np.full((len(lengths), *(size,) * d), np.nan) for name, d in (("arcs", 2), *((n, 3) for n in names))}
    for own in drawn.values():
        for one, n in zip(own, lengths, strict=True):
            shape = (n + 1,) * one.ndim
            inside = rng.integers(-2, 3, shape).astype(float) if whole else rng.normal(size=shape)
            inside[rng.random(shape) < missing] = -np.inf
            one[tuple(slice(n + 1) for _ in shape)] = scale * inside
    arcs = drawn.pop("arcs")
    for single_root in (False, True):
        found = best_trees(arcs, lengths, **drawn, projective=True, single_root=single_root)
        for k, n in enumerate(lengths):
            cubes = [
                drawn[name][k] if name in drawn else np.zeros((size,) * 3) for name in ("siblings", "grandchildren")
            ]
            every = all_trees(n, True, single_root)
            worths = arcs[k][every[:, 1:], np.arange(1, n + 1)].sum(axis=1)
            worths = worths + [worth_of_parts(tree, *cubes) for tree in every.tolist()]
            best = worths.max()
            if best == -np.inf:
                assert (found.scores[k], found.bounds[k], found.heads[k].max()) == (-np.inf, -np.inf, -1)
                continue
            close = pytest.approx(best, rel=1e-9, abs=1e-9 * scale)
            assert worths[places(n, True, single_root)[tuple(found.heads[k, 1 : n + 1])]] == close
            assert (found.scores[k], found.bounds[k]) == (close, close)


def test_single_precision_is_read_without_a_copy():
    rng = np.random.default_rng(0)
    arrays = {"arcs": rng.normal(size=(3, 5, 5)).astype(np.float32)}
    assert np.shares_memory(as_numbers(arrays["arcs"], "scores", dtype=None), arrays["arcs"])
    for options in ({}, {"projective": True}, {"projective": True, "siblings": rng.normal(size=(3, 5, 5, 5))}):
        for kinds in ((np.float32, np.float32), (np.float32, np.float64)):
            given = {**arrays, **options}
            if "siblings" in given:
                given["siblings"] = given["siblings"].astype(np.float32).astype(kinds[1])
            double = {k: v.astype(np.float64) if isinstance(v, np.ndarray) else v for k, v in given.items()}
            one, other = best_trees(**given), best_trees(**double)
            assert all(
                map(np.array_equal, (one.heads, one.scores, one.bounds), (other.heads, other.scores, other.bounds))
            )
    largest = best_trees(np.full((1, 3, 3), 3.4e38, dtype=np.float32))
    assert largest.scores == pytest.approx(6.8e38)


def test_wrong_scores_of_parts_are_rejected():
    arcs, cube = np.zeros((2, 3, 3)), np.zeros((2, 3, 3, 3))
    cube[1, 0, 1, 2] = np.nan  # the root's modifiers 1 and 2, and the root's arc 0 → 1 with a grandchild
    with pytest.raises(ArrayError, match="sentence 1: NaN"):
        best_trees(arcs, siblings=cube, projective=True)
    cube[1, 0, 1, 2] = np.inf
    with pytest.raises(ArrayError, match="sentence 1: NaN"):
        best_trees(arcs, grandchildren=cube, projective=True)
    assert best_trees(arcs, [2, 1], siblings=cube, grandchildren=cube, projective=True).heads.tolist()[1] == [-1, 0, -1]
    with pytest.raises(ArrayError, match="expected projective=True"):
        best_trees(arcs, siblings=np.zeros((2, 3, 3, 3)))
    with pytest.raises(ArrayError, match=r"siblings: expected the shape \(2, 3, 3, 3\)"):
        best_trees(arcs, siblings=np.zeros((3, 3, 3)), projective=True)
