"""Sums by number against the same by the functions of numpy."""

import numpy as np
import pytest

from solvers.columns.sums import sums_by_number


@pytest.mark.parametrize("columns", [0, 1, 5, 40])
def test_sums_are_those_of_a_histogram(columns):
    random = np.random.default_rng(columns)
    lengths, amounts = random.integers(0, 5, columns), random.random(columns)
    numbers = random.integers(0, 12, lengths.sum()) << 32 | 7
    expected, where = np.unique(numbers, return_inverse=True)
    found, sums = sums_by_number(numbers, lengths, amounts)
    assert found.tolist() == expected.tolist()
    # To the last bit: what is added is added in the order in which it came.
    assert sums.tolist() == np.bincount(where, np.repeat(amounts, lengths), minlength=len(expected)).tolist()
