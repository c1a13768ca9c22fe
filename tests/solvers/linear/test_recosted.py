"""A program that is re-costed against programs made anew."""

import numpy as np
import pytest
from scipy import sparse

from colgen.solvers.linear.highs import LPStatus
from colgen.solvers.linear.mip import solve_mip
from colgen.solvers.linear.program import Program
from colgen.solvers.linear.recosted import RecostedMIP


def drawn(seed, rows=3, columns=7):
    rng = np.random.default_rng(seed)
    matrix = sparse.csc_array(rng.integers(-5, 9, (rows, columns)).astype(float))
    integer = np.arange(columns) % 3 > 0
    return rng, (
        matrix,
        np.zeros(columns),
        np.full(columns, 3.0),
        np.full(rows, -4.0),
        np.full(rows, 11.0),
        integer,
    )


@pytest.mark.parametrize("scale", [1.0, 1e-7, 1e7])
@pytest.mark.parametrize("seed", range(3))
def test_each_solve_is_that_of_a_program_made_anew(seed, scale):
    rng, (matrix, lower, upper, row_lower, row_upper, integer) = drawn(seed)
    program = RecostedMIP(matrix, lower, upper, row_lower, row_upper, integer)
    for _ in range(6):
        costs, high = scale * rng.normal(size=7), np.where(rng.random(7) < 0.3, 1.0, upper)
        program.set_bounds(lower, high)
        found = program.solve(costs)
        expected = solve_mip(Program(False, matrix, costs, lower, high, row_lower, row_upper), integer)
        assert found.bound == pytest.approx(expected.objective, rel=1e-7)
        assert found.points[0] @ costs == pytest.approx(expected.objective, rel=1e-7)
        assert (np.diff(found.points @ costs) >= 0).all()
        assert (found.points <= high + 1e-8).all()


def test_infeasible_and_unbounded_programs():
    _, (matrix, lower, upper, row_lower, row_upper, integer) = drawn(0)
    program = RecostedMIP(matrix, lower, upper, row_lower, row_upper, integer)
    program.set_bounds(np.full(7, 2.0), np.full(7, 1.0))
    assert program.solve(np.ones(7)).status is LPStatus.INFEASIBLE
    free = RecostedMIP(matrix[:1], lower, np.full(7, np.inf), np.full(1, -np.inf), np.full(1, np.inf), integer)
    assert free.solve(-np.ones(7)).status is LPStatus.UNBOUNDED


def test_columns_and_rows_that_come_later_count():
    _, (matrix, lower, upper, row_lower, row_upper, integer) = drawn(1)
    program = RecostedMIP(matrix, lower, upper, row_lower, row_upper, integer)
    (new,) = program.add_binaries(1)
    program.add_row(np.array([new, 1]), np.array([1.0, -1.0]), -np.inf, 0.0)
    costs = np.zeros(8)
    costs[new], costs[1] = -3.0, 1.0
    assert program.solve(costs).bound == pytest.approx(-2.0)
