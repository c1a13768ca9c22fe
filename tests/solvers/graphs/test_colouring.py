import networkx as nx
import numpy as np
import pytest

from colgen.solvers.graphs.colouring import saturated_first, with_colours
from tests.solvers.graphs.small_graphs import graph


def is_proper(adjacency, colours):
    return not (adjacency & (colours[:, None] == colours[None, :])).any()


@pytest.mark.parametrize("seed", range(5))
def test_dsatur_is_proper_and_exact_on_bipartite_graphs(seed):
    adjacency = graph(30, 0.4, seed)
    assert is_proper(adjacency, saturated_first(adjacency))
    side = np.random.default_rng(seed).random(30) < 0.5
    bipartite = adjacency & (side[:, None] != side[None, :])
    assert saturated_first(bipartite).max() <= 1


def test_tabu_search_finds_known_colourings():
    queens = nx.to_numpy_array(nx.mycielski_graph(5)).astype(bool)
    found = with_colours(queens, 5)
    assert is_proper(queens, found)
    assert found.max() <= 4
    assert with_colours(queens, 4, moves=2_000) is None
    assert is_proper(np.zeros((3, 3), dtype=bool), with_colours(np.zeros((3, 3), dtype=bool), 1))


def test_it_starts_where_it_is_told_to_and_repeats():
    adjacency = graph(60, 0.5, 0)
    one = with_colours(adjacency, 12, seed=4)
    assert np.array_equal(one, with_colours(adjacency, 12, seed=4))
    assert np.array_equal(with_colours(adjacency, 12, one), one)
