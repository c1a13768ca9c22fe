"""Rows with coefficients by function: families match single rows and are called once."""

from __future__ import annotations

import math

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy import sparse

from colgen import Column, Columns, LinearMaster, Method, Row, Solution, artificial, solve
from colgen.core.activity import activity
from colgen.core.columns import RowFamily
from colgen.core.errors import FormulationError
from colgen.master.row_coefficients import RowsByFunction, StatedByRows, entries_of_rows
from colgen.model.rows import compile_model
from tests.assignment import Assignment, assignment, pairs


class Overlap(RowFamily):
    """How many elements a column's set shares with the row's index."""

    asked = 0

    def coefficients(self, columns, indices):
        self.asked += len(columns) * len(indices)
        return [[len(index & column.structure) for index in indices] for column in columns]


def sets(rng, count, size=6):
    return [frozenset(np.flatnonzero(rng.random(size) < 0.5).tolist()) for _ in range(count)]


def columns_of(members):
    return [Column(1.0 + len(s), {("cover", i): 1.0 for i in s}, s, ("set", k)) for k, s in enumerate(members)]


def master():
    m = pyo.ConcreteModel()
    m.missing = artificial(range(6))
    m.cover = pyo.Constraint(range(6), rule=lambda m, i: m.missing[i] >= 1)
    m.cost = pyo.Objective(expr=0)
    return LinearMaster(compile_model(m))


def dense(linear):
    table = linear.table
    return sparse.csc_array(table.matrix(np.arange(len(table)), linear.num_rows)).toarray()


@pytest.mark.parametrize("seed", range(6))
def test_a_family_gives_the_coefficients_of_single_rows(seed):
    rng = np.random.default_rng(seed)
    indices = list(dict.fromkeys(s for s in sets(rng, 9) if s))
    columns = columns_of(sets(rng, 14))
    family = Overlap("shared")
    both = []
    for make in (
        lambda s: family.row(s, upper=3.0),
        lambda s: Row(("shared", s), upper=3.0, coefficient=lambda column: float(len(s & column.structure))),
    ):
        linear = master()
        linear.add(columns[:5], [make(s) for s in indices[:3]])
        linear.add(columns[5:9])
        linear.add((), [make(s) for s in indices[3:]])
        linear.add(columns[9:])
        duals = linear.solve().duals
        both.append((dense(linear), linear.price(columns, duals.replace(np.arange(1.0, linear.num_rows + 1)))))
    assert (both[0][0] == both[1][0]).all()
    assert both[0][1] == pytest.approx(both[1][1])


def test_each_coefficient_is_computed_once():
    family = Overlap("shared")
    rng = np.random.default_rng(1)
    columns, indices = columns_of(sets(rng, 10)), [frozenset({0, 1}), frozenset({2, 3, 4})]
    linear = master()
    linear.add(columns[:4], [family.row(indices[0], upper=2.0)])
    assert family.asked == 4
    duals, batch = linear.solve().duals, Columns.of(columns[4:])
    for _ in range(3):  # a round asks for reduced costs more than once
        linear.price(batch, duals)
    linear.add(batch)
    assert family.asked == 10
    linear.add((), [family.row(indices[1], upper=2.0)])
    assert family.asked == 20


def test_own_coefficients_and_those_by_key_come_first():
    family = Overlap("shared")
    row = Row(("shared", frozenset({0, 1})), upper=9.0, coefficients={("x", 1): 7.0}, family=family)
    linear = master()
    linear.add((), [row])
    own = Column(1.0, {row.key: 5.0}, frozenset({0, 1}), ("x", 0))
    named = Column(1.0, {("cover", 0): 1.0}, frozenset({0, 1}), ("x", 1))
    other = Column(1.0, {("cover", 1): 1.0}, frozenset({0, 1}), ("x", 2))
    linear.add([own, named, other])
    assert dense(linear)[linear.rows.names.position[row.key], -3:].tolist() == [5.0, 7.0, 2.0]
    assert activity(row, Solution(3.0, ((own, 1.0), (named, 1.0), (other, 1.0)))).value == 14.0


def test_a_family_of_the_wrong_shape_is_refused():
    class Flat(RowFamily):
        def coefficients(self, columns, indices):
            return np.ones(len(columns))

    linear = master()
    linear.add(columns_of([frozenset({0}), frozenset({1})]))
    with pytest.raises(FormulationError, match=r"Flat\.coefficients.*\(2,\).*2 columns.*1 row"):
        linear.add((), [Flat("flat").row(0, upper=1.0)])
    with pytest.raises(FormulationError, match=r"idle_after.*'flat'.* 0"):
        Flat("flat", idle_after=0)


def test_coefficients_that_are_no_numbers_are_refused():
    class Broken(RowFamily):
        def coefficients(self, columns, indices):
            return np.full((len(columns), len(indices)), math.nan)

    linear = master()
    linear.add(columns_of([frozenset({0})]))
    with pytest.raises(FormulationError, match=r"\('broken', 0\).*finite"):
        linear.add((), [Broken("broken").row(0, upper=1.0)])


def test_several_families_and_single_rows_side_by_side():
    one, other = Overlap("one"), Overlap("other")
    single = Row(("single", 0), upper=1.0, coefficient=lambda column: float(0 in column.structure))
    columns = columns_of([frozenset({0, 1}), frozenset({2})])
    rows = [one.row(frozenset({0, 2})), single, other.row(frozenset({1})), one.row(frozenset({5}))]
    known = RowsByFunction()
    for position, row in enumerate(rows):
        known.append(10 * position, row)
    assert known
    assert [dict(zip(*entries, strict=True)) for entries in known.entries(columns)] == [{0: 1, 10: 1, 20: 1}, {0: 1}]
    assert entries_of_rows(rows, columns) == [{0: 1, 1: 1}, {0: 1}, {0: 1}, {}]


def test_original_variables_are_looked_up_once_a_column():
    seen = []

    def counted(column):
        seen.append(column)
        return pairs(column)

    class Counting(Assignment):
        def branching(self):
            (rule,) = super().branching()
            return [type(rule)(counted)]

    result = solve(assignment(4, 9, 1, Counting), method=Method(heuristics=()))
    assert result.is_optimal
    assert len(result.nodes) > 3
    assert len({id(column) for column in seen}) == len(seen)
    assert result.objective == solve(assignment(4, 9, 1)).objective


def known():
    stated = StatedByRows()
    stated.store_row(Row(("named", 0), upper=1.0, coefficients={"a": 2.0}, coefficient=lambda column: 5.0), 0)
    stated.store_row(Row(("function", 0), upper=1.0, coefficient=lambda column: column.structure), 1)
    stated.store_row(Row(("named", 1), upper=1.0, coefficients={"a": 3.0, "b": 4.0}), 2)
    return stated


def stated(rows, column):
    batch = Columns.of([column, Column(2.0, {}, 0.0)])
    batch = batch.over(list(NAMES), {key: k for k, key in enumerate(NAMES)})
    owners, positions, values = rows.entries_of_batch(batch)
    return {row: value for owner, row, value in zip(owners, positions, values, strict=True) if owner == 0}


NAMES = [("named", 0), ("function", 0), ("named", 1)]


def test_a_key_comes_before_a_function():
    assert stated(known(), Column(1.0, {}, 7.0, key="a")) == {0: 2.0, 1: 7.0, 2: 3.0}
    assert stated(known(), Column(1.0, {}, 7.0)) == {0: 5.0, 1: 7.0}


def test_own_coefficients_override_those_of_rows():
    assert stated(known(), Column(1.0, dict.fromkeys(NAMES[:2], 9.0), 7.0, key="a")) == {2: 3.0}


def test_without_rows_there_are_no_entries():
    assert StatedByRows().entries_of_batch(Columns.of([Column(1.0, {}, key="a")])) is None
