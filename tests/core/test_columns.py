"""Columns and rows: data that is refused where it is made."""

import math

import numpy as np
import pytest

from colgen import ColgenError, Column
from colgen.core.columns import RowFamily

KEY = ("cover", 0)


@pytest.mark.parametrize("cost", [math.nan, math.inf, -math.inf])
def test_a_cost_that_is_no_number_is_refused_by_name(cost):
    with pytest.raises(ColgenError, match=r"'a pattern' costs .* expected a finite number"):
        Column(cost, {KEY: 1.0}, "a pattern")


@pytest.mark.parametrize("bounds", [(2.0, 1.0), (math.inf, math.inf), (-math.inf, -math.inf), (math.nan, 1.0)])
def test_bounds_that_leave_no_value_are_refused(bounds):
    with pytest.raises(ColgenError, match="expected lower ≤ upper"):
        Column(1.0, {KEY: 1.0}, lower=bounds[0], upper=bounds[1])


def test_what_makes_two_columns_the_same():
    column = Column(1.0, {KEY: 1.0, ("cover", 1): 2.0}, structure="one")
    assert column.identity == Column(1.0, {("cover", 1): 2.0, KEY: 1.0}, structure="another").identity
    assert column.identity != Column(2.0, {KEY: 1.0, ("cover", 1): 2.0}).identity
    assert column.identity != Column(1.0, {KEY: 1.0}).identity


def test_a_key_is_an_identity_of_its_own():
    assert Column(1.0, {KEY: 1.0}, key="k").identity == Column(9.0, {}, key="k").identity
    assert Column(1.0, {KEY: 1.0}, key="k").identity != Column(1.0, {KEY: 1.0}).identity


class Sizes(RowFamily):
    def coefficients(self, columns, indices):
        return [[float(len(column.structure) >= index) for index in indices] for column in columns]


def test_a_family_states_many_entries_at_a_time():
    columns = [Column(1.0, {}, structure=word) for word in ("a", "abc")]
    owners, members, values = Sizes("size").entries(columns, (1, 2, 4))
    found = np.zeros((2, 3))
    found[owners, members] = values
    assert found.tolist() == [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
