"""Artificial variables, where a template has none, and the sizes that they count in."""

import pyomo.environ as pyo
import pytest

from colgen import Column, LinearMaster, Row, artificial, exchange
from colgen.master.protocol import MasterStatus
from colgen.model.rows import compile_model
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
def test_rows_without_artificials_get_scaled_ones(entry):
    master = bare(entry)
    solved = master.solve()
    assert (solved.status, solved.phase) == (MasterStatus.OPTIMAL, 1)
    assert solved.objective == pytest.approx(bare().solve().objective)
    master.add([Column(2.0, {("least", None): entry})])
    solved = master.solve()
    assert (solved.phase, solved.objective) == (2, pytest.approx(1.0 + 2.0 * 3.0))


def test_the_first_entries_of_an_empty_row_tell_its_size():
    master = covering(demands=(0.0, 0.0))
    master.add((), [Row(("free", 0), lower=0.0)])
    before = master.tableau.rows.sizes[-1]
    assert master.tableau.rows.unsized[-1]
    master.add([Column(1.0, {("demand", 0): 1.0, ("free", 0): 256.0})])
    assert not master.tableau.rows.unsized[-1]
    assert (before, master.tableau.rows.sizes[-1]) == (1.0, 256.0)


@pytest.mark.parametrize("entry", [1.0, 2.0**25, 2.0**-25])
def test_artificials_cost_the_same_whenever_the_size_is_known(entry):
    """A violation of a half of the row's size, whatever its unit: what it had cost before the size was known stayed."""
    m = pyo.ConcreteModel()
    m.unmet, m.missing, m.excess = artificial(), artificial(), artificial()
    m.demand = pyo.Constraint(expr=m.unmet >= 1.0)
    m.balance = pyo.Constraint(expr=entry * m.missing - entry * m.excess == 0.0)
    m.cost = pyo.Objective(expr=0.0 * m.unmet)
    master = LinearMaster(compile_model(m))
    master.solve()
    master.add([Column(1.0, {("demand", None): 2.0, ("balance", None): entry})])
    solved = master.solve()
    assert (solved.phase, solved.objective) == (1, pytest.approx(0.5))


@pytest.mark.parametrize("entry", [1.0, 2.0**25, 2.0**-25])
def test_an_exchange_costs_as_much_when_the_size_of_its_row_is_known(entry):
    m = pyo.ConcreteModel()
    m.unmet, m.trade = artificial(), exchange()
    m.demand = pyo.Constraint(expr=m.unmet >= 1.0)
    m.balance = pyo.Constraint(expr=entry * m.trade >= 0.0)
    m.cost = pyo.Objective(expr=3.0 * m.trade)
    master = LinearMaster(compile_model(m))
    master.add([Column(100.0, {("demand", None): 1.0})])
    assert master.solve().objective == pytest.approx(100.0)
    master.add([Column(-10.0, {("demand", None): 1.0, ("balance", None): -4.0 * entry})])
    assert master.solve().objective == pytest.approx(-10.0 + 3.0 * 4.0)


def test_dual_values_of_rows_that_share_an_artificial():
    """One artificial variable in two rows, one of them without a size of its own: its dual value was taken for zero."""
    m = pyo.ConcreteModel()
    m.unmet, m.both = artificial(), artificial()
    m.demand = pyo.Constraint(expr=m.unmet + m.both >= 1.0)
    m.balance = pyo.Constraint(expr=m.both >= 0.0)
    m.cost = pyo.Objective(expr=0.0 * m.unmet)
    master = LinearMaster(compile_model(m))
    needs, gives = (
        Column(1.0, {("demand", None): 1.0, ("balance", None): -1.0}),
        Column(5.0, {("balance", None): 1.0}),
    )
    master.add([needs, gives])
    solved = master.solve()
    assert solved.objective == pytest.approx(6.0)
    assert solved.duals.values.tolist() == pytest.approx([6.0, 5.0])
    assert master.price([needs, gives], solved.duals) == pytest.approx([0.0, 0.0])
