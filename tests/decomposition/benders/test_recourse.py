"""Second stages together: merging of equal stages, and early termination."""

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import decompose, solve
from colgen.decomposition.benders import recourse as module
from colgen.decomposition.benders.recourse import Recourse, merge_stages
from colgen.reporting.compared import solve_complete
from tests.decomposition.benders.test_stages import stages


def test_equal_stages_are_merged_and_their_costs_added():
    one, other = stages(3, 2)
    found, members = merge_stages([one, other, one._replace(costs=2.0 * one.costs)])
    assert members == [[0, 2], [1]]
    assert found[0].costs == pytest.approx(3.0 * one.costs)


@pytest.mark.parametrize("same_first", [True, False])
def test_groups_of_stages_have_the_sums_of_their_rows(same_first, monkeypatch):
    monkeypatch.setattr(module, "_FEWEST", 3)
    monkeypatch.setattr(module, "_MOST", 3)
    mine = [*stages(0, 4, same_first), *stages(11, 6, same_first)]
    recourse, summed = Recourse(mine), 0
    assert recourse.group_of.tolist() == [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    for x in np.random.default_rng(0).uniform(-2, 3, (20, 2)):
        found = recourse.optima(x)
        assert recourse.optima(x) is found  # computed once
        solved = np.isfinite(recourse.by_group(found.costs))
        constants, slopes = recourse.rows(found.which)
        assert (constants - slopes @ x)[solved] == pytest.approx(recourse.by_group(found.costs)[solved])
        summed += solved.sum()
    assert summed


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
