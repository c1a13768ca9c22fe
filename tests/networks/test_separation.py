"""Bounds of arc variables are generated; cuts over visits keep the optimum."""

import pyomo.environ as pyo
import pytest

from colgen import Paths, Sense, decompose, solve
from colgen.core.solution import Solution
from colgen.cuts.separation import SeparationContext
from tests.networks.programs import routing


def test_bounds_of_arcs_hold():
    m = pyo.ConcreteModel()
    arcs = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    m.x = pyo.Var(arcs, domain=pyo.NonNegativeIntegers, bounds=lambda m, i, j: (0, 2 if (i, j) == (1, 2) else 3))
    m.cost = pyo.Objective(expr=3 * m.x[0, 1] + 9 * m.x[0, 2] + 0 * m.x[1, 2] + 9 * m.x[1, 3] + m.x[2, 3])
    m.p = Paths(tuple(zip(*arcs, strict=True)), m.x, 0, 3, count=4)
    result = solve(decompose(m))
    assert result.is_optimal
    assert result.objective == 2 * 4 + 10 + 12  # arcs into and out of vertex 2 are full
    assert m.x[1, 2].value == 2


@pytest.mark.parametrize("seed", range(10, 16))
def test_cuts_over_visits_keep_the_optimum(seed):
    model, best = routing(seed, customers=6, fixed=0)
    result = solve(decompose(model))
    assert result.objective == pytest.approx(best)


@pytest.mark.parametrize(("fixed", "waits"), [(0, False), (1000, True)])
def test_cuts_wait_for_branching_on_the_number_of_expensive_paths(fixed, waits):
    """Three routes of two customers each, used half: 1.5 routes, and a violated subset row."""
    model, _ = routing(1, customers=6, fixed=fixed)
    problem = decompose(model)
    routes = [problem.path("type_0", (0, i, j, 0)) for i, j in ((1, 2), (2, 3), (1, 3))]
    solution = Solution(0.0, [(route, 0.5) for route in routes])
    context = SeparationContext(Sense.MINIMIZE, bound=1.5 * fixed + 100.0)
    separation = problem.separation()[-1]
    assert separation._waits(solution, context) == waits
    two = Solution(0.0, [(route, 2 / 3) for route in routes])
    assert not separation._waits(two, context)
