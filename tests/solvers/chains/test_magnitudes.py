"""Magnitudes and differences of numbers."""

import math

import numpy as np
import pytest

from colgen.solvers.chains.magnitudes import low_step


def by_sorting(*parts):
    """The same by numpy."""
    with np.errstate(invalid="ignore"):
        steps = np.concatenate([(part.max(axis=1, keepdims=True) - part).ravel() for part in parts]).astype(float)
    steps = steps[(steps > 0) & (steps < math.inf)]
    return np.sort(steps)[(len(steps) - 1) // 10] if len(steps) else 0.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(40))
def test_the_low_step_is_that_of_sorting(seed, dtype):
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=rng.integers(1, 9, 2)).round(seed % 4).astype(dtype) for _ in range(2)]
    for part in parts:
        part[rng.random(part.shape) < 0.2] = -np.inf
    assert low_step(*parts) == by_sorting(*parts)


def test_rows_of_equal_entries_have_no_step():
    assert low_step(np.ones((3, 2)), np.full((2, 2), -np.inf)) == 0.0
