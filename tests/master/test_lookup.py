"""Columns looked up in rows: what is remembered is what would be found anew."""

import gc

import numpy as np

from colgen import Column, Columns, Row
from colgen.core.duals import RowNames
from colgen.master.lookup import LookUp, bring_rows


def lookup():
    names = RowNames()
    for i in range(4):
        names.append(("cover", i))
    return LookUp(names)


def test_a_round_looks_its_columns_up_once():
    here = lookup()
    columns = [Column(float(i), {("cover", i): 1.0}, i) for i in range(3)]
    known = here.of(columns)
    assert here.of(list(columns)) is known
    assert list(here.of(columns[1:]).batch) == columns[1:]
    batch = Columns([1.0], [0, 1], [2], [1.0])
    assert here.of(batch) is here.of(batch)
    here.forget()
    assert here.of(columns) is not known


def test_what_was_asked_lives_as_long_as_it_is_remembered():
    """Its place in memory is what it is remembered by, and must not become another's."""
    here = lookup()
    brought = (Row(("new", 0), upper=1.0),)
    for value in range(200):
        single = Column(1.0, {("cover", 0): float(value), ("new", 0): 1.0}, value, rows=brought)
        position = {("cover", 0): 0, ("new", 0): 1}
        columns = [single] if value % 2 else Columns.of([single], list(position), position)
        assert here.of(columns).batch.values.tolist() == [float(value)]
        del columns, single
        gc.collect(0)


def test_rows_that_a_column_brings_are_left_out_until_they_are_there():
    here = lookup()
    column = Column(1.0, {("cover", 1): 2.0, ("new", 0): 1.0}, rows=(Row(("new", 0), upper=1.0),))
    assert bring_rows([column])
    assert not bring_rows(Columns([1.0], [0, 0], [], []))
    assert here.entries(column) == ([1], [2.0])
    assert here.known_entries(Column(1.0, {("cover", 1): 2.0, ("unknown", 0): 1.0})) == ([1], [2.0])
    assert np.array_equal(here.of([column]).batch.rows, [1])


def test_a_few_columns_are_priced_as_their_batch_is():
    here, duals = lookup(), np.array([0.5, -1.0, 2.0])  # row 3 is younger than they are
    columns = [Column(1.0, {("cover", i): 2.0, ("cover", 3): 7.0}, i) for i in range(3)] + [Column(2.0, {})]
    assert here.products_of_few(columns, duals) == here.of(columns).batch.products(duals).tolist() == [1, -2, 4, 0]


def test_columns_that_need_a_closer_look_are_not_priced_term_by_term():
    here, duals = lookup(), np.zeros(4)
    spoken_of = Column(1.0, {("cover", 0): 1.0}, key=("named", 1))
    assert here.products_of_few([spoken_of], duals) == [0.0]
    here.learn(Row(("cut", 0), upper=1.0, coefficients={("named", 1): 3.0}), 4)
    assert here.products_of_few([spoken_of], duals) is None
    assert here.products_of_few([Column(1.0, {("elsewhere", 0): 1.0})], duals) is None
    assert here.products_of_few([Column(1.0, {("cover", 0): float("nan")})], duals) is None
    assert here.products_of_few([Column(1.0, {}, k) for k in range(1000)], duals) is None
