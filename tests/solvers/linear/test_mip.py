"""Mixed-integer programs in HiGHS."""

import numpy as np
import pytest
from scipy import sparse

from solvers.linear.lp import LPStatus
from solvers.linear.mip import solve_mip


@pytest.mark.timeout(60, method="thread")  # presolve never looks at signals
def test_presolve_comes_to_an_end():
    matrix = [
        [0, -3, 3, -3, -2, 0],
        [0, 0, -1, -2, 1, 0],
        [-2, 2, 2, 0, -2, 0],
        [0, 0, -2, -1, -1, 0],
        [1, 0, 0, 3, 0, 1],
        [1, 1, 1, 1, 1, 0],
    ]
    found = solve_mip(
        False,
        sparse.csc_array(np.array(matrix, dtype=float)),
        np.array([2_000_009.0, 2_000_002.0, 1_000_009.0, 1_000_008.0, 1_000_004.0, -9.0]),
        np.array([0.0, 0.0, 0.0, 0.0, 0.0, -np.inf]),
        np.array([np.inf, np.inf, np.inf, np.inf, np.inf, 3.0]),
        np.array([-8.0, -1.0, 0.0, -2.0, -np.inf, -np.inf]),
        np.array([-8.0, -1.0, 2.0, np.inf, 6.0, 3.0]),
        np.array([True, False, False, True, False, True]),
    )
    assert found.status is LPStatus.OPTIMAL
    assert found.objective == pytest.approx(3_999_987.0)
