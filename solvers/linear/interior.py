"""Dual values in the interior of the set of optimal ones, by HiGHS's interior point method."""

from __future__ import annotations

import highspy
import numpy as np

from colgen.solvers.linear.highs import INFINITY, Floats, check, new_highs

_STEPS = 100
"""Iteration limit of the interior point method: it takes a few dozen, or does not converge."""


def interior_duals(program: highspy.HighsLp, time_limit: float = INFINITY) -> Floats | None:
    """Return one dual value per row of a HiGHS program, which may be changed.  None if the method does not converge."""
    highs = new_highs()
    highs.setOptionValue("solver", "ipx")
    highs.setOptionValue("run_crossover", "off")
    highs.setOptionValue("presolve", "off")  # removed rows would get infeasible dual values
    highs.setOptionValue("ipm_iteration_limit", _STEPS)
    if time_limit < INFINITY:
        highs.setOptionValue("time_limit", max(time_limit, 0.0))
    sign = 1.0
    if program.sense_ == highspy.ObjSense.kMaximize:  # HiGHS 1.15 returns duals with the signs of minimisation
        sign, program.sense_ = -1.0, highspy.ObjSense.kMinimize
        program.col_cost_ = -np.array(program.col_cost_)
    check(highs.passModel(program))
    highs.run()
    solution = highs.getSolution()  # its status is unknown, since the point is not a vertex
    return sign * np.array(solution.row_dual) if solution.dual_valid else None
