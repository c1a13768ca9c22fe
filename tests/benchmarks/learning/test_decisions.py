"""The data of predict-then-optimise are those of PyEPO, where it is installed, and training lowers the regret."""

import numpy as np
import pytest

from benchmarks.learning import decisions


def test_data_are_those_of_pyepo():
    data = pytest.importorskip("pyepo.data", reason="PyEPO is not installed")
    from pyepo.model.utils import _get_grid_arcs

    for seed, degree, noise in ((0, 4, 0.5), (1, 1, 0.0)):
        own = decisions.shortest_path(seed, 7, degree=degree, noise=noise)
        features, costs = data.shortestpath.genData(7, 5, (5, 5), deg=degree, noise_width=noise, seed=seed)
        np.testing.assert_array_equal(own.features, features)
        np.testing.assert_array_equal(own.coefficients, costs)
        assert list(zip(own.oracle.tails.tolist(), own.oracle.heads.tolist(), strict=True)) == _get_grid_arcs((5, 5))
        own = decisions.knapsack(seed, 7, degree=degree, noise=noise)
        sizes, features, values = data.knapsack.genData(7, 5, 32, dim=2, deg=degree, noise_width=noise, seed=seed)
        np.testing.assert_array_equal(own.oracle.sizes, sizes)
        np.testing.assert_array_equal(own.features, features)
        np.testing.assert_array_equal(own.coefficients, values)


@pytest.mark.parametrize("make", [decisions.shortest_path, decisions.knapsack])
def test_training_lowers_the_regret(make):
    pytest.importorskip("torch", reason="the extra 'torch' is not installed")
    task = make(0, 700)
    start = np.random.default_rng(0).normal(size=(task.coefficients.shape[1], 6)).astype(np.float32)
    learned = decisions._train(task, start, 0, 10)
    assert decisions._regret(task, learned) < 0.9 * decisions._regret(task, start)
