"""Implied bounds of integer variables exclude no point of the rows, and equal those of enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from colgen.decomposition.reading.implied_bounds import tighten_bounds

INTEGER = np.ones(3, dtype=bool)


def tighten(rows, sides, lower, upper, integer=INTEGER):
    matrix = sparse.csr_array(np.array(rows, dtype=float))
    low, high = (np.array(side, dtype=float) for side in sides)
    return tighten_bounds(matrix, low, high, np.array(lower, dtype=float), np.array(upper, dtype=float), integer)


def test_a_knapsack_bounds_its_items():
    lower, upper = tighten([[196, 55, -1000]], ([-np.inf], [0]), [0, 0, 0], [np.inf, np.inf, 1])
    assert (lower.tolist(), upper.tolist()) == ([0, 0, 0], [5, 18, 1])


def test_bounds_follow_from_each_other():
    lower, upper = tighten([[1, -1, 0], [0, 1, -1]], ([-np.inf] * 2, [0] * 2), [0, 0, 0], [np.inf, np.inf, 2.0])
    assert (lower.tolist(), upper.tolist()) == ([0, 0, 0], [2, 2, 2])
    lower, upper = tighten([[1, -1, 0], [0, 1, -1]], ([-np.inf] * 2, [0] * 2), [3, 0, 0], [np.inf, np.inf, np.inf])
    assert (lower.tolist(), upper.tolist()) == ([3, 3, 3], [np.inf] * 3)


def test_continuous_variables_and_infeasible_rows_stay():
    assert tighten([[1, 1, 0]], ([-np.inf], [5]), [0] * 3, [np.inf] * 3, ~INTEGER)[1].tolist() == [np.inf] * 3
    assert tighten([[1, 1, 0]], ([9], [np.inf]), [0] * 3, [2] * 3)[1].tolist() == [2] * 3


@pytest.mark.parametrize("scale", [1.0, 0.1, 1e-7, 12345.678])
@given(data=st.data())
def test_no_point_is_lost(scale, data):
    small = st.integers(-4, 4)
    rows = np.array(data.draw(st.lists(st.tuples(small, small, small), min_size=1, max_size=3)), dtype=float) * scale
    lower = np.array(data.draw(st.tuples(*[st.integers(-3, 0)] * 3)), dtype=float)
    upper = lower + data.draw(st.tuples(*[st.integers(0, 6)] * 3))
    side = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=len(rows), max_size=len(rows)))) * scale
    width = data.draw(st.integers(0, 3)) * scale
    low, high = tighten(rows, (side, side + width), lower, upper)
    assert (low >= lower).all()
    assert (high <= upper).all()
    for point in itertools.product(*(np.arange(a, b + 1) for a, b in zip(lower, upper, strict=True))):
        activity, room = rows @ point, 1e-9 * scale
        if ((activity >= side - room) & (activity <= side + width + room)).all():
            assert (point >= low).all()
            assert (point <= high).all()
