"""Compact models that HiGHS solves."""

import pyomo.environ as pyo
import pytest

from colgen import CompactModel, Termination, TimeLimit, decompose, solve
from colgen.core.budget import Budget
from colgen.core.result import OWN
from colgen.decomposition.compact_solver import SOURCE
from colgen.decomposition.undecomposed import Undecomposed
from tests.decomposition import models


@pytest.mark.parametrize(
    ("make", "source"),
    [(models.assignment, OWN), (models.packing, OWN), (models.cutting, SOURCE), (models.lots, SOURCE)],
)
def test_the_bound_is_that_of_highs_if_it_is_better_than_the_relaxation(make, source):
    result = solve(Undecomposed(CompactModel.from_pyomo(make(0))))
    assert result.is_optimal
    assert result.objective == pytest.approx(solve(decompose(make(0))).objective)
    assert result.bound_source == source
    assert [note for note in result.notes if "trusted" not in note] == []


def integral(sense=pyo.minimize, upper=None):
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], domain=pyo.NonNegativeIntegers)
    m.least = pyo.Constraint(expr=m.x[0] + m.x[1] >= 3)
    m.most = pyo.Constraint(expr=m.x[0] - m.x[1] <= 1)
    if upper is not None:
        m.room = pyo.Constraint(expr=2 * m.x[0] + 2 * m.x[1] <= upper)
    m.cost = pyo.Objective(expr=m.x[0] + 2 * m.x[1], sense=sense)
    return CompactModel.from_pyomo(m)


def test_a_relaxation_with_an_integer_solution_proves_its_bound_itself():
    result = solve(Undecomposed(integral()))
    assert (result.objective, result.bound_source) == (4, "colgen")
    assert result.is_optimal


def test_infeasible_and_unbounded_models_are_reported():
    assert solve(Undecomposed(integral(upper=5))).termination is Termination.INFEASIBLE
    unbounded = solve(Undecomposed(integral(sense=pyo.maximize))).termination
    assert unbounded in (Termination.UNBOUNDED, Termination.UNBOUNDED_OR_INFEASIBLE)


def test_a_limit_that_ends_highs_is_named(monkeypatch):
    def out_of_time(problem, nodes, budget: Budget):
        while not budget.expired:
            pass

    monkeypatch.setattr(Undecomposed, "_solve_compact", out_of_time)
    result = solve(Undecomposed(CompactModel.from_pyomo(models.packing(0))), stop=[TimeLimit(0.05)])
    assert result.termination is Termination.TIME_LIMIT
