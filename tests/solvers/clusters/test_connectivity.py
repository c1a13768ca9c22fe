"""Classes that no cut of little weight parts, against the minimum cuts of networkx."""

import networkx as nx
import numpy as np
import pytest

from colgen.solvers.clusters.connectivity import find_inseparable, sum_between
from tests.sweeps import seeds
from tests.twins.coreference import symmetric


def graph_of(weights):
    graph = nx.Graph()
    graph.add_nodes_from(range(len(weights)))
    graph.add_edges_from(
        (i, j, {"capacity": weights[i, j]}) for i in range(len(weights)) for j in range(i) if weights[i, j] > 0.0
    )
    return graph


def random_weights(rng, scale):
    n = int(rng.integers(2, 12))
    entries = rng.integers(-2, 6, n * (n - 1) // 2)
    return symmetric(n, np.where(rng.random(len(entries)) < 0.6, entries, 0) * scale)


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
@pytest.mark.parametrize("seed", seeds(200, fast=16))
def test_every_cut_that_parts_a_class_weighs_more(seed, scale):
    rng = np.random.default_rng(seed)
    weights, threshold = random_weights(rng, scale), float(rng.integers(0, 9)) * scale
    labels, graph = find_inseparable(weights, threshold), graph_of(weights)
    firsts = np.unique(labels, return_index=True)[1]
    assert (np.diff(firsts) > 0).all()  # numbered by first items
    for i in range(len(weights)):
        for j in range(i):
            if labels[i] == labels[j]:
                assert nx.minimum_cut_value(graph, i, j) > threshold


def test_few_classes_are_missed():
    rng = np.random.default_rng(0)
    missed = total = 0
    for _ in range(60):
        weights, threshold = random_weights(rng, 1.0), float(rng.integers(0, 9))
        labels, graph = find_inseparable(weights, threshold), graph_of(weights)
        for i in range(len(weights)):
            for j in range(i):
                beyond = nx.minimum_cut_value(graph, i, j) > threshold
                total += beyond
                missed += beyond and labels[i] != labels[j]
    assert total > 200
    assert missed <= 0.1 * total


@pytest.mark.parametrize(
    ("threshold", "classes"), [(0.0, [0, 0, 0, 0, 1]), (2.9, [0, 0, 0, 0, 1]), (3.0, [0, 1, 2, 3, 4])]
)
def test_items_that_no_single_pair_holds_together(threshold, classes):
    """Of four items that share a weight of one each, every cut weighs three at least."""
    weights = np.zeros((5, 5))
    weights[:4, :4] = 1.0
    weights[:, 4] = weights[4, :] = -7.0
    assert find_inseparable(weights, threshold).tolist() == classes


def test_nothing_and_one_item():
    assert find_inseparable(np.zeros((0, 0)), 1.0).tolist() == []
    assert find_inseparable(np.zeros((1, 1)), 0.0).tolist() == [0]


@pytest.mark.parametrize("threshold", [-1.0, np.nan])
def test_a_threshold_is_not_negative(threshold):
    with pytest.raises(ValueError, match="threshold"):
        find_inseparable(np.zeros((2, 2)), threshold)


@pytest.mark.parametrize("seed", seeds(20))
def test_sums_between_classes(seed):
    rng = np.random.default_rng(seed)
    n, count = int(rng.integers(1, 9)), 3
    weights, labels = symmetric(n, rng.normal(size=n * (n - 1) // 2)), rng.integers(0, count, n)
    found = sum_between(weights, labels, count)
    assert (found == found.T).all()
    for a in range(count):
        for b in range(count):
            wanted = weights[np.ix_(labels == a, labels == b)].sum() if a != b else 0.0
            assert found[a, b] == pytest.approx(wanted)
