import numpy as np
import pytest

from colgen.solvers.graphs.stable_set import begin, continue_search, heaviest, open_bound
from tests.solvers.graphs.small_graphs import graph, is_stable, stable_sets
from tests.sweeps import seeds


@pytest.mark.parametrize("seed", seeds(40))
def test_the_heaviest_set_equals_enumeration(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 10))
    adjacency, weights = graph(n, rng.random(), seed), rng.integers(0, 2 ** int(rng.integers(1, 50)), n)
    best = max(int(weights[chosen].sum()) for chosen in stable_sets(adjacency))
    found = heaviest(adjacency, weights)
    assert found.finished
    assert found.bound == best
    if best:
        assert is_stable(adjacency, np.flatnonzero(found.members[-1]))
    assert np.array_equal(found.members @ weights, found.weights)
    assert (np.diff(found.weights) > 0).all()
    above = heaviest(adjacency, weights, above=best)
    assert (above.bound, len(above.members)) == (best, 0)


def test_more_than_one_word():
    adjacency, weights = graph(90, 0.4, 1), np.random.default_rng(1).integers(1, 100, 90)
    found = heaviest(adjacency, weights)
    members = np.flatnonzero(found.members[-1])
    assert is_stable(adjacency, members)
    assert weights[members].sum() == found.bound
    # the same by another order of the vertices
    order = np.random.default_rng(2).permutation(90)
    assert heaviest(adjacency[np.ix_(order, order)], weights[order]).bound == found.bound


def test_a_stopped_search_returns_a_bound():
    adjacency = graph(60, 0.1, 0)
    weights = np.random.default_rng(0).integers(50, 100, 60)
    best = heaviest(adjacency, weights).bound
    search = begin(adjacency, weights, 0)
    bounds = []
    while not continue_search(search, 1):
        bounds.append(open_bound(search))
        assert bounds[-1] >= best
    assert search.state[1] == best
    assert bounds[-1] < bounds[0]
    cut = heaviest(graph(200, 0.05, 0), np.arange(1, 201), expired=lambda: True)
    assert not cut.finished
    assert cut.bound >= cut.weights[-1]
