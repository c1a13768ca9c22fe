"""Columns and rows that join a linear master, in any order, and invalid ones."""

import dataclasses
import math

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Column, LinearMaster, Row, Solution
from colgen.core.errors import FormulationError, UnknownRowError
from colgen.core.row_batch import RowBatch
from colgen.master.statement import restricted_master
from colgen.model.rows import compile_model
from tests.master.programs import (
    col,
    covering,
)
from tests.toys import CuttingStock, cutting_column


def test_infinite_numbers_raise_errors():
    for column in (col((math.nan, 1)), col((-math.inf, 1))):
        with pytest.raises(FormulationError, match="finite"):
            covering().add([column])
    for cost in (math.inf, -math.inf, math.nan):
        with pytest.raises(FormulationError, match=rf"the column of \(1, 1\) costs {cost}, expected a finite number"):
            col((1, 1), cost)


@pytest.mark.parametrize(
    "bounds", [(2.0, 1.0), (math.nan, 1.0), (0.0, math.nan), (math.inf, math.inf), (-math.inf, -math.inf)]
)
def test_a_column_with_crossing_bounds_raises_an_error(bounds):
    with pytest.raises(FormulationError, match=r"'odd'.*lower ≤ upper"):
        Column(1.0, {}, "odd", lower=bounds[0], upper=bounds[1])


def test_unknown_rows_are_named_with_a_suggestion():
    with pytest.raises(UnknownRowError, match=r"demnad.* did you mean 'demand'"):
        covering().add([Column(1.0, {("demnad", 0): 1.0})])
    for key in ("limit", ("limit", 0)):
        m = pyo.ConcreteModel()
        m.x = pyo.Var(bounds=(0, 1))
        m.limit = pyo.Constraint(expr=m.x <= 1)
        m.cost = pyo.Objective(expr=m.x)
        with pytest.raises(UnknownRowError, match=r"a scalar constraint: its key is \('limit', None\)"):
            LinearMaster(compile_model(m)).add([Column(1.0, {key: 1.0})])


def test_columns_are_added_in_batches_and_once():
    master = covering()
    before = master.num_columns
    assert master.add([col((1, 0)), col((0, 1)), col((1, 0))]) == 2
    assert master.add([col((1, 0)), col((1, 1))]) == 1
    assert master.num_columns == before + 3
    assert [c.structure for c in master.columns] == [(1, 0), (0, 1), (1, 1)]
    assert master.find([col((1, 1))]) >= 0
    assert master.find([col((1, 1), cost=2.0)]) < 0  # another cost: another column
    assert master.solve().objective == pytest.approx(3 + 1)


def test_rows_reach_columns_before_and_after():
    """By key and by function; present, future, and deleted in between."""
    rows = [
        Row(("by key", 0), upper=1.0, coefficients={("x", 0): 1.0, ("x", 1): 2.0, ("y", None): 1.0}),
        Row(("by function", 0), upper=5.0, coefficient=lambda c: 3.0 * c.structure[0]),
        # By key for one column, by function for the others.
        Row(("both", 0), upper=9.0, coefficients={("x", 0): 7.0}, coefficient=lambda c: 1.0),
    ]
    first, second = col((1, 0), key=("x", 0)), col((2, 1), key=("x", 1))
    own = Column(1.0, {("demand", 0): 1.0, ("by function", 0): 8.0}, (4, 0))

    def coefficients(master, column):
        positions, values = master.rows.entries(column)
        found = {master.rows.names.keys[r]: v for r, v in zip(positions, values, strict=True)}
        columns, where, entries = master.table.entry_lists()
        position = master.table.where(column.identity)
        in_lp = {master.rows.names.keys[r]: v for c, r, v in zip(columns, where, entries, strict=True) if c == position}
        assert found == in_lp  # entries match those of the linear program
        return found

    for order in ("rows first", "columns first"):
        master = covering()
        if order == "rows first":
            master.add((), rows)
        master.add([first, second])
        master.add((), rows)
        master.add([own])
        expected = {("demand", 0): 1.0, ("by key", 0): 1.0, ("by function", 0): 3.0, ("both", 0): 7.0}
        assert coefficients(master, first) == expected
        expected = {
            ("demand", 0): 2.0,
            ("demand", 1): 1.0,
            ("by key", 0): 2.0,
            ("by function", 0): 6.0,
            ("both", 0): 1.0,
        }
        assert coefficients(master, second) == expected
        # A column's own word on a row comes first.
        assert coefficients(master, own) == {("demand", 0): 1.0, ("by function", 0): 8.0, ("both", 0): 1.0}


def test_columns_that_bring_rows():
    master = covering(demands=(3.0, 0.0))
    link = Row(("link", 7), upper=0.0, coefficients={("y", None): -1.0})
    column = Column(0.5, {("demand", 0): 1.0, ("link", 7): 1.0}, "linked", rows=(link,))
    master.add([col((1, 0), cost=100.0)])
    solved = master.solve()
    # A row that is not there yet has no dual value.
    assert master.price([column], solved.duals) == pytest.approx([0.5 - solved.duals["demand", 0]])
    before = master.num_rows
    assert master.add([column]) == 1
    assert master.num_rows == before + 1
    # x ≤ y costs 5.5 a unit instead of 5 for y alone, which covers a unit as well: y = 1.5 with x = 1.5.
    assert master.solve().objective == pytest.approx(1 + 1.5 * 5.5)
    other = Column(0.25, {("demand", 0): 1.0, ("link", 7): 1.0}, "other", rows=(link,))
    master.add([other])
    assert master.num_rows == before + 1  # the row is there already
    assert master.solve().objective == pytest.approx(1 + 1.5 * 5.25)


def test_a_column_keeps_the_rows_that_it_brought():
    """A solution's columns can be checked against, and taken into, a master that has never seen their rows."""
    master = covering(demands=(3.0, 0.0))
    link = Row(("link", 7), upper=0.0, coefficients={("y", None): -1.0})
    column = Column(0.5, {("demand", 0): 1.0, ("link", 7): 1.0}, "linked", key=("x", 7), integer=False, rows=(link,))
    assert master.add([column, col((1, 0), cost=100.0)]) == 2
    solution = master.solution(master.solve())
    assert [used for used, _ in solution.columns] == [column]
    whole = Solution(1 + 2 * 5.0 + 2 * 0.5, ((solution.columns[0][0], 2.0),), {("y", None): 2.0})
    assert covering(demands=(3.0, 0.0)).rows.violation(whole) is None
    other = covering(demands=(3.0, 0.0))
    assert other.add([used for used, _ in solution.columns]) == 1
    assert ("link", 7) in other.rows.names.position


def test_columns_of_all_oracles_join_at_once():
    def columns():
        return [[cutting_column((2, 0, 0))], [], [cutting_column((0, 2, 0)), cutting_column((1, 1, 0))]]

    together, one_by_one = restricted_master(CuttingStock().master()), restricted_master(CuttingStock().master())
    found, every = columns(), np.repeat(np.arange(3), [1, 0, 2])
    assert together.add([column for batch in found for column in batch], (), every) == 3
    assert together.add([column for batch in found for column in batch], (), every) == 0
    young = [cutting_column((2, 0, 0)), cutting_column((0, 0, 1)), cutting_column((0, 0, 1))]
    assert together.add(young, (), np.array([0, 1, 1])) == 1
    for origin, batch in [*enumerate(columns()), (1, [cutting_column((0, 0, 1))])]:
        one_by_one.add(batch, (), origin)
    for name in ("origins", "costs", "starts", "rows", "values", "upper_now"):
        assert getattr(together.table, name).tolist() == getattr(one_by_one.table, name).tolist()
    assert together.solve().objective == one_by_one.solve().objective


def test_rows_as_arrays_equal_single_rows():
    """The same optimum and dual values; rows that are there are passed over, columns that are not are refused."""
    found = []
    for arrays in (True, False):
        master = covering()
        columns = [dataclasses.replace(col(pattern), key=("part", k)) for k, pattern in enumerate([(1, 0), (0, 1)])]
        master.add([*columns, col((1, 1), cost=2.5)])
        places = [master.table.position[column.key] for column in columns]
        if arrays:
            batch = RowBatch(
                [("most", 0), ("most", 1)], [0, 1, 3], [places[0], *places], [1.0, 1.0, 1.0], upper=[0.5, 1.0]
            )
            master.rows.add_batch(batch)
            master.rows.add_batch(batch)
            with pytest.raises(FormulationError, match=r"column positions .*expected 0 to"):
                master.rows.add_batch(RowBatch([("most", 2)], [0, 1], [99], [1.0], upper=1.0))
        else:
            master.add(
                (),
                [
                    Row(("most", 0), upper=0.5, coefficients={columns[0].key: 1.0}),
                    Row(("most", 1), upper=1.0, coefficients={column.key: 1.0 for column in columns}),
                ],
            )
        solved = master.solve()
        found.append((master.num_rows, solved.objective, solved.values.tolist(), solved.duals.values.tolist()))
    assert found[0] == found[1]
