"""Quadratic programs over the simplex: against an interior-point method, degenerate columns among them."""

import numpy as np
import pytest

from benchmarks.learning.reference import nearest_mean
from colgen.solvers.quadratic.over_simplex import ActiveSet
from tests.sweeps import seeds


def solved(columns, linear):
    """All columns handed over, again and again, until none gains."""
    master = ActiveSet()
    for k in range(columns.shape[1]):
        master.add(columns[:, : k + 1].T @ columns[:, k], float(linear[k]))
    for _ in range(1000):
        gains = master.gains
        best = int(np.argmax(gains))
        if best in master.members or not master.enter(best):
            break
    return master


@pytest.mark.parametrize("seed", seeds(24))
def test_is_the_optimum_over_all_columns(seed):
    rng = np.random.default_rng(seed)
    parts, count = int(rng.integers(1, 8)), int(rng.integers(1, 15))
    columns = rng.integers(0, 2, (parts, count)).astype(float)  # many of them dependent, some equal
    linear = rng.normal(size=count) * rng.choice([0.1, 1.0, 10.0])
    master = solved(columns, linear)
    p = np.zeros(count)
    p[master.members] = master.weights
    assert p.sum() == pytest.approx(1.0)
    assert (master.weights > 0.0).all()
    gains = linear - columns.T @ (columns @ p)
    assert gains.max() <= gains @ p + 1e-12 * (1.0 + np.abs(linear).max())
    reference = nearest_mean(columns, linear)
    assert columns @ p == pytest.approx(columns @ reference, abs=1e-6)
    assert master.value == pytest.approx(linear @ p - 0.5 * np.sum((columns @ p) ** 2))


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_change_nothing(scale):
    rng = np.random.default_rng(3)
    columns, linear = rng.normal(size=(4, 9)), rng.normal(size=9)
    plain, scaled = solved(columns, linear), solved(columns * scale, linear * scale**2)
    assert sorted(plain.members) == sorted(scaled.members)
    order, other = np.argsort(plain.members), np.argsort(scaled.members)
    assert plain.weights[order] == pytest.approx(scaled.weights[other], rel=1e-9)


def test_weights_have_derivatives():
    rng = np.random.default_rng(5)
    columns, linear, direction = rng.normal(size=(6, 5)), rng.normal(size=5), rng.normal(size=5)
    master = solved(columns, linear)
    slope = np.zeros(5)
    slope[master.members] = master.solve(direction[master.members])
    moved = solved(columns, linear + 1e-6 * direction)
    change = -np.zeros(5)
    change[moved.members] += moved.weights
    change[master.members] -= master.weights
    assert slope == pytest.approx(change * 1e6, abs=1e-6)
