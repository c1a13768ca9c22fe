"""Columns over rows: entries of rows are computed once, until rows are added."""

import numpy as np
import pytest

from colgen import Column, Columns, Row
from colgen.core.duals import RowNames
from colgen.core.errors import UnknownRowError
from colgen.master.lookup import LookUp


def lookup():
    names = RowNames()
    for i in range(4):
        names.append(("cover", i))
    return LookUp(names), names


def test_entries_of_a_batch_are_cached():
    here, names = lookup()
    asked = []
    here.store_row(Row(("cut", 0), upper=1.0, coefficient=lambda column: asked.append(column.structure) or 3.0), 4)
    names.append(("cut", 0))
    columns = [Column(float(i), {("cover", i): 1.0}, i) for i in range(3)]
    batch = here.over(columns)
    assert here.over(batch) is batch
    assert list(here.over(batch.take(batch.costs > 0.0))) == columns[1:]
    assert asked == [0, 1, 2]
    names.append(("cut", 1))
    here.over(batch)
    assert asked == [0, 1, 2, 0, 1, 2]


def test_entries_of_rows_stay_with_selected_columns():
    here, names = lookup()
    here.store_row(Row(("cut", 0), upper=1.0, coefficients={("x", 1): 7.0, ("x", 2): 8.0}), 4)
    names.append(("cut", 0))
    columns = [Column(1.0, {("cover", i): 1.0}, i, ("x", i)) for i in range(3)]
    _, rows, values = here.over(columns).entries
    assert rows.tolist() == [0, 1, 2, 4, 4]
    owners, rows, values = here.over(columns).take(here.over(columns).costs == 1.0)[1:].entries
    assert (owners.tolist(), rows.tolist(), values.tolist()) == ([0, 1, 0, 1], [1, 2, 4, 4], [1.0, 1.0, 7.0, 8.0])


def test_brought_rows_are_ignored_until_they_are_added():
    here, names = lookup()
    column = Column(1.0, {("cover", 1): 2.0, ("new", 0): 1.0}, rows=(Row(("new", 0), upper=1.0),))
    batch = Columns.of([Column(2.0, {("cover", 3): 1.0}), column])
    assert here.over(batch).rows.tolist() == [3, 1]
    names.append(("new", 0))
    assert here.over(batch).rows.tolist() == [3, 1, 4]
    assert list(batch) == [batch[0], column]


def test_unknown_rows_raise_errors():
    here, _ = lookup()
    brought = (Row(("new", 0), upper=1.0),)
    wrong = Column(1.0, {("cover", 1): 2.0, ("unknown", 0): 1.0}, "wrong", rows=brought)
    with pytest.raises(UnknownRowError, match=r"'wrong'.*\('unknown', 0\)"):
        here.over([Column(2.0, {("cover", 3): 1.0}), wrong])
    assert here.over([wrong], strict=False).rows.tolist() == [1]


def test_a_few_columns_are_priced_as_their_batch_is():
    here, _ = lookup()
    duals = np.array([0.5, -1.0, 2.0])  # row 3 is younger than they are
    columns = [Column(1.0, {("cover", i): 2.0, ("cover", 3): 7.0}, i) for i in range(3)] + [Column(2.0, {})]
    assert here.products_of_few(columns, duals) == here.over(columns).products(duals).tolist() == [1, -2, 4, 0]


def test_columns_with_entries_of_rows_are_not_priced_term_by_term():
    here, _ = lookup()
    duals = np.zeros(4)
    spoken_of = Column(1.0, {("cover", 0): 1.0}, key=("named", 1))
    assert here.products_of_few([spoken_of], duals) == [0.0]
    here.store_row(Row(("cut", 0), upper=1.0, coefficients={("named", 1): 3.0}), 4)
    assert here.products_of_few([spoken_of], duals) is None
    assert here.products_of_few([Column(1.0, {("elsewhere", 0): 1.0})], duals) is None
    assert here.products_of_few([Column(1.0, {("cover", 0): float("nan")})], duals) is None
    assert here.products_of_few([Column(1.0, {}, k) for k in range(1000)], duals) is None
