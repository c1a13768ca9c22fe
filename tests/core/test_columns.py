"""Columns and rows: validation at construction."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from colgen import ColgenError, Column, Columns, InputError, Row
from colgen.core.columns import RowFamily

KEY = ("cover", 0)


@pytest.mark.parametrize("cost", [math.nan, math.inf, -math.inf])
def test_a_cost_that_is_not_a_number_is_refused(cost):
    with pytest.raises(ColgenError, match=r"'a pattern' costs .* expected a finite number"):
        Column(cost, {KEY: 1.0}, "a pattern")


@pytest.mark.parametrize("bounds", [(2.0, 1.0), (math.inf, math.inf), (-math.inf, -math.inf), (math.nan, 1.0)])
def test_empty_bounds_are_refused(bounds):
    with pytest.raises(ColgenError, match="expected lower ≤ upper"):
        Column(1.0, {KEY: 1.0}, lower=bounds[0], upper=bounds[1])


def test_the_identity_of_columns():
    column = Column(1.0, {KEY: 1.0, ("cover", 1): 2.0}, structure="one")
    assert column.identity == Column(1.0, {("cover", 1): 2.0, KEY: 1.0}, structure="another").identity
    assert column.identity != Column(2.0, {KEY: 1.0, ("cover", 1): 2.0}).identity
    assert column.identity != Column(1.0, {KEY: 1.0}).identity


def test_a_key_is_the_identity():
    assert Column(1.0, {KEY: 1.0}, key="k").identity == Column(9.0, {}, key="k").identity
    assert Column(1.0, {KEY: 1.0}, key="k").identity != Column(1.0, {KEY: 1.0}).identity


class Sizes(RowFamily):
    def coefficients(self, columns, indices):
        return [[float(len(column.structure) >= index) for index in indices] for column in columns]


def test_a_family_computes_many_entries_at_once():
    columns = [Column(1.0, {}, structure=word) for word in ("a", "abc")]
    owners, members, values = Sizes("size").entries(columns, (1, 2, 4))
    found = np.zeros((2, 3))
    found[owners, members] = values
    assert found.tolist() == [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]


@pytest.mark.parametrize("value", ["1", None, 1j, [1.0]])
@pytest.mark.parametrize("name", ["cost", "lower", "upper", "coefficient"])
def test_other_types_in_a_column_are_refused(name, value):
    numbers = {"cost": 1.0, "lower": 0.0, "upper": 1.0, "coefficient": 1.0, name: value}
    coefficient = numbers.pop("coefficient")
    with pytest.raises(InputError, match=rf"'a pattern' has the {name} .*expected a number"):
        Column(numbers.pop("cost"), {KEY: coefficient}, "a pattern", **numbers)


def test_invalid_fields_of_a_column_are_refused():
    with pytest.raises(InputError, match="integer='no', expected True or False"):
        Column(1.0, {KEY: 1.0}, integer="no")
    with pytest.raises(InputError, match="coefficients of type list"):
        Column(1.0, [(KEY, 1.0)])


@pytest.mark.parametrize("value", [1, np.float32(1.0), np.int32(1), True, np.bool_(True)])
def test_all_types_of_numbers_are_accepted(value):
    assert Column(value, {KEY: value}).coefficients == {KEY: 1.0}
    assert Row(KEY, value, value, {KEY: value}).upper == 1.0


@pytest.mark.parametrize("value", [Fraction(1, 2), Decimal("0.5"), np.array(0.5)])
def test_exact_numbers_become_floats(value):
    column, row = Column(value, {KEY: value}, upper=value), Row(KEY, value, value, {KEY: value})
    found = [column.cost, column.upper, column.coefficients[KEY], row.lower, row.upper, row.coefficients[KEY]]
    found.append(Row(KEY, coefficient=lambda column: value).coefficient_in(column))
    found.append(Columns([value], [0, 1], [0], [value]).costs[0])
    assert found == [0.5] * 8
    assert all(isinstance(each, float) for each in found)


@pytest.mark.parametrize("sides", [("1", 2.0), (0.0, "2"), (math.nan, 1.0), (0.0, math.nan), (None, 1.0)])
def test_a_side_that_is_not_a_number_is_refused(sides):
    with pytest.raises(InputError, match=r"row \('cover', 0\) has the side .*expected a number"):
        Row(KEY, *sides)


def test_a_coefficient_of_a_row_that_is_not_a_number_is_refused():
    with pytest.raises(InputError, match=r"has the coefficient '1' in column \('cover', 0\), expected a number"):
        Row(("cut", 1), 0.0, 1.0, {KEY: "1"})


@pytest.mark.parametrize(("value", "words"), [(None, "None .did you forget"), ("1", "'1'"), (1j, "1j")])
def test_the_function_of_a_row_must_return_a_number(value, words):
    row = Row(KEY, 0.0, 1.0, coefficient=lambda column: value)
    with pytest.raises(InputError, match=rf"function of row \('cover', 0\) returned {words}.*expected a number"):
        row.coefficient_in(Column(1.0, {}, "a pattern"))


@pytest.mark.parametrize("broken", [{"costs": ["1"]}, {"values": ["1"]}, {"upper": ["1"]}, {"costs": [None]}])
def test_strings_in_a_batch_are_refused(broken):
    with pytest.raises(InputError, match="expected numbers, not entries such as"):
        Columns(**{"costs": [1.0], "starts": [0, 1], "rows": [0], "values": [1.0]} | broken)


def test_strings_from_a_family_are_refused():
    class Texts(RowFamily):
        def coefficients(self, columns, indices):
            return [["1"] * len(indices) for _ in columns]

    with pytest.raises(InputError, match=r"Texts\.coefficients: expected numbers"):
        Texts("cut").entries([Column(1.0, {})], [0])
