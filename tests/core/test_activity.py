"""Activities of rows: which coefficient is used, and the size of a violation."""

import math

import pytest

from colgen import Column, Row, Solution
from colgen.core.activity import activity, coefficient

KEY = ("limit", 0)


def column(**more):
    return Column(1.0, more.pop("coefficients", {}), structure=3.0, **more)


@pytest.mark.parametrize(
    ("coefficients", "by_key", "expected"),
    [({KEY: 5.0}, {"a": 4.0}, 5.0), ({}, {"a": 4.0}, 4.0), ({}, {}, 3.0)],
    ids=["the column's own", "the row's by key", "the row's function"],
)
def test_a_column_s_own_coefficient_takes_precedence(coefficients, by_key, expected):
    row = Row(KEY, upper=1.0, coefficients=by_key, coefficient=lambda column: column.structure)
    assert coefficient(row, column(coefficients=coefficients, key="a")) == expected


def test_a_row_without_a_coefficient_for_a_column_omits_it():
    assert coefficient(Row(KEY, upper=1.0, coefficients={"b": 2.0}), column(key="a")) == 0.0


def test_activity_adds_columns_and_variables():
    row = Row(KEY, lower=2.0, upper=6.0, coefficients={"x": 2.0}, coefficient=lambda column: column.structure)
    inside = activity(row, Solution(0.0, ((column(), 1.0),), {"x": 1.5, "y": 9.0}))
    assert inside.value == 6.0
    assert inside.excess == 0.0
    assert inside.size == 6.0
    above = activity(row, Solution(0.0, ((column(), 2.0),), {"x": 1.5}))
    assert (above.value, above.excess) == (9.0, 3.0)
    below = activity(row, Solution(0.0))
    assert (below.value, below.excess) == (0.0, 2.0)


@pytest.mark.parametrize("times", [1e-9, 1.0, 2.0**40])
def test_a_violation_is_invariant_under_scaling(times):
    row = Row(KEY, upper=4.0 * times, coefficient=lambda column: times * column.structure)
    assert activity(row, Solution(0.0, ((column(), 2.0),))).violation == pytest.approx(2.0 / 6.0)


def test_a_row_without_sides_and_terms_has_no_size():
    nothing = activity(Row(KEY, lower=-math.inf, upper=math.inf), Solution(0.0))
    assert (nothing.value, nothing.size) == (0.0, 0.0)
    assert nothing.violation == -math.inf


def test_few_and_many_variables_give_the_same_activity():
    row = Row(KEY, upper=1.0, coefficients={k: float(k) for k in range(6)})
    few = Solution(0.0, (), {4: 2.0})
    many = Solution(0.0, (), {k: 2.0 if k == 4 else 0.0 for k in range(-20, 20)})
    assert activity(row, few).value == activity(row, many).value == 8.0
