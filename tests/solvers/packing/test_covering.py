import itertools

import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.packing.covering import cover
from tests.sweeps import seeds


def arguments(sets):
    starts = np.cumsum([0, *map(len, sets)])
    return starts, np.concatenate([np.zeros(0, dtype=int), *sets]).astype(int)


def cheapest(sets, costs, n):
    return min(
        (
            sum(costs[j] for j in chosen)
            for size in range(len(sets) + 1)
            for chosen in itertools.combinations(range(len(sets)), size)
            if len(set().union(*(sets[j].tolist() for j in chosen))) == n
        ),
        default=None,
    )


@pytest.mark.parametrize("seed", seeds(40))
def test_covers_agree_with_enumeration(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 7)), int(rng.integers(1, 9))
    sets = [np.flatnonzero(rng.random(n) < rng.random()) for _ in range(m)]
    costs, values = rng.integers(1, 8, m), rng.integers(0, 3, n)
    feasible = all(costs[j] >= values[sets[j]].sum() for j in range(m))
    best = cheapest(sets, costs, n)
    for target in range(20):
        found = cover(*arguments(sets), costs, values, target)
        if found.found:
            assert set().union(*(sets[j].tolist() for j in found.chosen)) == set(range(n))
            assert costs[found.chosen].sum() <= target
        if found.finished:
            assert found.found == (best is not None and best <= target)
        assert found.finished or not feasible


def test_values_beyond_all_costs_prove_nothing_wrong():
    # at these values both sets have a negative reduced cost
    found = cover([0, 1, 2], [0, 1], [5, 5], [9, 9], 10)
    assert found.found
    assert found.chosen.tolist() == [0, 1]
    assert not cover([0, 1, 2], [0, 1], [5, 5], [9, 9], 9).found


def test_a_search_can_be_stopped():
    rng = np.random.default_rng(0)
    sets = [np.sort(rng.choice(40, 5, replace=False)) for _ in range(300)]
    found = cover(*arguments(sets), np.ones(300, dtype=int), np.zeros(40, dtype=int), 9, work=1000)
    assert (found.found, found.finished) == (False, False)
    assert not cover(
        *arguments(sets), np.ones(300, dtype=int), np.zeros(40, dtype=int), 9, expired=lambda: True
    ).finished


def test_possible_overflows_raise():
    with pytest.raises(ArrayError, match="expected sums below"):
        cover([0, 1], [0], [2**61], [2**61], 1)
