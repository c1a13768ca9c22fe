"""Proofs by contraction against exact colourings."""

import numpy as np
import pytest

from colgen.problems.colouring import mycielski, queens, random
from colgen.solvers.graphs.contraction import needs_more
from colgen.solvers.graphs.mycielskian import grow_clique
from tests.solvers.graphs.test_mycielskian import colours_of


@pytest.mark.parametrize("seed", range(25))
def test_answers_agree_with_the_chromatic_number(seed):
    rng = np.random.default_rng(seed)
    adjacency = random(int(rng.integers(1, 11)), seed, density=float(rng.uniform(0.1, 0.9))).adjacency
    needed = colours_of(adjacency)
    clique = grow_clique(adjacency, np.array([0]))
    for colours in range(needed + 2):
        found = needs_more(adjacency, clique, colours, nodes=100_000)
        assert found is (colours < needed)


def test_known_graphs_and_limits():
    graph = queens(6).adjacency
    clique = np.arange(6)  # the first row
    assert needs_more(graph, clique, 6, nodes=2_000) is True
    assert needs_more(graph, clique, 6, nodes=3) is None
    assert needs_more(graph, clique, 6, expired=lambda: True) is None
    assert needs_more(mycielski(6).adjacency, np.array([0, 1]), 5, nodes=1) is True
