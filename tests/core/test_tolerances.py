"""Tolerances are relative to the size of the compared values."""

import dataclasses
import math

import pytest

from colgen.core.tolerances import ROUNDING, TOLERANCES, size


def test_all_are_between_rounding_errors_and_one():
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
