"""Second stages together: merging of equal stages, and early termination."""

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import decompose, solve
from colgen.decomposition.benders.recourse import Recourse, merge_stages
from colgen.reporting.compared import solve_complete
from tests.decomposition.benders.test_dual_pool import stages


def test_equal_stages_are_merged_and_their_costs_added():
    one, other = stages(3, 2)
    twice = type(one)(2.0 * one.costs, one.lower, one.upper, one.own, one.first, one.row_lower, one.row_upper)
    found, members = merge_stages([one, other, twice])
    assert members == [[0, 2], [1]]
    assert found[0].costs == pytest.approx(3.0 * one.costs)


def test_evaluation_of_expensive_first_stages_ends_early():
    recourse, x = Recourse(stages(5)), np.zeros(2)
    assert recourse.best(x, lambda costs: True) is None
    best = recourse.best(x)
    assert best is not None
    assert recourse.best(x) is best  # computed once
    costs = [float(stage.costs @ y) for stage, y in zip(recourse.stages, best, strict=True)]
    assert recourse.known_bounds(x)[0] == pytest.approx(costs)


def test_repeated_scenarios_are_one_stage_and_each_has_values():
    demand = [[3, 8], [6, 2], [3, 8]]
    m = pyo.ConcreteModel()
    m.scenario, m.customer = pyo.RangeSet(0, 2), pyo.RangeSet(0, 1)
    m.units = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(0, 9))
    m.sent = pyo.Var(m.scenario, m.customer, domain=pyo.NonNegativeReals, bounds=lambda m, s, j: (0, demand[s][j]))
    m.room = pyo.Constraint(m.scenario, rule=lambda m, s: sum(m.sent[s, j] for j in m.customer) <= 2 * m.units)
    profit = sum((4 + j) / 4 * m.sent[s, j] for s in m.scenario for j in m.customer)
    m.profit = pyo.Objective(expr=profit - 5 * m.units, sense=pyo.maximize)
    compact = solve_complete(m)
    problem = decompose(m, "scenario", method="benders")
    assert len(problem.model.recourse.stages) == 2
    result = solve(problem)
    assert result.is_optimal
    assert result.objective == pytest.approx(compact.objective)
    assert [m.sent[0, j].value for j in m.customer] == [m.sent[2, j].value for j in m.customer]
    assert pyo.value(m.profit) == pytest.approx(compact.objective)
