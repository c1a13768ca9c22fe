import itertools

import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.packing.zero_one import best_sets, best_with_each


def every_set(profits, sizes, capacity):
    n = len(profits)
    for chosen in itertools.product((False, True), repeat=n):
        mask = np.array(chosen)
        if sizes[mask].sum() <= capacity:
            yield mask, profits[mask].sum()


@pytest.mark.parametrize("seed", range(8))
def test_sets_and_values_of_items_equal_enumeration(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    profits = rng.integers(-3, 8, (3, n)) * rng.choice([1.0, 1e-8, 1e8])
    profits[rng.random((3, n)) < 0.15] = -np.inf
    sizes, room = rng.integers(0, 9, (3, n)), rng.integers(0, 20, 3)
    values, chosen = best_sets(profits, sizes, room)
    again, inside, outside = best_with_each(profits, sizes, room)
    assert (values == again).all()
    for j in range(3):
        assert sizes[j][chosen[j]].sum() <= room[j]
        assert profits[j][chosen[j]].sum() == pytest.approx(values[j])
        sets = list(every_set(profits[j], sizes[j], room[j]))
        assert values[j] == pytest.approx(max(worth for _, worth in sets))
        for i in range(n):
            assert inside[j, i] == pytest.approx(max((w for s, w in sets if s[i]), default=-np.inf))
            assert outside[j, i] == pytest.approx(max(w for s, w in sets if not s[i]))


def test_tables_that_would_exhaust_memory_raise():
    with pytest.raises(ArrayError, match="capacities: expected tables of at most"):
        best_sets([[1.0]], [[1]], [10**9])
