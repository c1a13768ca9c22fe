import numpy as np
import pytest

from colgen.solvers.graphs.stable_listing import maximal
from tests.solvers.graphs.small_graphs import graph, maximal_sets
from tests.sweeps import seeds


@pytest.mark.parametrize("seed", seeds(30))
def test_the_list_equals_enumeration(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 10))
    adjacency, weights = graph(n, rng.random(), seed), rng.integers(0, 6, n)
    complete = {tuple(chosen): int(weights[chosen].sum()) for chosen in maximal_sets(adjacency)}
    for least in (0, 4, 9):
        expected = {chosen for chosen, weight in complete.items() if weight >= least}
        listed = maximal(adjacency, weights, least=least)
        assert len(listed) == len(expected)
        assert {tuple(np.flatnonzero(members)) for members in listed} == expected


def test_too_many_sets_return_none():
    matching = np.kron(np.eye(6, dtype=bool), np.array([[0, 1], [1, 0]], dtype=bool))
    assert len(maximal(matching, np.ones(12, dtype=int), limit=64)) == 64
    assert maximal(matching, np.ones(12, dtype=int), limit=63) is None
