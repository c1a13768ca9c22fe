import networkx as nx
import numpy as np
import pytest

from colgen.problems.colouring import ColouringInstance
from colgen.solvers.graphs.fewest_colours import fewest_colours
from tests.solvers.graphs.small_graphs import graph
from tests.twins.colouring import fewest_colours as by_enumeration


@pytest.mark.parametrize("seed", range(8))
def test_small_graphs_agree_with_enumeration(seed):
    adjacency = graph(9, 0.2 + 0.08 * seed, seed)
    edges = tuple((int(u), int(v)) for u, v in np.argwhere(np.triu(adjacency)))
    needed = by_enumeration(ColouringInstance(9, edges))
    for most in (needed, needed + 1, 9):  # the first colouring met is not the best one
        found = fewest_colours(adjacency, most)
        assert found.finished
        assert found.colours.max() + 1 == needed
        assert not (adjacency & (found.colours[:, None] == found.colours[None, :])).any()
    assert fewest_colours(adjacency, needed - 1) == (None, True)


def test_mycielski_needs_a_colour_more_than_its_parent():
    adjacency = nx.to_numpy_array(nx.mycielski_graph(5)).astype(bool)
    assert fewest_colours(adjacency, 4) == (None, True)


def test_limits_are_respected():
    adjacency = graph(60, 0.5, 0)
    assert fewest_colours(adjacency, 10, nodes=500) == (None, False)
    assert fewest_colours(adjacency, 10, expired=lambda: True) == (None, False)
    assert fewest_colours(np.zeros((0, 0), dtype=bool), 3).finished
    assert fewest_colours(np.zeros((3, 3), dtype=bool), 0) == (None, True)
