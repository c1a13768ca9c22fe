"""Mixed-integer linear programs in HiGHS: arrays in, arrays out."""

from __future__ import annotations

import time
from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import integral_bounds
from colgen.solvers.linear.highs import (
    INFINITY,
    LOOSER,
    Floats,
    LostError,
    LPStatus,
    SolverError,
    Stopped,
    check,
    check_finite,
    highs_lp,
    holds_at_zero,
    new_highs,
    run,
    run_in_thread,
    set_tolerance,
)
from colgen.solvers.linear.program import Program
from colgen.solvers.linear.scaling import SCALINGS, better_scale, column_units, row_sizes, typical_size


@dataclass(frozen=True, slots=True)
class MIPSolution:
    """Result of a mixed-integer program; ``values`` is None without a feasible point.

    An unbounded program has the values of a feasible point: by a theorem of Meyer (1974), a program with such a point
    is unbounded if its relaxation is.
    """

    status: LPStatus
    objective: float
    bound: float
    values: Floats | None
    nodes: int


def solve_mip(
    program: Program,
    integer: NDArray[np.bool_],
    time_limit: float = INFINITY,
    stopped: Stopped | None = None,
    nodes: int | None = None,
    start: Floats | None = None,
    work: float = INFINITY,
) -> MIPSolution:
    """Solve a program in which the columns of ``integer`` are integer, with presolve and one thread.

    Limits on ``nodes`` and on ``work`` (:mod:`colgen.solvers.work`, approximate) give the same outcome on any machine.
    ``start`` is a known point.

    If the objective may be unbounded, the relaxation is solved first: with or without presolve, HiGHS 1.15 reports some
    unbounded programs as optimal or infeasible.
    """
    check_finite(program.costs, program.matrix.data)
    sides = (program.row_lower, program.row_upper)
    units = column_units(program.matrix, program.lower, program.upper, *sides, integer)
    counted = program.scaled(np.ones(len(program.row_lower)), units, 1.0)
    sizes, factor = row_sizes(counted.matrix, *sides), 1.0 / typical_size(counted.costs)
    lp = highs_lp(counted.scaled(1.0 / np.where(sizes > 0.0, sizes, 1.0), np.ones(len(units)), factor))
    deadline = time.monotonic() + time_limit
    endless = _has_unbounded_relaxation(lp, time_limit, stopped)
    return solve_built_mip(
        lp,
        integer,
        deadline - time.monotonic(),
        None if start is None else start / units,
        stopped,
        factor,
        units,
        nodes,
        endless=endless,
        work=work,
    )


def solve_built_mip(
    lp: highspy.HighsLp,
    integer: NDArray[np.bool_],
    time_limit: float,
    start: Floats | None,
    stopped: Stopped | None,
    factor: float,
    units: Floats,
    nodes: int | None = None,
    *,
    endless: bool = False,
    work: float = INFINITY,
) -> MIPSolution:
    """Solve a program with costs already multiplied by ``factor`` and columns counted in ``units``.

    Bounds of integer columns are rounded inward first, see :func:`~colgen.solvers.arrays.integral_bounds`.  ``endless``
    marks a program with an unbounded relaxation, which is unbounded if it has a feasible point.
    """
    lower, upper = integral_bounds(np.array(lp.col_lower_) * units, np.array(lp.col_upper_) * units, integer)
    hopeless = -INFINITY if lp.sense_ == highspy.ObjSense.kMaximize else INFINITY
    if (lower[integer] > upper[integer]).any():
        return MIPSolution(LPStatus.INFEASIBLE, hopeless, hopeless, None, 0)
    lp.col_lower_ = np.where(integer, lower / units, lp.col_lower_)
    lp.col_upper_ = np.where(integer, upper / units, lp.col_upper_)
    deadline, costs, offset = time.monotonic() + time_limit, np.array(lp.col_cost_) / factor, lp.offset_ / factor
    if not endless:
        found = _solve_at_scales(lp, integer, time_limit, start, stopped, factor, units, nodes, work)
        if found.status is not LPStatus.UNBOUNDED:
            return found
    # HiGHS derives this status from the relaxation alone, which may have no integer point.
    lp.col_cost_ = np.zeros(len(costs))
    found = _solve_scaled_mip(lp, integer, deadline - time.monotonic(), start, stopped, factor, units, nodes, work)
    if found.status is LPStatus.INFEASIBLE:
        return found
    if found.values is None:
        return MIPSolution(LPStatus.LIMIT, hopeless, -hopeless, None, found.nodes)
    objective = float(costs @ (found.values / units)) + offset
    return MIPSolution(LPStatus.UNBOUNDED, objective, -hopeless, found.values, found.nodes)


def _has_unbounded_relaxation(lp: highspy.HighsLp, time_limit: float, stopped: Stopped | None) -> bool:
    """Return whether the relaxation is unbounded; HiGHS solves it only if a bound is missing."""
    better = np.array(lp.col_cost_) * (1.0 if lp.sense_ == highspy.ObjSense.kMaximize else -1.0)
    low, high = np.isinf(lp.col_lower_), np.isinf(lp.col_upper_)
    if not ((better > 0.0) & high | (better < 0.0) & low).any():
        return False
    highs = new_highs()
    highs.setOptionValue("presolve", "off")
    if time_limit < INFINITY:
        highs.setOptionValue("time_limit", max(time_limit, 0.0))
    check(highs.passModel(lp))
    return run(highs, lambda highs: run_in_thread(highs, stopped)) is LPStatus.UNBOUNDED


def _solve_at_scales(
    lp: highspy.HighsLp,
    integer: NDArray[np.bool_],
    time_limit: float,
    start: Floats | None,
    stopped: Stopped | None,
    factor: float,
    units: Floats,
    nodes: int | None,
    work: float,
) -> MIPSolution:
    """Solve at the scale ``factor``, then at that of the costs in the solution, until both agree."""
    deadline, costs = time.monotonic() + time_limit, np.array(lp.col_cost_) / factor
    offset = lp.offset_ / factor
    found: MIPSolution | None = None
    for _ in range(SCALINGS):
        try:
            left = deadline - time.monotonic()
            found = _solve_scaled_mip(lp, integer, left, start, stopped, factor, units, nodes, work)
        except SolverError:
            if found is None:
                raise
            break  # keep the solution found at another scale
        if found.status is not LPStatus.OPTIMAL or found.values is None:
            break
        used = np.abs(costs[(found.values != 0.0) & (costs != 0.0)])
        scale = better_scale(costs, float(np.median(used)) if len(used) else 0.0, 1.0 / factor)
        if scale is None:
            break
        factor, start = 1.0 / scale, found.values / units
        lp.col_cost_, lp.offset_ = costs * factor, offset * factor
    assert found is not None
    return found


def _solve_scaled_mip(
    lp: highspy.HighsLp,
    integer: NDArray[np.bool_],
    time_limit: float,
    start: Floats | None,
    stopped: Stopped | None,
    factor: float,
    units: Floats,
    nodes: int | None,
    work: float,
) -> MIPSolution:
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[flag] for flag in integer.astype(int)]
    highs = new_highs()
    # HiGHS's default relative gap of 1e-4 would accept suboptimal solutions.
    highs.setOptionValue("mip_rel_gap", 0.0)
    highs.setOptionValue("mip_abs_gap", 1e-9)
    if time_limit < INFINITY:
        highs.setOptionValue("time_limit", max(time_limit, 0.0))
    if nodes is not None:
        highs.setOptionValue("mip_max_nodes", nodes)
    check(highs.passModel(lp))
    hopeless = -INFINITY if lp.sense_ == highspy.ObjSense.kMaximize else INFINITY
    if not lp.num_col_:  # HiGHS returns no objective then
        if not holds_at_zero(lp):
            return MIPSolution(LPStatus.INFEASIBLE, hopeless, hopeless, None, 0)
        return MIPSolution(LPStatus.OPTIMAL, lp.offset_ / factor, lp.offset_ / factor, np.empty(0), 0)
    if start is not None:
        point = highspy.HighsSolution()
        point.col_value = start.tolist()
        highs.setSolution(point)
    try:
        status = run(highs, lambda highs: run_in_thread(highs, stopped, time_limit, work))
    except LostError:
        return MIPSolution(LPStatus.LIMIT, hopeless, -hopeless, None, 0)
    if status is None:  # try again without presolve, and at a looser tolerance
        highs.clearSolver()
        highs.setOptionValue("presolve", "off")
        set_tolerance(highs, LOOSER)
        status = run(highs, lambda highs: run_in_thread(highs, stopped, work=work))
    if status is None:
        raise SolverError(f"HiGHS could not solve the mixed-integer program: {highs.getModelStatus()}")
    info = highs.getInfo()
    feasible = info.primal_solution_status == 2  # kSolutionStatusFeasible
    values = np.array(highs.getSolution().col_value) * units if feasible else None
    return MIPSolution(
        status,
        info.objective_function_value / factor if feasible else hopeless,
        hopeless if status is LPStatus.INFEASIBLE else info.mip_dual_bound / factor,
        values,
        max(int(info.mip_node_count), 0),
    )
