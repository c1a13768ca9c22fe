"""Enumeration over several graphs keeps the optimum."""

import pyomo.environ as pyo
import pytest

from colgen import Method, decompose, solve
from colgen.enumeration import PathEnumeration
from tests.networks.programs import routing


@pytest.mark.parametrize("seed", range(6))
def test_a_node_is_closed_by_enumeration(seed):
    model, best = routing(seed, graphs=2)
    problem = decompose(model)
    problem.separation = lambda: ()
    assert isinstance(problem.method().enumeration, PathEnumeration)
    result = solve(problem, method=Method(heuristics=(), reductions=()))
    assert result.objective == pytest.approx(best)


def test_rows_over_single_arcs_rule_enumeration_out():
    model, _ = routing(0)
    model.few = pyo.Constraint(expr=model.x[0, 1, 2] + model.x[0, 2, 3] <= 1)
    assert not decompose(model).method().enumeration
