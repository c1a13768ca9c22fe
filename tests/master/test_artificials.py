"""Artificial variables, where a template has none, and the sizes that they count in."""

import pyomo.environ as pyo
import pytest

from colgen import (
    Column,
    LinearMaster,
    MasterStatus,
    Row,
    compile_model,
)
from tests.master.programs import (
    covering,
)


def bare(entry=1.0):
    """A row that no variable of the template can satisfy, and none of them is artificial."""
    m = pyo.ConcreteModel()
    m.y = pyo.Var(bounds=(0, 1))
    m.least = pyo.Constraint(expr=entry * m.y >= 4.0 * entry)
    m.cost = pyo.Objective(expr=m.y)
    return LinearMaster(compile_model(m))


@pytest.mark.parametrize("entry", [1.0, 1024.0])
def test_rows_without_any_are_softened_where_that_helps_and_count_by_their_size(entry):
    master = bare(entry)
    solved = master.solve()
    assert (solved.status, solved.phase) == (MasterStatus.OPTIMAL, 1)
    assert solved.objective == pytest.approx(bare().solve().objective)
    master.add([Column(2.0, {("least", None): entry})])
    solved = master.solve()
    assert (solved.phase, solved.objective) == (2, pytest.approx(1.0 + 2.0 * 3.0))


def test_the_first_entries_of_an_empty_row_tell_its_size():
    master = covering(demands=(0.0, 0.0))
    master.add_rows([Row(("free", 0), lower=0.0)])
    before = master.rows.sizes[-1]
    assert master.rows.unsized[-1]
    master.add([Column(1.0, {("demand", 0): 1.0, ("free", 0): 256.0})])
    assert not master.rows.unsized[-1]
    assert (before, master.rows.sizes[-1]) == (1.0, 256.0)
