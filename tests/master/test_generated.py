"""Generated columns of a table, found by what they are."""

import pyomo.environ as pyo
import pytest

from colgen import (
    Column,
    LinearMaster,
    compile_model,
)
from colgen.core.errors import FormulationError, UnknownRowError
from tests.master.programs import (
    Priced,
    col,
    covering,
)


def test_the_first_column_may_carry_a_key():
    """There is no column at all that its key could be looked up among."""
    m = pyo.ConcreteModel()
    m.total = pyo.Objective(expr=0, sense=pyo.maximize)
    master = LinearMaster(compile_model(m))
    named = Column(-2.0, {}, structure=0, key=("column", 0), upper=1.0)
    assert master.add([named]) == 1
    assert master.add([named]) == 0
    assert master.solve().objective == 0.0


def test_a_column_is_not_taken_for_a_variable_of_the_template():
    master = covering()
    mine = col((1, 0), key=("y", None))
    for look in (master.holds, master.origin, lambda column: master.add([column])):
        with pytest.raises(FormulationError, match="which is a variable of the template"):
            look(mine)
    with pytest.raises(UnknownRowError, match="no generated column"):
        master.find(("y", None))


def test_columns_know_the_pricing_problem_that_they_came_from():
    master = covering()
    given, found = col((1, 0)), col((0, 1))
    master.add([given])
    master.add([found], origin=1)
    assert [master.origin(column) for column in (given, found, col((1, 1)))] == [None, 1, None]
    solved = master.solve()
    assert not master.overuses(solved, [Priced(), Priced(multiplicity=5.0)])
    assert master.overuses(solved, [Priced(), Priced(multiplicity=1.0)])  # three and two units are covered
