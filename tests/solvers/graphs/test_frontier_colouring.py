"""Colourings by a dynamic program over frontiers against exact colourings."""

import numpy as np
import pytest

from colgen.problems.colouring import mycielski, random
from colgen.solvers.graphs.frontier_colouring import is_colourable
from tests.solvers.graphs.test_mycielskian import colours_of


@pytest.mark.parametrize("seed", range(25))
def test_answers_agree_with_the_chromatic_number(seed):
    rng = np.random.default_rng(seed)
    adjacency = random(int(rng.integers(1, 11)), seed, density=float(rng.uniform(0.0, 0.6))).adjacency
    needed = colours_of(adjacency)
    for colours in range(needed + 2):
        assert is_colourable(adjacency, colours, states=10**6) is (colours >= needed)


def test_long_cycles_have_two_states_and_dense_graphs_too_many():
    n = 401
    cycle = np.roll(np.eye(n, dtype=bool), 1, axis=1)
    cycle |= cycle.T
    assert is_colourable(cycle, 2, states=8) is False
    assert is_colourable(cycle, 3, states=8) is True
    assert is_colourable(mycielski(7).adjacency, 6, states=100) is None
    assert is_colourable(cycle, 2, expired=lambda: True) is None
    assert is_colourable(np.zeros((0, 0), dtype=bool), 0) is True
