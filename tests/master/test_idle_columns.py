"""Columns that the linear program does without, and how they come back."""

import numpy as np
import pytest

from colgen import (
    Column,
    Row,
    Solution,
)
from tests.master.programs import (
    as_linprog,
    col,
    covering,
    random_master,
    used,
)


def test_an_idle_column_gets_its_coefficients_back():
    master = covering(demands=(3.0, 0.0))
    poor, good = col((1, 0), cost=9.0, key=("x", 0)), col((1, 0), cost=1.0, key=("x", 1))
    master.add([poor, good])
    # Poor is present when a row has it.
    master.add((), [Row(("cut", 0), upper=100.0, coefficients={("x", 0): 4.0})])
    for _ in range(3):
        master.solve()
    assert master.node.remove_stale(2) > 0
    assert master.find([poor]) >= 0
    assert master.table.num_idle == 1
    assert master.rows.violation(Solution(28.0 + 1 - 1, ((poor, 3.0), (good, 1.0)))) is not None
    assert master.add([poor]) == 0
    assert master.table.num_idle == 0
    rows, values = master.rows.entries(poor)
    assert {master.rows.names.keys[r]: v for r, v in zip(rows, values, strict=True)}["cut", 0] == 4.0
    fault = master.rows.violation(Solution(30 * 9.0 + 1, ((poor, 30.0),)))
    assert fault is not None
    assert "cut" in fault


def test_an_idle_column_that_brought_rows_comes_back():
    master = covering(demands=(3.0, 0.0))
    link = Row(("link", 7), upper=0.0, coefficients={("y", None): -1.0})
    linked = Column(90.0, {("demand", 0): 1.0, ("link", 7): 1.0}, "linked", key=("x", 7), rows=(link,))
    master.add([linked, col((1, 0), cost=1.0)])
    for _ in range(3):
        master.solve()
    assert master.node.remove_stale(2) > 0
    assert master.table.num_idle == 1
    assert master.add([linked]) == 0
    assert master.table.num_idle == 0


@pytest.mark.parametrize("seed", range(5))
def test_remove_stale_keeps_the_basis(seed):
    master = random_master(np.random.default_rng(seed))
    for _ in range(3):
        solved = master.solve()
    kept = used(master, solved)
    assert master.node.remove_stale(2) > 0
    again = master.solve()
    assert master.lp.simplex_iterations == 0
    assert again.objective == pytest.approx(solved.objective)
    assert used(master, again) == kept
    assert again.objective == pytest.approx(as_linprog(master))
    # Everything that follows finds the right columns.
    assert master.lp.num_columns == len(master.table) - master.table.num_idle
    for column in master.columns:
        assert master.table.column(master.table.where(column.identity)) == column
    column = col((3, 3, 3), 0.5)
    assert master.add([column]) == 1
    master.node.fix({column.identity: 1.0})
    fixed = master.solve()
    assert dict(used(master, fixed))[3, 3, 3] >= 1
    assert fixed.objective == pytest.approx(as_linprog(master))


def test_stale_columns_stay_while_fixed_or_young():
    master = covering(demands=(3.0, 0.0))
    poor, good = col((1, 0), cost=9.0), col((1, 0), cost=1.0)
    master.add([poor, good])
    master.node.fix({poor.identity: 1.0})
    for _ in range(4):
        master.solve()
    assert master.node.remove_stale(2) == 0
    master.node.fix({})
    master.solve()
    assert master.node.remove_stale(2) == 1
    assert list(master.columns) == [poor, good]  # one of them is idle
    assert (
        master.table.place[master.table.where(poor.identity)]
        < 0
        <= master.table.place[master.table.where(good.identity)]
    )
