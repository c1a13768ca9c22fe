"""The columns of a master as arrays: found where they were put, multiplied, and made into solutions."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Column, LinearMaster
from colgen.core.errors import FormulationError, UnknownRowError
from colgen.master.column_pool import NOWHERE
from colgen.master.column_table import TEMPLATE
from colgen.master.statement import restricted_master
from colgen.model.rows import compile_model
from tests.master.programs import Priced, col, covering
from tests.toys import CuttingStock


@pytest.fixture
def master():
    return restricted_master(CuttingStock().master())


def column(cost, row=0, **more):
    return Column(cost, {("demand", row): cost}, structure=cost, **more)


def fill(master):
    columns = [column(1.0 + k, k, key=("x", k), upper=4.0 + k) for k in range(3)]
    assert master.add(columns) == 3
    return columns


def test_the_template_s_variables_come_first(master):
    assert len(master.table) == 4  # the unmet part of each demand
    assert (np.asarray(master.table.origins) == TEMPLATE).all()
    assert list(master.table.generated()) == []


def test_columns_are_found_at_their_positions(master):
    columns, table = fill(master), master.table
    assert len(table) == 7
    assert [(k, c.structure) for k, c in table.generated()] == [(4, 1.0), (5, 2.0), (6, 3.0)]
    assert [table.where(c.identity) for c in columns] == [4, 5, 6]
    assert table.costs[4:].tolist() == [1.0, 2.0, 3.0]
    assert table.upper_now[4:].tolist() == [4.0, 5.0, 6.0]
    assert master.add(columns) == 0  # they are there already


def test_products_are_those_of_the_matrix(master):
    fill(master)
    table = master.table
    dense = table.matrix(np.arange(len(table)), 4).toarray()
    rng = np.random.default_rng(0)
    duals, values = rng.normal(size=4), rng.normal(size=len(table))
    assert table.row_products(duals) == pytest.approx(duals @ dense)
    assert table.activities(values, 4) == pytest.approx(dense @ values)


def test_a_solution_and_its_point_are_the_same(master):
    columns, table = fill(master), master.table
    values = np.zeros(len(table))
    values[5] = 2.0
    solution = table.solution(7.0, values)
    assert [(c.structure, value) for c, value in solution.columns] == [(columns[1].structure, 2.0)]
    assert not solution.variables
    assert table.point(solution).tolist() == values.tolist()


def test_a_solution_of_other_columns_has_no_point(master):
    fill(master)
    nothing = master.table.solution(0.0, np.zeros(len(master.table)))
    assert master.table.point(type(nothing)(1.0, ((column(9.0), 1.0),))) is None


def test_the_first_column_may_carry_a_key():
    """There is no column at all that its key could be looked up among."""
    m = pyo.ConcreteModel()
    m.total = pyo.Objective(expr=0, sense=pyo.maximize)
    master = LinearMaster(compile_model(m))
    named = Column(-2.0, {}, structure=0, key=("column", 0), upper=1.0)
    assert master.add([named]) == 1
    assert master.add([named]) == 0
    assert master.solve().objective == 0.0


def test_a_column_with_the_key_of_a_template_variable_raises_an_error():
    master = covering()
    mine = col((1, 0), key=("y", None))
    for look in (master.find, master.add):
        with pytest.raises(FormulationError, match="which is a variable of the template"):
            look([mine])
    with pytest.raises(UnknownRowError, match="no generated column"):
        master.node.fix({("y", None): 1.0})


def test_origins_of_columns():
    master = covering()
    given, found = col((1, 0)), col((0, 1))
    master.add([given])
    master.add([found], origins=1)
    places = master.find([given, found, col((1, 1))])
    assert places[2] == NOWHERE
    assert [master.at(where).origin for where in places[:2]] == [None, 1]
    solved = master.solve()
    assert not master.rows.overuses(solved, [Priced(), Priced(multiplicity=5.0)])
    assert master.rows.overuses(solved, [Priced(), Priced(multiplicity=1.0)])  # three and two units are covered
