"""Concave bounds on subsets against all subsets."""

import numpy as np
import pytest

import colgen.solvers.clusters.subset as kernel
from colgen.solvers.clusters.concave import compute_curvature, concave_bound, raise_low_scores
from colgen.solvers.clusters.subset import search
from tests.sweeps import seeds

SEEDS = seeds(60)
SCALES = [1.0, 1e-6, 1e6]


def draw(seed, n):
    """Dense scores of both signs, profits mostly below zero, and which items may not be together."""
    rng = np.random.default_rng(seed)
    scores = [rng.choice([-1.0, 1.0], (n, n)), rng.normal(size=(n, n)), rng.integers(-1, 3, (n, n)).astype(float)]
    upper = np.triu(scores[seed % 3], 1)
    if seed % 4 == 3:
        upper[np.triu(rng.random((n, n)) < 0.1, 1)] = -50.0
    profits = [-2.0 * rng.random(n), rng.normal(size=n), np.full(n, -1.0)][seed // 3 % 3]
    scale = SCALES[seed // 9 % 3]
    return scale * (upper + upper.T), scale * profits, scale


def all_values(scores, profits):
    """The value of every subset, by the bits of its number."""
    n = len(profits)
    members = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(float)
    return members @ profits + 0.5 * ((members @ scores) * members).sum(axis=1)


@pytest.mark.parametrize("seed", SEEDS)
def test_naive_concave_bound(seed):
    """The bound holds for any start point and any subset of the items with a curvature."""
    scores, profits, scale = draw(seed, 9)
    raised, rng = raise_low_scores(scores), np.random.default_rng(seed)
    curvature, point, room = np.zeros(9), rng.random(9), np.zeros(9)
    compute_curvature(raised, np.arange(9), 9, profits, curvature)
    assert np.linalg.eigvalsh(np.diag(curvature) - raised).min() > 0.0
    for m in (9, 6, 3):
        chosen = rng.permutation(9)
        here = chosen[:m]
        value = scale * float(rng.normal())
        best = value + all_values(scores[np.ix_(here, here)], profits[here]).max()
        for wanted in (-np.inf, best - 0.5 * scale, best, np.inf):
            bound = concave_bound(raised, chosen, m, profits, curvature, value, wanted, point, room)
            assert bound >= best - 1e-12 * scale


def test_the_bound_uses_negative_scores():
    """Shares give 2; with D = 4 the maximum of 6y - 8y² is 9/8."""
    scores, profits = np.array([[0.0, -4.0], [-4.0, 0.0]]), np.ones(2)
    curvature, point, room = np.zeros(2), np.full(2, 0.3), np.zeros(2)
    compute_curvature(scores, np.arange(2), 2, profits, curvature)
    bound = min(concave_bound(scores, np.arange(2), 2, profits, curvature, 0.0, 1.12, point, room) for _ in range(20))
    assert bound == pytest.approx(1.125, abs=0.02)


def test_very_negative_scores_are_raised():
    scores = np.array([[0.0, 2.0, -1e6], [2.0, 0.0, -1.0], [-1e6, -1.0, 0.0]])
    assert (raise_low_scores(scores) == np.array([[0.0, 2.0, -2.0], [2.0, 0.0, -1.0], [-2.0, -1.0, 0.0]])).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_naive_search_with_concave_bounds(seed, monkeypatch):
    """More items than in the tests of the search: with few candidates the bound is not computed."""
    monkeypatch.setattr(kernel, "SHORT", 2)
    scores, profits, scale = draw(seed, 12)
    found = search(scores, profits, least=1e-9 * scale)
    best = all_values(scores, profits).max()
    assert found.complete
    assert found.best == pytest.approx(max(best, 1e-9 * scale), rel=1e-9)
    assert found.total >= best * (1.0 - 1e-12)


def test_the_search_is_short_where_scores_are_dense_and_of_both_signs():
    """Shares alone take 4.0 million nodes for this one, together 48,000."""
    rng = np.random.default_rng(0)
    upper = np.triu(rng.choice([-1.0, 1.0], (40, 40)), 1)
    found = search(upper + upper.T, np.full(40, -2.9), most=200_000)
    assert found.complete
