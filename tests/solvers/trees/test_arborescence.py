import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.solvers.trees.arborescence import arborescence, reduced_costs


def trees(n):
    """Heads of all arborescences over 1, ..., n."""
    for heads in itertools.product(range(n + 1), repeat=n):
        vertices = [-1, *heads]
        if all(reaches_root(vertices, m) for m in range(1, n + 1)):
            yield np.array(vertices)


def tree_weight(weights, heads):
    return float(weights[heads[1:], np.arange(1, len(heads))].sum())


def reaches_root(heads, vertex):
    for _ in range(len(heads)):
        if vertex == 0:
            return True
        vertex = heads[vertex]
    return False


def best_tree(weights, single_root, forced=None):
    found = -np.inf
    for heads in trees(len(weights) - 1):
        if single_root and (heads == 0).sum() != 1:
            continue
        if forced is None or heads[forced[1]] == forced[0]:
            found = max(found, tree_weight(weights, heads))
    return found


@st.composite
def matrices(draw, largest=4):
    n = draw(st.integers(1, largest))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = (
        rng.integers(-3, 4, (n + 1, n + 1)).astype(float) if draw(st.booleans()) else rng.normal(size=(n + 1,) * 2)
    )
    weights[rng.random(weights.shape) < draw(st.sampled_from([0.0, 0.2, 0.5]))] = -np.inf
    weights[:, 0] = -np.inf
    np.fill_diagonal(weights, -np.inf)
    return weights


@given(weights=matrices(), single_root=st.booleans())
def test_optimum_is_that_of_enumeration(weights, single_root):
    optimum = best_tree(weights, single_root)
    found = arborescence(weights, single_root=single_root)
    if optimum == -np.inf:
        assert found is None
        assert reduced_costs(weights, single_root=single_root) is None
        return
    heads, weight = found
    assert weight == pytest.approx(optimum)
    assert tree_weight(weights, heads) == pytest.approx(optimum)
    assert all(reaches_root(heads, m) for m in range(1, len(heads)))
    assert not single_root or (heads == 0).sum() == 1


@given(weights=matrices(), single_root=st.booleans())
def test_reduced_costs_bound_the_loss_of_forcing_an_arc(weights, single_root):
    found = arborescence(weights, single_root=single_root)
    if found is None:
        return
    heads, weight = found
    reduced = reduced_costs(weights, single_root=single_root)
    assert (reduced <= 0.0).all()
    for m in range(1, len(heads)):
        assert reduced[heads[m], m] == pytest.approx(0.0, abs=1e-9)
        for h in range(len(heads)):
            if weights[h, m] > -np.inf:
                assert best_tree(weights, single_root, (h, m)) <= weight + reduced[h, m] + 1e-9


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("integers", [False, True])
def test_agrees_with_networkx(seed, integers):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    weights = rng.integers(0, 5, (n + 1, n + 1)).astype(float) if integers else rng.normal(size=(n + 1, n + 1))
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(
        (h, m, weights[h, m]) for h in range(n + 1) for m in range(1, n + 1) if h != m and rng.random() < 0.7
    )
    missing = np.array([[not graph.has_edge(h, m) for m in range(n + 1)] for h in range(n + 1)])
    weights[missing] = -np.inf
    found = arborescence(weights)
    try:
        reference = nx.maximum_spanning_arborescence(graph)
    except nx.NetworkXException:
        assert found is None
        return
    assert found[1] == pytest.approx(reference.size(weight="weight"))


@pytest.mark.parametrize("seed", range(10))
def test_single_root_is_the_best_over_all_choices_of_the_root(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    weights = rng.normal(size=(n + 1, n + 1))
    weights[0] += 2.0  # so that more than one arc would leave the root
    best = -np.inf
    for root in range(1, n + 1):
        one = weights.copy()
        one[0] = -np.inf
        one[0, root] = weights[0, root]
        found = arborescence(one)
        best = max(best, found[1])
    heads, weight = arborescence(weights, single_root=True)
    assert weight == pytest.approx(best)
    assert (heads == 0).sum() == 1
    assert arborescence(weights)[1] > weight


def test_one_vertex_and_none():
    heads, weight = arborescence([[0.0, 2.5], [0.0, 0.0]])
    assert heads.tolist() == [-1, 0]
    assert weight == 2.5
    assert arborescence([[0.0]]) == (pytest.approx([-1]), 0.0)


def test_a_graph_that_does_not_hang_together_has_no_tree():
    weights = np.full((4, 4), -np.inf)
    weights[0, 1] = weights[2, 3] = weights[3, 2] = 1.0
    assert arborescence(weights) is None


@pytest.mark.parametrize(
    "bad", [np.zeros((2, 3)), np.full((2, 2), np.nan), [[0.0, np.inf], [0.0, 0.0]], np.zeros((0, 0))]
)
def test_invalid_weights_are_rejected(bad):
    with pytest.raises(ValueError, match="expected"):
        arborescence(bad)


@pytest.mark.parametrize("mask", [-1e6, -1e15, -1e20, -3.4e38])
def test_masked_arcs_do_not_hide_the_other_weights(mask):
    rng = np.random.default_rng(5)
    compared = 0
    for _ in range(60):
        size = int(rng.integers(3, 9))
        weights = rng.normal(size=(size, size))
        masked = rng.random((size, size)) < 0.3
        expected = arborescence(np.where(masked, -np.inf, weights), single_root=True)
        if expected is not None:
            found = arborescence(np.where(masked, mask, weights), single_root=True)
            assert found[0].tolist() == expected[0].tolist()
            compared += 1
    assert compared > 30
