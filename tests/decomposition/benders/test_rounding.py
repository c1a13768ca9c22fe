"""Rounded rows of second stages hold at integer first stages, and cut off fractional ones."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.decomposition.families import capacity
from colgen import Sense, decompose, solve
from colgen.decomposition.benders.rounding import Rounding, Roundings
from colgen.decomposition.benders.stage_rows import StageRows
from tests.decomposition.benders.test_stage_rows import at
from tests.decomposition.benders.test_template import two_stage


def drawn(seed, scale=1.0):
    """Rows of a stage's cost, and first stages with two integer variables and a continuous one."""
    rng = np.random.default_rng(seed)
    slopes = scale * rng.integers(-9, 10, (5, 3)) / rng.choice([1, 3])
    slopes[-1] = 0.0
    lower = np.array([rng.integers(-3, 1), 0.0, -1.0])
    upper = np.array([3.0, 2.0, 2.0])
    return scale * rng.integers(-20, 30, 5).astype(float), slopes, lower, upper


@pytest.mark.parametrize("scale", [1e-7, 1.0, 1e7])
@pytest.mark.parametrize("seed", range(12))
def test_a_rounding_holds_at_every_integer_first_stage(seed, scale):
    constants, slopes, lower, upper = drawn(seed, scale)
    roundings = Roundings(lower, upper, np.array([True, True, False]))
    rng = np.random.default_rng(seed)
    points = [
        np.array(point)
        for point in itertools.product(
            np.arange(lower[0], 4.0), np.arange(0.0, 3.0), np.linspace(lower[2], upper[2], 7)
        )
    ]
    for _ in range(20):
        x = lower + (upper - lower) * rng.random(3)
        cost = float((constants - slopes @ x).max())
        violation, constant, steep = roundings.most_violated(constants, slopes, cost, x)
        if violation == -np.inf:
            continue
        assert constant - steep @ x - cost == pytest.approx(violation, abs=1e-9 * scale)
        for point in points:
            assert constant - steep @ point <= (constants - slopes @ point).max() + 1e-9 * scale


def test_variables_without_bounds_are_not_rounded():
    constants, slopes = np.array([5.0, 0.0]), np.array([[2.0, 3.0], [0.0, 0.0]])
    free = Roundings(np.array([0.0, -np.inf]), np.array([4.0, np.inf]), np.array([True, False]))
    assert free.most_violated(constants, slopes, 0.0, np.array([2.5, 0.0]))[0] == -np.inf
    assert free.most_violated(constants[:1], slopes[:1], 0.0, np.array([2.5, 0.0]))[0] == -np.inf
    slopes[:, 1] = 0.0
    violation, constant, steep = free.most_violated(constants, slopes, 0.0, np.array([2.5, 0.0]))
    assert (violation, constant, steep.tolist()) == (pytest.approx(0.5), pytest.approx(3.0), pytest.approx([1.0, 0.0]))


def test_roundings_keep_the_optimum_and_raise_the_root_bound(monkeypatch):
    seed = 2
    with_them = solve(decompose(capacity(3, seed), "scenario", method="benders"))
    monkeypatch.setattr(StageRows, "_by_rounding", lambda *_: {})
    without = solve(decompose(capacity(3, seed), "scenario", method="benders"))
    assert with_them.is_optimal
    assert without.is_optimal
    assert with_them.objective == pytest.approx(without.objective, rel=1e-6)
    assert with_them.nodes[0].bound > without.nodes[0].bound


def context(model, x, prunes):
    run = SimpleNamespace(expired=False, sense=Sense.MINIMIZE, prunes=prunes)
    return SimpleNamespace(relaxation=at(model, x), run=run)


def test_a_first_stage_is_tried_once():
    model = decompose(two_stage(4), "scenario", method="benders").model
    rounding, x = Rounding(model), np.full(len(model.first), 0.7)
    found = rounding.search(context(model, x, lambda bound: False))
    assert found is not None
    assert rounding.search(context(model, x, lambda bound: False)) is None


def test_a_first_stage_above_the_cutoff_is_not_evaluated():
    model = decompose(two_stage(4), "scenario", method="benders").model
    assert Rounding(model).search(context(model, np.full(len(model.first), 0.7), lambda bound: True)) is None
