"""Bounds from embedded Mycielskians."""

import numpy as np
import pytest

from colgen.problems.colouring import mycielski, queens, random
from colgen.solvers.graphs.fewest_colours import fewest_colours
from colgen.solvers.graphs.mycielskian import extend_by_mycielskians, grow_clique, mycielskian_bound


def colours_of(adjacency):
    """Return the chromatic number."""
    return int(fewest_colours(adjacency, len(adjacency)).colours.max()) + 1 if len(adjacency) else 0


@pytest.mark.parametrize("colours", [3, 4, 5, 6, 7])
def test_mycielskis_graphs_are_bounded_exactly(colours):
    graph = mycielski(colours).adjacency
    bound, vertices = mycielskian_bound(graph, len(graph))
    assert bound == colours
    assert len(vertices) == len(graph)  # they are critical
    assert mycielskian_bound(graph, 3)[0] >= 3


@pytest.mark.parametrize("seed", range(25))
def test_a_subgraph_needs_as_many_colours_as_stated(seed):
    rng = np.random.default_rng(seed)
    adjacency = random(int(rng.integers(2, 12)), seed, density=float(rng.uniform(0.1, 0.9))).adjacency
    most = colours_of(adjacency)
    for start in range(len(adjacency)):
        found = extend_by_mycielskians(adjacency, grow_clique(adjacency, np.array([start])))
        assert not (found.edges & ~adjacency).any()
        inner = found.edges[np.ix_(found.vertices, found.vertices)]
        assert found.colours <= colours_of(inner) <= most
    assert mycielskian_bound(adjacency, len(adjacency))[0] <= most


def test_a_clique_without_twins_and_graphs_of_few_vertices():
    assert mycielskian_bound(queens(3).adjacency, 9)[0] <= 5
    assert mycielskian_bound(np.zeros((1, 1), dtype=bool), 5)[0] == 1
    assert mycielskian_bound(np.zeros((0, 0), dtype=bool), 5)[0] == 0
    assert extend_by_mycielskians(np.zeros((3, 3), dtype=bool), np.array([1])).colours == 1
    five = np.roll(np.eye(5, dtype=bool), 1, axis=1)
    assert mycielskian_bound(five | five.T, 5)[0] == 3  # the Mycielskian of an edge
    assert mycielskian_bound(five | five.T, 5, expired=lambda: True)[0] == 0
