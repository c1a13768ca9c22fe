"""Pyomo models as arrays; nonlinear, infinite or empty ones are refused."""

import itertools

import pyomo.environ as pyo
import pytest

from colgen import InputError, Termination, compare, decompose, solve
from tests.decomposition import models


def nothing():
    m = models.assignment(0)
    m.x.fix(0)
    m.assign.deactivate()
    return m


def two_objectives():
    m = models.assignment(0)
    m.other = pyo.Objective(expr=m.x[0, 0])
    return m


def nonlinear():
    m = models.assignment(0)
    m.bad = pyo.Constraint(expr=m.x[0, 0] * m.x[1, 1] <= 1)
    return m


def crossed():
    m = models.assignment(0)
    m.x[0, 0].setlb(2)
    return m


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: 3, "expected a pyomo ConcreteModel or a CompactModel, not int"),
        (nothing, "no variables"),
        (two_objectives, "has 2"),
        (nonlinear, "must be linear"),
        (crossed, r"variable 'x\[0,0\]' has lower bound 2"),
    ],
)
def test_unsuitable_models_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        decompose(make(), "machine")


# --- bounds of integer variables -------------------------------------------------------------------------------------

BLOCKS = {"knapsack": ((2, 3), 11), "network": ((1, -1), 1), "stable set": ((1, 1), 1), "general": ((2, -3), 4)}


def blocks(kind, low, high):
    """Two blocks of two integer variables, and one of no block."""
    (a, b), side = BLOCKS[kind]
    m = pyo.ConcreteModel()
    m.b, m.j = pyo.RangeSet(0, 1), pyo.RangeSet(0, 1)
    m.x = pyo.Var(m.b, m.j, domain=pyo.Integers, bounds=(low, high))
    m.z = pyo.Var(domain=pyo.Integers, bounds=(low, high))
    m.r = pyo.Constraint(m.b, rule=lambda m, k: a * m.x[k, 0] + b * m.x[k, 1] <= side)
    m.link = pyo.Constraint(expr=sum((k + 1) * (j + 1) * m.x[k, j] for k in m.b for j in m.j) + m.z >= 3)
    m.o = pyo.Objective(expr=sum((k + 2) * m.x[k, 0] + (3 - k) * m.x[k, 1] for k in m.b) + 5 * m.z)
    return m


@pytest.mark.parametrize(
    ("bounds", "integral"), [((-0.5, 1.5), (0, 1)), ((-1.5, 2.9999999999), (-1, 3)), ((-0.9, 1.0), (0, 1))]
)
@pytest.mark.parametrize(("kind", "recognize"), list(itertools.product(BLOCKS, [True, False])))
def test_fractional_bounds_of_integer_variables_change_nothing(kind, recognize, bounds, integral):
    right = solve(decompose(blocks(kind, *integral), "b", recognize=recognize)).objective
    assert solve(decompose(blocks(kind, *bounds), "b", recognize=recognize)).objective == pytest.approx(right)
    assert compare(bounds, [lambda bounds: blocks(kind, *bounds)])[0].objective == pytest.approx(right)
    found = pyo.SolverFactory("colgen").solve(blocks(kind, *bounds), options={"by": "b", "recognize": recognize})
    assert found.problem.upper_bound == pytest.approx(right)


@pytest.mark.parametrize("kind", BLOCKS)
@pytest.mark.parametrize("where", ["x", "z"])
def test_an_integer_variable_without_an_integer_between_its_bounds_makes_the_model_infeasible(kind, where):
    m = blocks(kind, 0, 1)
    variable = m.x[0, 0] if where == "x" else m.z
    variable.setlb(0.3)
    variable.setub(0.7)
    assert solve(decompose(m, "b")).termination is Termination.INFEASIBLE
    assert compare(m, [lambda m: m])[0].proof == Termination.INFEASIBLE.value


@pytest.mark.parametrize("bounds", [(0, 3), (-0.5, 3.4), (0.0, 3.9)])
def test_fractional_bounds_of_a_first_stage_change_nothing(bounds):
    m = pyo.ConcreteModel()
    m.s = pyo.RangeSet(0, 1)
    m.x = pyo.Var(domain=pyo.Integers, bounds=bounds)
    m.y = pyo.Var(m.s, bounds=(0, 10))
    m.meet = pyo.Constraint(m.s, rule=lambda m, s: m.y[s] + 2 * m.x >= 7.5 + s)
    m.o = pyo.Objective(expr=m.x + m.y[0] + m.y[1])
    result = solve(decompose(m, "s", method="benders"))
    assert result.objective == pytest.approx(3 + 1.5 + 2.5)
