"""Fuzzed compact models: the reference is correct, and samples can be simplified."""

import math

import numpy as np
import pytest

from tests.fuzz import decompositions
from tests.fuzz.decompositions import truth_of


def _arrays(**changes):
    arrays = {
        "costs": np.array([2.0, 1.0]),
        "lower": np.zeros(2),
        "upper": np.array([3.0, 3.0]),
        "integer": np.ones(2),
        "matrix": np.array([[1.0, 2.0]]),
        "low": np.array([-np.inf]),
        "high": np.array([5.0]),
    }
    return {**arrays, **{name: np.array(value, dtype=float) for name, value in changes.items()}}


@pytest.mark.parametrize(
    ("changes", "best"),
    [
        ({}, 7.0),
        ({"integer": [1, 0]}, 7.0),
        ({"upper": [np.inf, 3.0]}, 10.0),
        ({"upper": [np.inf, 3.0], "matrix": [[-1.0, 2.0]]}, math.inf),
        ({"low": [6.0], "high": [5.5]}, -math.inf),
        ({"lower": [1.0, 0.0], "upper": [0.0, 3.0]}, -math.inf),
        # 2x - 2y = 1 has no integer solution, and its relaxation has a ray.
        ({"upper": [np.inf, np.inf], "matrix": [[2.0, -2.0]], "low": [1.0], "high": [1.0]}, math.nan),
    ],
)
def test_reference_optimum_of_small_models(changes, best, monkeypatch):
    monkeypatch.setattr(decompositions, "_TRUTH_SECONDS", 0.2)
    optimum = truth_of(_arrays(**changes), True)[0]
    assert optimum == best or (math.isnan(best) and not optimum > -math.inf)


def test_simplified_models_can_be_built():
    sample = decompositions.draw(np.random.default_rng([0, 2]))
    for candidate in decompositions.simplify(sample):
        decompositions.model_of(candidate, 0.0)
