"""Best sets within several capacities, against all sets."""

import itertools

import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.packing import multidimensional
from colgen.solvers.packing.multidimensional import best_sets_within
from tests.sweeps import seeds


def best_value(profits, sizes, capacities):
    sets = np.array(list(itertools.product([0.0, 1.0], repeat=len(profits))))
    fit = (sets @ sizes.T <= capacities * (1 + 1e-9)).all(axis=1)
    allowed = (sets[:, np.isneginf(profits)] == 0.0).all(axis=1)
    return float((sets @ np.where(np.isneginf(profits), 0.0, profits))[fit & allowed].max())


@pytest.mark.parametrize("seed", seeds(40))
def test_no_set_is_better(seed):
    rng = np.random.default_rng(seed)
    items, rows = int(rng.integers(1, 11)), int(rng.integers(1, 4))
    sizes = rng.integers(0, 800, (rows, items)) / 100
    capacities = np.round(sizes.sum(axis=1) * rng.uniform(0.0, 1.1, rows), 2)
    profits = np.round(rng.normal(size=(5, items)) * 4 + 2, int(rng.integers(0, 3)))
    profits[rng.uniform(size=profits.shape) < 0.1] = -np.inf
    scale = 10.0 ** rng.choice([-300, 0, 280])
    values, chosen = best_sets_within(profits * scale, sizes, capacities)
    for own, value, mask in zip(profits, values, chosen, strict=True):
        assert (sizes @ mask <= capacities * (1 + 1e-9)).all()
        assert value / scale == pytest.approx(best_value(own, sizes, capacities), rel=1e-9)
        assert value / scale == pytest.approx(float(own[mask].sum()), rel=1e-9)


def test_a_search_can_be_interrupted(monkeypatch):
    rng = np.random.default_rng(0)
    profits, sizes, looks = rng.uniform(1, 2, (3, 18)), rng.uniform(1, 2, (2, 18)), []
    values, chosen = best_sets_within(profits, sizes, [9.0, 9.0])
    monkeypatch.setattr(multidimensional, "_NODES", 3)
    again = best_sets_within(profits, sizes, [9.0, 9.0], look=lambda: looks.append(1))
    assert len(looks) > 3
    np.testing.assert_array_equal(again[0], values)
    np.testing.assert_array_equal(again[1], chosen)


def test_borderline_arguments():
    assert best_sets_within(np.zeros((0, 3)), np.ones((1, 3)), [1.0])[1].shape == (0, 3)
    assert best_sets_within(np.zeros((2, 0)), np.ones((1, 0)), [1.0])[0].tolist() == [0.0, 0.0]
    # without capacities every profitable item is taken; a capacity of zero leaves items without size
    assert best_sets_within([[1.0, -1.0]], np.zeros((0, 2)), [])[1].tolist() == [[True, False]]
    assert best_sets_within([[1.0, 2.0]], [[0.0, 1e-300]], [0.0])[1].tolist() == [[True, False]]
    # 0.1 + 0.2 is more than 0.3 by rounding only
    assert best_sets_within([[1.0, 1.0]], [[0.1, 0.2]], [0.3])[1].all()
    assert best_sets_within([[1e300, 1e300]], [[1e300, 1e-300]], [1e-10])[1].tolist() == [[False, True]]
    with pytest.raises(ArrayError, match="sizes"):
        best_sets_within([[1.0]], [[-1.0]], [1.0])
