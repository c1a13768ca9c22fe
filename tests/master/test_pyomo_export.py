"""A restricted master handed back as a Pyomo model."""

import io

import pyomo.environ as pyo
import pytest
from pyomo.contrib.appsi.solvers import Highs

from colgen import (
    Column,
    Row,
)
from colgen.master.statement import restricted_master
from tests.master.programs import (
    col,
    covering,
)
from tests.toys import CuttingStock

TUPLES = [(0, 1), (1,), 3, (0, (1, 2)), (0, 1, 2), ((1, 2), (3,)), ((1,), (2, 3)), (), None, frozenset({1}), "a"]


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_to_pyomo(sense):
    sign = 1 if sense == pyo.minimize else -1
    master = covering(demands=(3.0, 2.0), sense=sense)
    master.add([col((1, 0), sign * 1.0), col((0, 2), sign * 1.5, key=("named", 7)), col((1, 1), sign * 2.5)])
    master.add((), [Row(("cut", "a"), lower=0.5, upper=8.0, coefficient=lambda c: 1.0)])
    solved = master.solve()
    model = master.to_pyomo(solved)

    # Values and duals are loaded.
    assert pyo.value(model.objective) == pytest.approx(solved.objective)
    assert model.named[7].value == pytest.approx(1.0)
    assert [model.dual[model.demand[i]] for i in (0, 1)] == pytest.approx(solved.duals["demand"].tolist())
    text = io.StringIO()
    model.pprint(ostream=text)
    assert "demand" in text.getvalue()
    assert "named" in text.getvalue()

    # Another solver agrees; whole variables are relaxed as they are in the master.
    bare = master.to_pyomo()
    for variable in bare.component_data_objects(pyo.Var):
        variable.domain = pyo.Reals
    results = Highs().solve(bare)
    assert results.best_feasible_objective == pytest.approx(solved.objective)


def test_to_pyomo_of_cutting_stock_prints_before_any_column():
    model = restricted_master(CuttingStock().master()).to_pyomo()
    text = io.StringIO()
    model.pprint(ostream=text)
    assert "unmet" in text.getvalue()


def test_an_integer_program_has_no_dual_suffix():
    master = covering(demands=(3.0, 2.0))
    master.add([col((1, 1)), col((2, 0))])
    model = master.to_pyomo()
    pyo.SolverFactory("appsi_highs").solve(model)
    best, _ = master.integer.solve(60.0, None, lambda: False)
    assert pyo.value(next(model.component_data_objects(pyo.Objective))) == pytest.approx(best.objective)


def test_to_pyomo_keeps_keys_of_any_kind_apart():
    master = covering(demands=(3.0, 2.0))
    keys = [("named", index) for index in TUPLES] + [("dual", 1), ("objective", 0), ("demand", 0), ("column", 15)]
    columns = [Column(1.0 + k, {("demand", k % 2): 1.0}, key=key) for k, key in enumerate(keys)]
    master.add([*columns, col((1, 1))])  # the last has no key: its name would be ("column", position)
    master.add((), [Row(("cut", index), upper=9.0, coefficients={("named", index): 1.0}) for index in TUPLES])
    solved = master.solve()
    model = master.to_pyomo(solved)
    variables = list(model.component_data_objects(pyo.Var))
    assert len(variables) == master.num_columns == len({v.name for v in variables})
    assert len(list(model.component_data_objects(pyo.Constraint))) == master.num_rows
    objective = next(model.component_data_objects(pyo.Objective))
    assert pyo.value(objective) == pytest.approx(solved.objective)
