"""HiGHS: creation, runs, interruption, and meaning of its statuses."""

from __future__ import annotations

import enum
import itertools
import math
import threading
import time
from collections.abc import Callable
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from colgen.solvers.linear.program import Program
from colgen.solvers.work import SECOND, add_work

Floats = NDArray[np.float64]
HighsBasis = highspy.HighsBasis
Ints = NDArray[np.integer[Any]]

INFINITY = float("inf")

# Tighter than HiGHS's 1e-7: pricing and dual bounds work at 1e-7 and need more accurate duals.
FEASIBILITY_TOLERANCE = 1e-9

LOOSER = 1e-7
"""Tolerance of the last attempt after HiGHS failed at its usual one."""

Stopped = Callable[[], bool]
"""Return True to end a solve early; checked several times per second."""


class LPStatus(enum.Enum):
    """Status of a linear or mixed-integer program after a solve."""

    OPTIMAL = "solved to optimality"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    LIMIT = "stopped at a limit"


class SolverError(RuntimeError):
    """The solver failed on a program, even from a fresh start."""


_SPARSIFY = 1 << 14
"""Presolve rule that did not terminate and ignored time limits on a program of six rows (HiGHS 1.15.1)."""


def new_highs(tolerance: float = FEASIBILITY_TOLERANCE) -> highspy.Highs:
    """Return a silent HiGHS with one thread."""
    highs = highspy.Highs()
    highs.silent()
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("presolve_rule_off", _SPARSIFY)
    highs.setOptionValue("small_matrix_value", 1e-12)  # HiGHS's minimum; it drops smaller entries
    set_tolerance(highs, tolerance)
    return highs


def set_tolerance(highs: highspy.Highs, tolerance: float = FEASIBILITY_TOLERANCE) -> None:
    """Set the primal and dual feasibility tolerances."""
    highs.setOptionValue("primal_feasibility_tolerance", tolerance)
    highs.setOptionValue("dual_feasibility_tolerance", tolerance)


def highs_lp(program: Program) -> highspy.HighsLp:
    """Return a scaled linear program in HiGHS's format."""
    maximize, matrix, costs, lower, upper, row_lower, row_upper, offset = program
    check_finite(costs, matrix.data)
    if any(np.isnan(sides).any() for sides in (lower, upper, row_lower, row_upper)):
        raise SolverError("a bound or side of the linear program is NaN")
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = matrix.shape
    lp.sense_ = highspy.ObjSense.kMaximize if maximize else highspy.ObjSense.kMinimize
    lp.offset_ = offset
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = costs, lower, upper
    lp.row_lower_, lp.row_upper_ = row_lower, row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = int32(matrix.indptr)
    lp.a_matrix_.index_ = int32(matrix.indices)
    lp.a_matrix_.value_ = matrix.data.astype(np.float64)
    return lp


_LP_WORK, _MIP_WORK = (3e-4, 1e-5, 1e-9, 0.0), (5e-4, 6e-5, 1.5e-8, 2e-6)
"""Seconds per run, per simplex iteration, per iteration and entry, and per entry, measured on seven models.

A mixed-integer program needs more per iteration, for presolve, cuts and heuristics.
"""

_INTERIOR_WORK = 1.5e-7
"""Work per iteration of the interior point method and entry: measured on set partitioning and cutting stock."""


def _count_work(highs: highspy.Highs) -> None:
    info, entries = highs.getInfo(), highs.getNumNz() + highs.getNumRow() + highs.getNumCol()
    a_run, an_iteration, a_visit, an_entry = _MIP_WORK if info.mip_node_count >= 0 else _LP_WORK
    iterations = max(info.simplex_iteration_count, 0) + max(info.crossover_iteration_count, 0)
    interior = max(info.ipm_iteration_count, 0) * entries * _INTERIOR_WORK
    add_work(SECOND * (interior + a_run + iterations * (an_iteration + entries * a_visit) + entries * an_entry))


def run(highs: highspy.Highs, run: Callable[[highspy.Highs], object] = highspy.Highs.run) -> LPStatus | None:
    """Run HiGHS.  Return None if it failed and a fresh start may help."""
    started = time.monotonic()
    run(highs)
    _count_work(highs)
    status = highs.getModelStatus()
    codes = highspy.HighsModelStatus
    if status == codes.kOptimal:  # the common case first: each comparison of a HiGHS status is slow
        return LPStatus.OPTIMAL
    if status == codes.kUnboundedOrInfeasible:  # presolve could not decide
        limit = float(highs.getOptionValue("time_limit")[1])
        highs.setOptionValue("presolve", "off")
        highs.setOptionValue("time_limit", limit - (time.monotonic() - started))
        run(highs)
        status = highs.getModelStatus()
    if status == codes.kModelEmpty:  # HiGHS ignores the rows of a program without columns
        return LPStatus.OPTIMAL if holds_at_zero(highs.getLp()) else LPStatus.INFEASIBLE
    if status == codes.kOptimal:
        return LPStatus.OPTIMAL
    if status == codes.kInfeasible:
        return LPStatus.INFEASIBLE
    if status in (codes.kUnbounded, codes.kUnboundedOrInfeasible):
        return LPStatus.UNBOUNDED
    limits = (codes.kTimeLimit, codes.kIterationLimit, codes.kSolutionLimit, codes.kInterrupt, codes.kMemoryLimit)
    if status in limits:  # HiGHS reports a node limit as a solution limit
        return LPStatus.LIMIT
    if status == codes.kUnknown and _is_feasible_twice(highs):
        return LPStatus.OPTIMAL
    return None


def holds_at_zero(lp: highspy.HighsLp) -> bool:
    """Return whether all rows hold if all columns are zero."""
    return all(low <= 0.0 for low in lp.row_lower_) and all(high >= 0.0 for high in lp.row_upper_)


def _is_feasible_twice(highs: highspy.Highs) -> bool:
    """Return whether a basic solution is primal and dual feasible, hence optimal.

    HiGHS reports an unknown status if costs of very different size leave a relative error of the objective.
    """
    info, feasible = highs.getInfo(), highspy.SolutionStatus.kSolutionStatusFeasible
    return bool(
        highs.getBasis().valid
        and info.primal_solution_status == info.dual_solution_status == feasible
        and info.num_primal_infeasibilities == info.num_dual_infeasibilities == 0
    )


GRACE = 5.0
"""Seconds that HiGHS may exceed a time limit or interrupt: its presolve can repeat its steps forever."""


class LostError(Exception):
    """HiGHS did not stop at its limit; its thread is still running, and its program must not be used."""


_CHECK = 2e-3, 3e-7
"""Seconds between two checks of an integer program for an interrupt, and per entry, measured on six coverings."""


def run_in_thread(
    highs: highspy.Highs, stopped: Stopped | None, limit: float = math.inf, work: float = math.inf
) -> None:
    """Run HiGHS in its own thread, so that Python can handle signals during a long solve.

    A LostError is raised if it has not stopped a few seconds after ``limit`` seconds.  An integer program ends after
    about this ``work``, always at the same point: HiGHS checks for interrupts at fixed points of its search.
    """
    stop, done, checks = threading.Event(), threading.Event(), itertools.count(1)
    a_check, an_entry = _CHECK
    most = work / (SECOND * (a_check + an_entry * highs.getNumNz()))

    def look(event: highspy.highs.HighsCallbackEvent) -> None:
        if stop.is_set() or next(checks) > most:
            event.interrupt()

    def run() -> None:
        try:
            highspy.Highs.run(highs)
        finally:
            done.set()

    moments = (highs.cbSimplexInterrupt, highs.cbIpmInterrupt, highs.cbMipInterrupt)
    for moment in moments:
        moment.subscribe(look)
    threading.Thread(target=run, daemon=True).start()
    latest = time.monotonic() + limit + GRACE
    try:
        while not done.wait(0.05):
            if stopped is not None and not stop.is_set() and stopped():
                stop.set()
                latest = min(latest, time.monotonic() + GRACE)
            if time.monotonic() > latest:
                raise LostError
    except KeyboardInterrupt:
        stop.set()
        done.wait(GRACE)
        raise
    finally:
        if done.is_set():
            for moment in moments:
                moment.unsubscribe(look)


def check(status: highspy.HighsStatus) -> None:
    """Raise an error if HiGHS rejected a change."""
    if status == highspy.HighsStatus.kError:
        raise SolverError("HiGHS rejected a change of the linear program: an index or a value is out of range")


def check_finite(*arrays: Floats) -> None:
    """Raise an error for NaN or infinity: HiGHS does not reject NaN."""
    if not all(np.isfinite(array).all() for array in arrays):
        raise not_finite_error()


def not_finite_error() -> SolverError:
    """Return the error for NaN or infinite numbers in a linear program."""
    return SolverError("a cost or a coefficient of the linear program is NaN or infinite; expected a finite number")


def int32(array: NDArray[np.integer] | Ints) -> NDArray[np.int32]:
    """Return integers in the type that HiGHS expects."""
    return np.asarray(array, dtype=np.int32)


def basic_columns(basis: highspy.HighsBasis) -> NDArray[np.bool_]:
    """Return a mask of the columns in a basis."""
    basic = highspy.HighsBasisStatus.kBasic
    return np.array([status == basic for status in basis.col_status], dtype=bool)


def basic_rows(basis: highspy.HighsBasis) -> NDArray[np.bool_]:
    """Return a mask of the rows whose slack is in a basis."""
    basic = highspy.HighsBasisStatus.kBasic
    return np.array([status == basic for status in basis.row_status], dtype=bool)
