"""The rows of a linear master as the engine sees them: names, sides, and dual values that are made fit for them."""

import dataclasses

import numpy as np

from colgen import Row
from colgen.core.duals import Duals, RowNames
from tests.master.programs import col, covering


def test_names_and_sides_are_those_of_the_present_rows():
    master = covering(demands=(3.0, 2.0))
    key = ("most", None)
    assert key not in master.rows
    master.add((), [Row(key, upper=5.0, coefficient=lambda column: 1.0)])
    assert key in master.rows
    assert len(master.rows) == master.num_rows == len(master.rows.names.keys)
    assert [row.key for row in master.rows.joined] == [key]
    assert master.rows.sides("most") == {key: (-np.inf, 5.0)}
    assert master.rows.lower[-1] == -np.inf
    assert master.rows.upper[-1] == 5.0


def test_dual_values_with_wrong_signs_become_zero():
    rows = covering(demands=(3.0, 2.0)).rows  # at least so much, minimised: no dual value is negative
    signed = rows.signed({"demand": [1.0, -2.0]})
    assert signed["demand"].tolist() == [1.0, 0.0]
    assert rows.signed(signed) is signed
    foreign = RowNames()
    foreign.append(("demand", 0))
    padded = rows.signed(Duals(np.array([4.0]), foreign))
    assert len(padded.values) == len(rows)


def test_dual_values_of_the_problems_own_kind_are_handed_on():
    rows, messages = covering().rows, object()
    assert rows.signed(messages) is messages
    assert rows.guess(messages) is messages


def test_a_guess_sets_the_rounding_error():
    master = covering(demands=(3.0, 2.0))
    small, large = ({"demand": [size, size]} for size in (1.0, 1024.0))
    found = []
    for guess in (small, large):
        at = master.rows.guess(guess)
        found.append(master.precision.rounding)
        assert master.rows.rounding_at(at) == found[-1]
    assert found[1] == 1024.0 * found[0] > 0.0


def test_entries_of_missing_rows_are_ignored():
    rows = covering(demands=(3.0, 2.0)).rows
    column = col((1, 2))
    beyond = dataclasses.replace(column, coefficients={**column.coefficients, ("unknown", 0): 1.0})
    assert rows.entries(beyond) == rows.entries(column)
