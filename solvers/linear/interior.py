"""Dual values in the interior of the optimal ones, by HiGHS's interior point method."""

from __future__ import annotations

import highspy
import numpy as np

from colgen.solvers.linear.highs import INFINITY, Floats, check, new_highs

_STEPS = 100
"""Of the interior point method: it takes a few dozen, or never ends."""


def interior_duals(program: highspy.HighsLp, time_limit: float = INFINITY) -> Floats | None:
    """One entry a row of a program of HiGHS's own, which it may change; None if the method does not converge."""
    highs = new_highs()
    highs.setOptionValue("solver", "ipx")
    highs.setOptionValue("run_crossover", "off")
    highs.setOptionValue("presolve", "off")  # what it removes gets dual values that are not feasible
    highs.setOptionValue("ipm_iteration_limit", _STEPS)
    if time_limit < INFINITY:
        highs.setOptionValue("time_limit", max(time_limit, 0.0))
    sign = 1.0
    if program.sense_ == highspy.ObjSense.kMaximize:  # HiGHS 1.15 returns these duals with the signs of minimising
        sign, program.sense_ = -1.0, highspy.ObjSense.kMinimize
        program.col_cost_ = -np.array(program.col_cost_)
    check(highs.passModel(program))
    highs.run()
    solution = highs.getSolution()  # HiGHS calls its status unknown: what it holds is no vertex
    return sign * np.array(solution.row_dual) if solution.dual_valid else None
