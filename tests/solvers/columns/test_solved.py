"""What is looked at after each solve, against the same in words of arrays."""

import math

import numpy as np
import pytest

from solvers.columns.solved import are_whole, grow_older, largest_product, signed_duals


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_wrong_signs_are_taken_away(sign):
    """Minimising, a row without a lower side cannot pull upwards; one with two sides may pull both ways."""
    duals = sign * np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    lower = np.array([0.0, 0.0, -math.inf, -math.inf, 0.0, 0.0, -math.inf])
    upper = np.array([math.inf, math.inf, 0.0, 0.0, 0.0, 0.0, math.inf])
    found = signed_duals(duals, lower, upper, sign)
    assert (sign * found).tolist() == [1.0, 0.0, 0.0, -1.0, 1.0, -1.0, 0.0]
    assert math.isnan(signed_duals(np.array([math.nan]), lower[:1], upper[:1], sign)[0])


def test_the_largest_counts_sizes():
    assert largest_product(np.array([-3.0, 2.0]), np.array([1.0, 4.0])) == 8.0
    assert largest_product(np.empty(0), np.empty(0)) == 0.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_columns_grow_older_while_they_are_out(sign):
    oldest = np.iinfo(np.int16).max
    ages = np.array([4, 4, 4, oldest, 7], dtype=np.int16)
    active = np.array([3, 0, 2, 1], dtype=np.int32)  # the last is idle
    grow_older(ages, active, sign * np.array([1.0, 1.0, 0.1, -1.0]), sign, 0.1)
    assert ages.tolist() == [5, 0, 0, oldest, 7]


def test_values_are_whole_where_they_must_be():
    values, whole = np.array([1.0, 0.5, 2.0 + 1e-8]), np.array([True, False, True, False])
    assert are_whole(values, whole, 1e-6)
    assert not are_whole(values, whole, 1e-9)
    assert not are_whole(values, ~whole, 1e-6)
    assert not are_whole(np.array([math.nan]), whole, 1e-6)
