"""The parts of a two-stage model."""

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Solution, Termination, decompose, solve
from colgen.model.rows import compile_model
from colgen.reporting.compared import solve_complete
from tests.decomposition.benders.test_template import two_stage


def parts(seed):
    return decompose(two_stage(seed), "scenario", method="benders").model


def test_the_master_has_the_first_stage_and_one_cost_per_stage():
    model = parts(4)
    master = model.master()
    assert len(master.costs) == len(model.first) + len(model.recourse.stages)
    assert len(master.row_lower) == len(model.kept) == 1
    assert (master.lower[len(model.first) :] == 0.0).all()
    assert master.offset == model.compact.formulation.offset + model.least.sum()
    assert (master.costs[len(model.first) :] == model.units).all()


@pytest.mark.parametrize("seed", [0, 4, 5, 8])
def test_objectives_of_first_stages_are_consistent_and_not_below_the_optimum(seed):
    model, best = parts(seed), solve_complete(compile_model(two_stage(seed))).objective
    x = np.ones(len(model.first))
    assert model.is_first_stage(x)
    found = model.solution(x)
    assert found is not None
    stages = range(len(model.recourse.stages))
    costs = sum(model.units[k] * found.variables.get((model.cost_name, k), 0.0) for k in stages)
    costs += model.sign * model.least.sum()
    assert model.sign * found.objective == pytest.approx(model.first_cost(x) + model.sign * costs)
    assert model.sign * found.objective >= model.sign * best - 1e-6


def test_least_costs_of_stages_are_exact_relative_to_much_smaller_costs():
    m = pyo.ConcreteModel()
    m.x, m.s = pyo.Var(bounds=(0, 2)), pyo.Block([0, 1])
    for k in range(2):
        m.s[k].y = pyo.Var(bounds=(0, 10))
        m.s[k].covers = pyo.Constraint(expr=3 * m.s[k].y >= 1 + k * 9 - (1 - k) * m.x)
    m.total = pyo.Objective(expr=0.012 * m.s[0].y + 7e8 * m.s[1].y + 0.001 * m.x)
    model = decompose(m, method="benders").model
    assert model.least.tolist() == [0.0, pytest.approx(7e9 / 3.0, rel=1e-15)]


def test_variables_that_are_near_bounds_up_to_rounding_are_at_them():
    model = parts(4)
    f, k = model.compact.formulation, len(model.first) - 1
    key, upper = f.column_keys[model.first[k]], f.upper[model.first[k]]
    for value, expected in ((upper * (1.0 - 1e-10), upper), (upper * (1.0 - 1e-8),) * 2, (1e-10, 0.0), (1e-8, 1e-8)):
        assert model.first_stage(Solution(0.0, variables={key: value}))[k] == expected


def test_infeasible_first_stages_are_detected_by_their_rows():
    model = parts(4)
    assert not model.is_first_stage(np.zeros(len(model.first)))  # something is built
    half = np.full(len(model.first), 0.5)
    assert model.round_first_stage(half, np.ceil).max() == 1.0


def test_sides_of_rows_over_integer_variables_are_rounded():
    """500.5 hectares are 500 if fields are whole: the relaxation is then integral."""
    m = pyo.ConcreteModel()
    m.x, m.w, m.s = pyo.Var([0, 1], domain=pyo.NonNegativeIntegers), pyo.Var(bounds=(0, 3)), pyo.Block([0, 1])
    m.land = pyo.Constraint(expr=(2.5, 2 * m.x[0] + 4 * m.x[1], 501.5))
    m.other = pyo.Constraint(expr=m.x[0] + m.w <= 300.5)
    m.third = pyo.Constraint(expr=0.5 * m.x[0] + m.x[1] <= 290.25)
    m.none = pyo.Constraint(expr=(1, 4 * m.x[0], 3))
    for k in m.s:
        m.s[k].y = pyo.Var(bounds=(0, 4))
        m.s[k].sold = pyo.Constraint(expr=m.s[k].y <= m.x[k] + m.w)
    m.total = pyo.Objective(expr=m.x[0] + m.x[1] - 2 * m.s[0].y - 3 * m.s[1].y)
    master = decompose(m, method="benders").model.master()
    assert master.row_lower.tolist() == [4.0, -np.inf, -np.inf, 1.0]
    assert master.row_upper.tolist() == [500.0, 300.5, 290.25, 3.0]
    assert solve(decompose(m, method="benders")).termination is Termination.INFEASIBLE
