import networkx as nx
import numpy as np
import pytest

from colgen.solvers.graphs.colouring import dsatur, partialcol, tabucol
from tests.solvers.graphs.small_graphs import graph


def is_proper(adjacency, colours):
    return not (adjacency & (colours[:, None] == colours[None, :])).any()


@pytest.mark.parametrize("seed", range(5))
def test_dsatur_is_proper_and_exact_on_bipartite_graphs(seed):
    adjacency = graph(30, 0.4, seed)
    assert is_proper(adjacency, dsatur(adjacency))
    side = np.random.default_rng(seed).random(30) < 0.5
    bipartite = adjacency & (side[:, None] != side[None, :])
    assert dsatur(bipartite).max() <= 1


def test_tabu_search_finds_known_colourings():
    queens = nx.to_numpy_array(nx.mycielski_graph(5)).astype(bool)
    found = tabucol(queens, 5)
    assert is_proper(queens, found)
    assert found.max() <= 4
    assert tabucol(queens, 4, moves=2_000) is None
    assert is_proper(np.zeros((3, 3), dtype=bool), tabucol(np.zeros((3, 3), dtype=bool), 1))


def test_start_and_seed_are_respected():
    adjacency = graph(60, 0.5, 0)
    one = tabucol(adjacency, 12, seed=4)
    assert np.array_equal(one, tabucol(adjacency, 12, seed=4))
    assert np.array_equal(tabucol(adjacency, 12, one), one)


@pytest.mark.parametrize("seed", range(5))
def test_partial_colourings_are_completed(seed):
    adjacency = graph(40, 0.3, seed)
    start = dsatur(adjacency)
    count = int(start.max())
    found = partialcol(adjacency, count, np.where(start == count, -1, start), moves=20_000, seed=seed)
    if found is not None:
        assert is_proper(adjacency, found)
        assert 0 <= found.min() <= found.max() < count
    again = partialcol(adjacency, count, np.where(start == count, -1, start), moves=20_000, seed=seed)
    assert np.array_equal(found, again) if found is not None else again is None
    assert np.array_equal(partialcol(adjacency, count + 1, start), start)


def test_partial_colourings_of_known_graphs():
    five = nx.to_numpy_array(nx.mycielski_graph(5)).astype(bool)
    nothing = np.full(len(five), -1)
    assert is_proper(five, partialcol(five, 5, nothing))
    assert partialcol(five, 4, nothing, moves=2_000) is None
    assert partialcol(five, 4, nothing, expired=lambda: True) is None
