"""Powers of two as scales."""

import math

import numpy as np
import pytest

from colgen.solvers.scaling import integer_scale, power_of_two, powers_of_two


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


@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_the_power_of_two_below_a_number(count):
    values = np.random.default_rng(count).lognormal(0.0, 20.0, count)
    assert [power_of_two(value) for value in values.tolist()] == powers_of_two(values).tolist()


def test_powers_of_two_of_all_sizes():
    sizes = np.array([0.0, 1.0, 0.75, 3.0, 4.0, 5e-324, 1e-305, 1e305])
    assert powers_of_two(sizes).tolist() == [1.0, 1.0, 0.5, 2.0, 4.0, 2.0**-1000, 2.0**-1000, 2.0**1000]
    assert powers_of_two(sizes[::2]).tolist() == powers_of_two(sizes)[::2].tolist()


@pytest.mark.parametrize("largest", [5e-324, 1e-300, 0.3, 0.5, 1.0, 3.7e5])
@pytest.mark.parametrize("bits", [0, 40, 52])
def test_numbers_up_to_the_largest_fit_into_the_bits(largest, bits):
    scale = integer_scale(largest, bits)
    assert math.frexp(scale)[0] == 0.5
    assert largest * scale < 2.0**bits
    if largest > 1e-200:
        assert 2.0 * largest * scale >= 2.0**bits
