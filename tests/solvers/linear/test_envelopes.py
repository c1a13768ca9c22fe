"""Tables of points against enumeration and linear programs."""

import numpy as np
import pytest
from scipy.optimize import linprog

from colgen.solvers.linear.envelopes import Points, cheapest_points, envelope_prices, undominated


def draw(seed):
    """Return points of a few parts, and a box of tenders with a tender in it that all parts can meet."""
    rng = np.random.default_rng(seed)
    parts, width, tenders = int(rng.integers(1, 5)), int(rng.integers(1, 4)), 4
    counts = rng.integers(1, 12, parts)
    scale = 10.0 ** rng.integers(-3, 4)
    costs = np.concatenate([np.sort(rng.integers(0, 20, n) * scale) for n in counts])
    needs = rng.integers(0, 6, (len(costs), width)) * 0.5
    places = np.array([rng.permutation(tenders)[:width] for _ in range(parts)])
    starts = np.cumsum([0, *counts])
    needs[starts[1:] - 1] = rng.integers(0, 2, (parts, width)) * 0.5  # the last point of a part needs little
    least = rng.integers(0, 3, tenders) * 0.5
    most = least + rng.integers(1, 5, tenders) * 0.5
    offered = np.maximum(least + rng.random(tenders) * (most - least), 0.5)
    return Points(starts, costs, needs, places), least, np.maximum(most, offered), offered, np.full(tenders, 1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_the_cheapest_points_are_those_of_enumeration(seed):
    points, _, _, offered, near = draw(seed)
    chosen = cheapest_points(points, offered, near)
    for k, point in enumerate(chosen.tolist()):
        mine = slice(points.starts[k], points.starts[k + 1])
        fits = (points.needs[mine] <= offered[points.tenders[k]]).all(axis=1)
        assert points.costs[point] == points.costs[mine][fits].min()
    assert (cheapest_points(points, np.full(len(offered), -1.0), near) == -1).all()


@pytest.mark.parametrize("seed", range(40))
def test_prices_support_the_convex_envelopes(seed):
    points, least, most, offered, near = draw(seed)
    prices, lows, scores = envelope_prices(points, least, most, offered, near, cheapest_points(points, offered, near))
    combined = np.zeros(len(offered))
    for k, places in enumerate(points.tenders):
        mine = slice(points.starts[k], points.starts[k + 1])
        usable = (points.needs[mine] <= most[places]).all(axis=1)
        costs, raised = points.costs[mine][usable], np.maximum(points.needs[mine][usable], least[places])
        exact = linprog(costs, raised.T, offered[places], np.ones((1, len(costs))), [1.0])
        assert exact.status == 0
        assert lows[k] - prices[k] @ offered[places] == pytest.approx(exact.fun, abs=1e-9 * abs(costs).max())
        assert (prices[k] >= 0.0).all()
        assert (costs >= lows[k] - raised @ prices[k] - 1e-9 * abs(costs).max()).all()
        combined[places] += prices[k]
    assert (scores[combined == 0.0] == 0.0).all()


@pytest.mark.parametrize("seed", range(20))
def test_dominated_points_need_no_less_than_a_cheaper_one(seed):
    needs = np.random.default_rng(seed).integers(0, 4, (15, 2)).astype(float)
    kept = undominated(needs)
    for p in range(len(needs)):
        assert kept[p] == (not any((needs[q] <= needs[p]).all() for q in range(p)))
