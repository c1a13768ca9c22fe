import numpy as np

from colgen.solvers.graphs.stable_search import heavy
from colgen.solvers.graphs.stable_set import heaviest
from tests.solvers.graphs.small_graphs import graph, is_stable


def test_sets_are_stable_different_and_heavy():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 40))
        adjacency, weights = graph(n, rng.random(), seed), rng.integers(0, 100, n)
        best = heaviest(adjacency, weights).bound
        found = heavy(adjacency, weights, above=best // 2, number=10, seed=seed)
        assert len(found) <= 10
        assert len(np.unique(found, axis=0)) == len(found)
        for members in found:
            assert is_stable(adjacency, np.flatnonzero(members))
            assert best // 2 < weights[members].sum() <= best
            free = ~members & ~adjacency[members].any(axis=0)
            assert not weights[free].any()
        assert len(heavy(adjacency, weights, above=best)) == 0


def test_it_finds_the_heaviest_of_small_graphs():
    for seed in range(10):
        adjacency, weights = graph(40, 0.3, seed), np.random.default_rng(seed).integers(1, 1000, 40)
        found = heavy(adjacency, weights)
        assert weights[found[0]].sum() == heaviest(adjacency, weights).bound
