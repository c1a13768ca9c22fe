import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.graphs.stable_counted import heaviest_counted
from colgen.solvers.graphs.stable_set import heaviest
from tests.solvers.graphs.small_graphs import graph, is_stable, stable_sets
from tests.sweeps import seeds


def drawn(seed, n, counts):
    """Few different numbers for ties; some vertices fill a divisor alone."""
    rng = np.random.default_rng(seed)
    scale = 2 ** int(rng.integers(0, 45))
    weights = rng.integers(0, 9, n) * scale
    amounts = rng.integers(0, 4, (counts, n)) * (rng.random((counts, n)) < 0.6)
    return weights, amounts, rng.integers(1, 6, counts), rng.integers(0, 7, counts) * scale


@pytest.mark.parametrize("seed", seeds(60))
def test_the_best_set_equals_enumeration(seed):
    n = 1 + seed % 9
    adjacency = graph(n, 0.1 * (seed % 7), seed)
    weights, amounts, divisors, charges = drawn(seed, n, seed % 5)

    def worth(chosen):
        return int(weights[chosen].sum() - (amounts[:, chosen].sum(axis=1) // divisors) @ charges)

    best = max(map(worth, stable_sets(adjacency)))
    found = heaviest_counted(adjacency, weights, amounts, divisors, charges)
    assert found.finished
    assert found.bound == best
    assert bool(best) == bool(len(found.members))
    for members, weight in zip(found.members, found.weights.tolist(), strict=True):
        assert is_stable(adjacency, np.flatnonzero(members))
        assert worth(np.flatnonzero(members)) == weight
    assert (np.diff(found.weights) > 0).all()
    above = heaviest_counted(adjacency, weights, amounts, divisors, charges, above=best)
    assert (above.bound, len(above.members)) == (best, 0)


def test_without_charges_the_set_is_the_heaviest():
    adjacency, weights = graph(90, 0.4, 1), np.random.default_rng(1).integers(1, 100, 90)
    amounts = np.random.default_rng(2).integers(0, 2, (9, 90))
    found = heaviest_counted(adjacency, weights, amounts, np.full(9, 2), np.zeros(9, dtype=int))
    assert found.bound == heaviest(adjacency, weights).bound


def test_the_order_of_many_vertices_does_not_matter():
    adjacency, rng = graph(80, 0.4, 1), np.random.default_rng(1)
    weights, amounts = rng.integers(50, 100, 80), (rng.random((30, 80)) < 0.06).astype(int)
    divisors, charges = rng.integers(2, 4, 30), rng.integers(5, 40, 30)
    order = rng.permutation(80)
    found = heaviest_counted(adjacency, weights, amounts, divisors, charges)
    again = heaviest_counted(adjacency[np.ix_(order, order)], weights[order], amounts[:, order], divisors, charges)
    assert found.bound == again.bound < heaviest(adjacency, weights).bound


def test_a_stopped_search_returns_a_bound():
    adjacency, rng = graph(60, 0.1, 0), np.random.default_rng(0)
    weights, amounts = rng.integers(50, 100, 60), (rng.random((20, 60)) < 0.1).astype(int)
    arguments = adjacency, weights, amounts, np.full(20, 2), rng.integers(5, 40, 20)
    cut = heaviest_counted(*arguments, nodes=3)
    assert not cut.finished
    assert cut.bound >= heaviest_counted(*arguments).bound >= cut.weights[-1]


def test_charges_whose_sums_may_overflow_raise():
    with pytest.raises(ArrayError, match="charges: expected a sum below"):
        heaviest_counted([[False]], [1], [[2]], [1], [2**61])
