import networkx as nx
import numpy as np
import pytest

from colgen.solvers.graphs.colouring import dsatur, evolve, partialcol
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


def test_known_colourings_are_found():
    queens = nx.to_numpy_array(nx.mycielski_graph(5)).astype(bool)
    found = evolve(queens, 5)
    assert is_proper(queens, found)
    assert found.max() <= 4
    assert evolve(queens, 4, moves=2_000) is None
    assert is_proper(np.zeros((3, 3), dtype=bool), evolve(np.zeros((3, 3), dtype=bool), 1))


def test_start_and_seed_are_respected():
    adjacency = graph(60, 0.5, 0)
    one = evolve(adjacency, 12, seed=4)
    assert np.array_equal(one, evolve(adjacency, 12, seed=4))
    assert np.array_equal(evolve(adjacency, 12, one), one)


@pytest.mark.parametrize("seed", range(5))
def test_fewer_colours_are_found_from_a_colouring_without_one(seed):
    adjacency = graph(40, 0.3, seed)
    start = dsatur(adjacency)
    count = int(start.max())
    found = evolve(adjacency, count, np.minimum(start, count - 1), moves=20_000, seed=seed)
    if found is not None:
        assert is_proper(adjacency, found)
        assert 0 <= found.min() <= found.max() < count
    again = evolve(adjacency, count, np.minimum(start, count - 1), moves=20_000, seed=seed)
    assert np.array_equal(found, again) if found is not None else again is None


def test_crossover_finds_a_hidden_colouring():
    """300 vertices in 15 classes of 20, and half of all other pairs are adjacent; DSATUR needs more than 35 colours."""
    rng = np.random.default_rng(0)
    hidden = np.repeat(np.arange(15), 20)
    adjacency = np.triu((hidden[:, None] != hidden) & (rng.random((300, 300)) < 0.5), 1)
    adjacency |= adjacency.T
    assert dsatur(adjacency).max() >= 35
    found = evolve(adjacency, 15)
    assert is_proper(adjacency, found)
    assert found.max() < 15


def test_the_search_ends():
    five = nx.to_numpy_array(nx.mycielski_graph(5)).astype(bool)
    assert evolve(five, 4, moves=0) is None
    assert evolve(five, 4, expired=lambda: True) is None
    assert len(evolve(np.zeros((0, 0), dtype=bool), 1)) == 0


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
