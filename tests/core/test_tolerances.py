"""Tolerances are relative: what they are relative to, and that scaling it is exact."""

import dataclasses
import math

import numpy as np
import pytest

from colgen.core.tolerances import ROUNDING, TOLERANCES, power_of_two, size


def test_all_are_shares_and_none_below_rounding():
    for field in dataclasses.fields(TOLERANCES):
        assert ROUNDING < getattr(TOLERANCES, field.name) < 1e-3, field.name
    assert TOLERANCES.pruning < TOLERANCES.optimality


@pytest.mark.parametrize(
    ("scale", "values", "expected"),
    [
        (1.0, (), 1.0),
        (1.0, (0.5, -3.0), 3.0),
        (8.0, (0.5, -3.0), 8.0),
        (-1.0, (), 0.0),
        (1.0, (math.inf, 2.0), 2.0),
        (1.0, (-math.inf, math.nan), 1.0),
    ],
)
def test_the_largest_finite_number_counts(scale, values, expected):
    assert size(scale, *values) == expected


@pytest.mark.parametrize("values", [[3.0], [-5.0, 0.1], [1e-300], [1e300, 1.0], [0.7, math.inf, math.nan]])
def test_dividing_by_the_scale_is_exact_and_leaves_small_numbers(values):
    scale = power_of_two(values)
    assert math.frexp(scale)[0] == 0.5  # a power of two
    finite = np.array([v for v in values if math.isfinite(v)])
    assert (finite / scale * scale == finite).all()
    assert 1.0 <= np.abs(finite / scale).max() < 2.0


@pytest.mark.parametrize("values", [[], [0.0, -0.0], [math.inf], [math.nan]])
def test_without_any_size_the_scale_is_one(values):
    assert power_of_two(values) == 1.0


def test_the_ends_of_the_range_can_be_divided_by():
    assert power_of_two([5e-324]) > 0.0
    assert math.isfinite(power_of_two([np.finfo(float).max]))
