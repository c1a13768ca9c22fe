"""Scales of linear programs: powers of two."""

import numpy as np
import pytest
from scipy import sparse

from colgen.solvers.linear.lp import LPStatus
from colgen.solvers.linear.mip import solve_mip
from colgen.solvers.linear.program import Program
from colgen.solvers.linear.scaling import column_units, row_sizes


def program(units):
    """max 2x + 3y + z over 3x + 2y + z ≤ 7.5, x + y ≥ 1, x in 0..2, y and z continuous: columns in other units."""
    matrix = np.array([[3.0, 2.0, 1.0], [1.0, 1.0, 0.0]]) / units
    upper = np.array([2.0, 3.0, np.inf]) * units
    rows = (np.array([-np.inf, 1.0]), np.array([7.5, np.inf]))
    return sparse.csc_array(matrix), np.array([2.0, 3.0, 1.0]) / units, np.zeros(3), upper, *rows, np.arange(3) == 0


def test_columns_of_similar_size_stay_as_they_are():
    matrix, _, *rest = program(np.ones(3))
    assert (column_units(matrix, *rest) == 1.0).all()


@pytest.mark.parametrize("size", [1e-9, 1e-6, 1e6, 1e9])
def test_units_follow_the_values_of_continuous_columns(size):
    matrix, _, *rest = program(np.array([1.0, size, 1.0]))
    units = column_units(matrix, *rest)
    assert units[0] == 1.0
    assert 2.0**-6 <= units[1] / size <= 2.0**6
    assert np.log2(units[1]).is_integer()


@pytest.mark.parametrize("sizes", [(1.0, 1e-6, 1.0), (1.0, 1e-7, 1e9), (1.0, 1e8, 1e-6)])
def test_a_program_in_other_units_has_the_same_optimum(sizes):
    right, found = (solve_mip(Program(True, *arrays), whole) for *arrays, whole in map(program, ([1.0] * 3, sizes)))
    assert found.status is LPStatus.OPTIMAL
    assert found.objective == pytest.approx(right.objective)
    assert (found.values / sizes) == pytest.approx(right.values)


def test_a_row_of_a_large_side_keeps_its_entries():
    entries = np.array([[1.0, 2e-3], [0.0, 5.0], [0.0, 0.0]])
    sizes = row_sizes(sparse.csc_array(entries), np.full(3, -np.inf), np.array([1e15, 40.0, 1e15]))
    assert 1.0 / sizes[0] > 1e-9
    assert sizes[1] == 32.0
    assert 1.0 / sizes[2] > 1e-9
