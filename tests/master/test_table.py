"""The columns of a master as arrays: appended, looked up, multiplied, and taken out again."""

import numpy as np
import pytest

from colgen import Column
from colgen.master.table import TEMPLATE, ColumnTable
from tests.toys import CuttingStock


@pytest.fixture
def table():
    return ColumnTable(CuttingStock().formulation())


def column(cost, **more):
    return Column(cost, {("demand", 0): 1.0}, structure=cost, **more)


def fill(table, count=3):
    columns = [column(1.0 + k, key=("x", k), upper=4.0 + k) for k in range(count)]
    first = len(table)
    table.append({c.identity: c for c in columns}, 0)
    table.add_entries(np.arange(first, first + count), np.arange(count) % 4, np.arange(1.0, 1.0 + count))
    return columns


def test_the_template_s_variables_come_first(table):
    own = len(table)
    assert own == 4  # what is unmet of each demand
    assert (np.asarray(table.origins)[:own] == TEMPLATE).all()
    assert list(table.generated()) == []


def test_columns_are_found_where_they_were_put(table):
    own, columns = len(table), fill(table)
    assert len(table) == own + 3
    assert [(k, c.structure) for k, c in table.generated()] == [(own + k, 1.0 + k) for k in range(3)]
    assert [table.position[c.identity] for c in columns] == [own, own + 1, own + 2]
    assert table.costs[own:].tolist() == [1.0, 2.0, 3.0]
    assert table.upper_now[own:].tolist() == [4.0, 5.0, 6.0]


def test_products_are_those_of_the_matrix(table):
    fill(table)
    every = np.arange(len(table))
    dense = table.matrix(every, 4).toarray()
    rng = np.random.default_rng(0)
    duals, values = rng.normal(size=4), rng.normal(size=len(table))
    assert table.row_products(duals) == pytest.approx(duals @ dense)
    assert table.activities(values, 4) == pytest.approx(dense @ values)


def test_what_is_kept_keeps_its_entries(table):
    own, columns = len(table), fill(table)
    before = table.matrix(np.arange(len(table)), 4).toarray()
    mask = np.ones(len(table), dtype=bool)
    mask[own + 1] = False
    table.keep(mask)
    assert len(table) == own + 2
    assert columns[1].identity not in table.position
    assert table.position[columns[2].identity] == own + 1
    assert (table.matrix(np.arange(len(table)), 4).toarray() == before[:, mask]).all()


def test_a_solution_and_its_point_are_the_same(table):
    own, columns = len(table), fill(table)
    values = np.zeros(len(table))
    values[own + 1] = 2.0
    solution = table.solution(7.0, values)
    assert solution.columns == ((columns[1], 2.0),)
    assert not solution.variables
    assert table.point(solution).tolist() == values.tolist()


def test_a_solution_of_other_columns_has_no_point(table):
    fill(table)
    values = np.zeros(len(table))
    solution = table.solution(0.0, values)
    foreign = type(solution)(1.0, ((column(9.0), 1.0),))
    assert table.point(foreign) is None
