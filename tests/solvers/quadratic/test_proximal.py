"""The proximal model of scenarios, against its optimality conditions."""

import numpy as np
import pytest

from colgen.solvers.quadratic.proximal import proximal_point


@pytest.mark.parametrize("seed", range(5))
def test_the_prices_maximise_the_model(seed):
    rng = np.random.default_rng(seed)
    scenarios, width, variables, step = 4, 6, 3, 0.5
    points, costs = rng.random((scenarios, width, variables)), rng.random((scenarios, width))
    counts = np.array([6, 5, 4, 6])
    weights = np.zeros((scenarios, width))
    weights[:, 0] = 1.0
    prices = rng.normal(size=(scenarios, variables))
    value = -10.0
    found = proximal_point(points, costs, counts, weights, prices, value, step)
    assert found.weights.sum(axis=1) == pytest.approx(1.0)
    assert (found.weights >= 0.0).all()
    means = np.einsum("sp,spj->sj", found.weights, points)
    assert found.prices - prices == pytest.approx(step * (means - means.mean(axis=0)))

    def model(moved):
        change = costs + np.einsum("spj,sj->sp", points, moved)
        least = sum(change[s, :count].min() for s, count in enumerate(counts))
        return least - (moved**2).sum() / (2.0 * step)

    best = model(found.prices - prices)
    assert found.gain == pytest.approx(best + ((found.prices - prices) ** 2).sum() / (2.0 * step) - value)
    for _ in range(200):
        other = found.prices - prices + 0.05 * rng.normal(size=prices.shape)
        other -= other.mean(axis=0)
        assert model(other) <= best + 0.02 * (best - value)
