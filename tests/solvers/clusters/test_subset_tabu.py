"""Tabu search for subsets against all subsets."""

import numpy as np
import pytest

from colgen.solvers.clusters.subset import tabu
from tests.solvers.clusters.test_concave import all_values, draw
from tests.sweeps import seeds

SEEDS = seeds(60)


@pytest.mark.parametrize("seed", SEEDS)
def test_naive_tabu(seed):
    """Values are correct, and the best subset of few items is found."""
    scores, profits, scale = draw(seed, 8)
    least = 1e-9 * scale
    found = tabu(scores, profits, np.arange(8), least=least)
    values = all_values(scores, profits)
    numbers = found.members @ (1 << np.arange(8))
    assert found.values == pytest.approx(values[numbers], rel=1e-9, abs=1e-9 * scale)
    assert len(set(numbers.tolist())) == len(numbers)
    assert (np.diff(found.values) <= 0.0).all()
    assert (found.values > least).all()
    assert found.values.max(initial=0.0) == pytest.approx(max(values.max(), 0.0), rel=1e-9)
    assert not found.complete


def test_the_item_stays():
    scores = np.array([[0.0, 1.0, -3.0], [1.0, 0.0, -3.0], [-3.0, -3.0, 0.0]])
    found = tabu(scores, np.full(3, 0.5), np.array([2]))
    assert found.members.tolist() == [[False, False, True]]


def test_no_items_and_no_time():
    assert not len(tabu(np.zeros((3, 3)), np.full(3, -1.0), np.arange(3)).values)
    assert not len(tabu(np.zeros((3, 3)), np.ones(3), np.arange(0)).values)
    assert not len(tabu(np.zeros((0, 0)), np.zeros(0), np.arange(0)).values)
    assert tabu(np.zeros((3, 3)), np.ones(3), np.arange(3), expired=lambda: True).values.tolist() == [3.0]
