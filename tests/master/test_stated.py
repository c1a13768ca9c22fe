"""What rows say of columns that do not name them: by key first, then by function."""

from colgen import Column, Row
from colgen.master.stated import StatedByRows


def known():
    stated = StatedByRows()
    stated.learn(Row(("named", 0), upper=1.0, coefficients={"a": 2.0}, coefficient=lambda column: 5.0), 0)
    stated.learn(Row(("function", 0), upper=1.0, coefficient=lambda column: column.structure), 1)
    stated.learn(Row(("named", 1), upper=1.0, coefficients={"a": 3.0, "b": 4.0}), 2)
    return stated


def test_a_key_comes_before_a_function():
    assert dict(zip(*known().of_column(Column(1.0, {}, 7.0, key="a"), []), strict=True)) == {0: 2.0, 1: 7.0, 2: 3.0}
    assert dict(zip(*known().of_column(Column(1.0, {}, 7.0), []), strict=True)) == {0: 5.0, 1: 7.0}


def test_rows_that_a_column_names_itself_say_nothing_of_it():
    assert dict(zip(*known().of_column(Column(1.0, {}, 7.0, key="a"), [0, 1]), strict=True)) == {2: 3.0}


def test_without_rows_nothing_is_stated():
    assert StatedByRows().of_column(Column(1.0, {}, key="a"), []) == ([], [])
