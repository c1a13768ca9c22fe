"""Bounds of dual values never exceed the optimum, and reach it for optimal dual values."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from colgen.solvers.linear.lp import LinearProgram, LPStatus
from colgen.solvers.linear.program import Program
from colgen.solvers.linear.weak_duality import least_by_duals
from tests.amounts import examples


def exactly(costs, matrix, duals, sides, bounds):
    """The same sum in fractions."""
    total = Fraction(0)
    for i, y in enumerate(duals):
        total += Fraction(y) * Fraction(sides[0][i] if y > 0 else sides[1][i])
    for j, cost in enumerate(costs):
        d = Fraction(cost) - sum(Fraction(matrix[i, j]) * Fraction(y) for i, y in enumerate(duals))
        total += d * Fraction(bounds[0][j] if d > 0 else bounds[1][j])
    return total


@pytest.mark.parametrize("seed", range(examples(20, 200)))
def test_the_bound_is_below_the_sum_in_fractions_and_near_the_optimum(seed):
    rng = np.random.default_rng(seed)
    rows, columns, scale = 4, 6, 10.0 ** rng.integers(-9, 10)
    matrix = rng.uniform(-2, 2, (rows, columns)) * (rng.random((rows, columns)) < 0.6)
    costs = scale * rng.normal(size=columns)
    lower, upper = -rng.random(columns), rng.random(columns)
    inside = matrix @ (lower + upper) / 2.0
    sides = inside - rng.random(rows) / 3, inside + rng.random(rows) / 3
    transposed = sparse.csr_array(matrix.T)
    solved = LinearProgram(Program(False, sparse.csc_array(matrix), costs, lower, upper, *sides)).solve()
    assert solved.status is LPStatus.OPTIMAL
    bound = least_by_duals(costs, transposed, solved.duals, sides, (lower, upper))
    assert bound == pytest.approx(solved.objective, abs=1e-6 * scale)
    for duals in (solved.duals, scale * rng.normal(size=rows)):
        bound = least_by_duals(costs, transposed, duals, sides, (lower, upper))
        assert Fraction(bound) <= exactly(costs, matrix, duals, sides, (lower, upper))
        assert bound <= solved.objective + 1e-9 * scale


def test_dual_values_of_missing_sides_are_ignored():
    one = sparse.csr_array([[1.0]])
    sides = np.array([-np.inf]), np.array([4.0])
    bounds = np.array([0.0]), np.array([9.0])
    assert least_by_duals(np.array([2.0]), one, np.array([1.0]), sides, bounds) == pytest.approx(0.0)
    endless = np.array([0.0]), np.array([np.inf])
    assert least_by_duals(np.array([-2.0]), one, np.array([-1.0]), sides, endless) == -np.inf
    assert least_by_duals(np.array([-2.0]), one, np.array([-2.0]), sides, endless) == pytest.approx(-8.0)


def test_nothing_is_taken_off_where_nothing_is_added_up():
    """An optimum of zero has no scale for the error of a bound below it."""
    rows = sparse.csr_array(np.ones((3, 1)))
    sides = np.array([-np.inf]), np.array([3.0])
    assert least_by_duals(np.array([4e-4, 0.0, 2.0]), rows, np.zeros(1), sides, (np.zeros(3), np.ones(3))) == 0.0
