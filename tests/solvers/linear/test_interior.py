"""Dual values in the middle of those that are optimal, in either direction."""

import math

import numpy as np
import pytest
from scipy import sparse

from colgen.solvers.linear.highs import highs_lp
from colgen.solvers.linear.interior import interior_duals
from colgen.solvers.linear.program import Program


@pytest.mark.parametrize("maximize", [False, True])
def test_they_lie_in_the_middle(maximize):
    """One column covers two rows at cost 2: any dual values that sum to 2 are optimal, if columns of 1.8 limit them."""
    sign = -1.0 if maximize else 1.0
    matrix = sparse.csc_array(np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]))
    costs, ones = sign * np.array([2.0, 1.8, 1.8]), np.ones(2)
    program = highs_lp(Program(maximize, matrix, costs, np.zeros(3), np.full(3, math.inf), ones, ones, 0.0))
    assert sign * interior_duals(program) == pytest.approx([1.0, 1.0], abs=0.2)
