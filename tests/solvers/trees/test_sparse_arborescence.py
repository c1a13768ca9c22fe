"""The best tree of listed arcs against the dense algorithm, which is tested by enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.solvers.trees.arborescence import allocate_sets, arborescence
from colgen.solvers.trees.sparse_arborescence import best_of_arcs


@st.composite
def matrices(draw):
    n = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (n + 1, n + 1)
    weights = rng.integers(-2, 3, shape).astype(float) if draw(st.booleans()) else rng.normal(size=shape)
    weights *= draw(st.sampled_from([1e-9, 1.0, 1e9]))
    weights[rng.random(weights.shape) < draw(st.sampled_from([0.0, 0.5, 0.8]))] = -np.inf
    weights[:, 0] = -np.inf
    np.fill_diagonal(weights, -np.inf)
    return weights


def listed(weights, among):
    """The arcs of a mask, in the order of the vertices that they enter."""
    modifiers, tails = np.nonzero(among.T)
    incoming = np.searchsorted(modifiers, np.arange(len(weights) + 1))
    return tails, modifiers, incoming, weights[tails, modifiers]


@given(weights=matrices(), single_root=st.booleans(), all_listed=st.booleans())
def test_weight_is_that_of_the_dense_algorithm(weights, single_root, all_listed):
    among = np.full(weights.shape, True) if all_listed else weights > -np.inf
    heads = np.full(len(weights), -1)
    total, feasible = best_of_arcs(*listed(weights, among), single_root, heads, allocate_sets(len(weights)))
    expected = arborescence(weights, single_root=single_root)
    assert feasible == (expected is not None)
    if expected is None:
        assert total == -np.inf
        return
    assert total == pytest.approx(expected[1], rel=1e-9, abs=1e-9 * np.abs(weights[weights > -np.inf]).max())
    assert total == pytest.approx(weights[heads[1:], np.arange(1, len(heads))].sum(), rel=1e-9)
    chosen = np.full_like(weights, -np.inf)
    chosen[heads[1:], np.arange(1, len(heads))] = 0.0
    assert arborescence(chosen, single_root=single_root) is not None  # it is a tree


def test_a_workspace_serves_many_calls():
    rng = np.random.default_rng(0)
    work = allocate_sets(8)
    for _ in range(50):
        weights = rng.normal(size=(8, 8))
        weights[:, 0] = -np.inf
        np.fill_diagonal(weights, -np.inf)
        total, _ = best_of_arcs(*listed(weights, weights > -np.inf), False, np.full(8, -1), work)
        assert total == pytest.approx(arborescence(weights)[1])


def test_the_root_alone_is_a_tree():
    none = np.zeros(0, dtype=np.int64)
    for single_root in (False, True):
        incoming = np.zeros(2, dtype=np.int64)
        found = best_of_arcs(none, none, incoming, np.zeros(0), single_root, np.full(1, -1), allocate_sets(1))
        assert found == (0.0, True)


@pytest.mark.parametrize("mask", [-1e6, -1e15, -1e20, -3.4e38])
def test_masked_arcs_do_not_hide_the_other_weights(mask):
    rng = np.random.default_rng(5)
    compared = 0
    for _ in range(60):
        size = int(rng.integers(3, 9))
        weights = rng.normal(size=(size, size))
        weights[:, 0] = -np.inf
        np.fill_diagonal(weights, -np.inf)
        masked = rng.random((size, size)) < 0.3
        expected = arborescence(np.where(masked, -np.inf, weights), single_root=True)
        if expected is not None:
            heads = np.full(size, -1)
            arcs = listed(np.where(masked, mask, weights), weights > -np.inf)
            total, feasible = best_of_arcs(*arcs, True, heads, allocate_sets(size))
            assert feasible
            assert heads.tolist() == expected[0].tolist()
            assert total == pytest.approx(expected[1])
            compared += 1
    assert compared > 30
