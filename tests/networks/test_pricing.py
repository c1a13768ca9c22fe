"""The oracle of a path block: reduced costs, columns and bounds."""

import pyomo.environ as pyo
import pytest

from colgen import Paths, decompose, solve
from colgen.networks import Elementary, Resource
from colgen.testing import check_problem
from tests.networks.programs import routing


@pytest.mark.parametrize("graphs", [1, 2])
def test_the_oracle_keeps_its_contract(graphs):
    model, _ = routing(2, graphs=graphs)
    check_problem(decompose(model))


def test_parallel_arcs_are_columns_of_their_own():
    m = pyo.ConcreteModel()
    arcs = [(0, 1, "road"), (0, 1, "rail"), (1, 2, "road")]
    m.x = pyo.Var(arcs, domain=pyo.Integers, bounds=(0, 2))
    m.some = pyo.Constraint(expr=m.x[1, 2, "road"] >= 2)
    m.few = pyo.Constraint(expr=m.x[0, 1, "rail"] <= 1)
    m.cost = pyo.Objective(expr=3 * m.x[0, 1, "road"] + m.x[0, 1, "rail"])
    m.p = Paths(tuple(zip(*arcs, strict=True)), m.x, 0, 2)
    result = solve(decompose(m))
    assert result.objective == 4
    assert sorted(path.arcs for path in result.answer.paths) == [(0, 2), (1, 2)]


def test_continuous_flows_have_fractional_paths():
    m = pyo.ConcreteModel()
    arcs = [(0, 1), (0, 2), (1, 3), (2, 3)]
    m.x = pyo.Var(arcs, bounds=(0, 1.5))
    m.demand = pyo.Constraint(expr=m.x[0, 1] + m.x[0, 2] == 2.25)
    m.cost = pyo.Objective(expr=m.x[0, 1] + 2 * m.x[0, 2])
    load = Resource({1: 1, 2: 1}, upper=1, name="load")
    m.p = Paths(tuple(zip(*arcs, strict=True)), m.x, 0, 3, resources=[load], rules=[Elementary()])
    result = solve(decompose(m))
    assert result.objective == pytest.approx(1.5 + 2 * 0.75)
    assert {path.amount for path in result.answer.paths} == {1.5, 0.75}
