"""Whether rows that join a program hold where its basis stands, and which simplex method that asks for."""

import math

import numpy as np
import pytest
from scipy import sparse

from colgen.solvers.linear.backends import highs as module
from colgen.solvers.linear.last_solution import PresentPoint
from colgen.solvers.linear.lp import LinearProgram
from colgen.solvers.linear.program import Program

NONE = np.full(1, -math.inf)


def knapsack():
    """max 3a + 2b, a + b ≤ 4, both at most 3."""
    return LinearProgram(
        Program(
            True,
            sparse.csc_array(np.ones((1, 2))),
            np.array([3.0, 2.0]),
            np.zeros(2),
            np.full(2, 3.0),
            NONE,
            np.full(1, 4.0),
        ),
    )


@pytest.fixture
def methods(monkeypatch):
    """Whether each run was one of the dual simplex method."""
    found, run = [], module.HighsBackend.run

    def spied(self, by_dual, seconds, stopped):
        found.append(by_dual)
        return run(self, by_dual, seconds, stopped)

    monkeypatch.setattr(module.HighsBackend, "run", spied)
    return found


def test_columns_that_bring_rows_are_for_the_primal_method(methods):
    lp = knapsack()
    assert lp.solve().objective == pytest.approx(11.0)
    lp.add_columns(np.full(1, 5.0), np.zeros(1), np.full(1, math.inf), np.array([0, 1]), np.array([0]), np.ones(1))
    lp.add_rows(NONE, np.zeros(1), np.array([0, 2]), np.array([2, 0]), np.array([1.0, -1.0]))  # no more than a
    assert lp.solve().objective == pytest.approx(16.0)
    assert methods == [False, False]


def test_rows_that_cut_off_are_for_the_dual_method(methods):
    lp = knapsack()
    lp.solve()
    lp.add_rows(NONE, np.full(1, 1.0), np.array([0, 1]), np.array([0]), np.ones(1))
    assert lp.solve().objective == pytest.approx(3.0 + 2.0 * 3.0)
    lp.change_bounds(np.array([0]), np.zeros(1), np.zeros(1))
    lp.add_rows(NONE, np.full(1, 9.0), np.array([0, 1]), np.array([1]), np.ones(1))  # would hold
    assert lp.solve().objective == pytest.approx(6.0)
    assert methods == [False, True, True]


def test_a_feasible_basis_is_for_the_primal_method(methods):
    lp = knapsack()
    lp.add_rows(NONE, np.full(1, 9.0), np.array([0, 1]), np.array([1]), np.ones(1))
    none = np.zeros(2, dtype=bool)
    assert lp.begin_at(none, ~none, feasible=True)
    assert lp.solve().objective == pytest.approx(11.0)
    assert methods == [False]


def test_a_stated_scale_is_kept_while_it_is_near():
    costs = np.array([3e-7, 1.0])  # the smallest would set the scale
    program = (True, sparse.csc_array(np.ones((1, 2))), costs, np.zeros(2), np.full(2, 1.0), NONE, np.full(1, 2.0))
    assert LinearProgram(Program(*program)).cost_scale < 1e-5
    lp = LinearProgram(Program(*program), scale=2.0**-4)
    assert lp.solve().objective == pytest.approx(1.0 + 3e-7)
    assert lp.cost_scale == 2.0**-4


def test_columns_join_at_the_bound_that_they_have():
    point = PresentPoint()
    assert not point.satisfies(NONE, np.ones(1), np.array([0, 0]), np.empty(0, int), np.empty(0), np.zeros(1))
    point.move(np.array([2.0]))
    point.join(np.array([1.0, -math.inf, -math.inf]), np.array([5.0, 3.0, math.inf]))
    entries = np.array([0, 4]), np.arange(4), np.ones(4)
    assert point.satisfies(np.full(1, 6.0), np.full(1, 6.0), *entries, np.zeros(1))
    assert not point.satisfies(NONE, np.full(1, 5.5), *entries, np.full(1, 0.1))
    point.forget()
    assert not point.satisfies(NONE, np.full(1, 9.0), *entries, np.zeros(1))
