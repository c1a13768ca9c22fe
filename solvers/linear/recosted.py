"""A mixed-integer program in HiGHS that is solved repeatedly with other costs and bounds."""

from __future__ import annotations

import time
from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.solvers.arrays import integral_bounds
from colgen.solvers.linear.highs import (
    INFINITY,
    LOOSER,
    Floats,
    Ints,
    LPStatus,
    SolverError,
    Stopped,
    check,
    check_finite,
    highs_lp,
    int32,
    new_highs,
    run,
    run_in_thread,
    set_tolerance,
)
from colgen.solvers.linear.program import Program
from colgen.solvers.linear.scaling import row_sizes, typical_size

_INTEGRALITY = 1e-9
"""Integrality tolerance of HiGHS: rounded solutions should still satisfy the rows."""


@dataclass(frozen=True, slots=True)
class Points:
    """Solutions found by a solve, and why it ended (``status``).

    ``points`` has shape (points, columns): each improving solution found, best first; integer columns are rounded.
    ``bound`` is a lower bound on the objective, also after a limit.
    """

    status: LPStatus
    bound: float
    points: Floats


class RecostedMIP:
    """``min costs·x`` over rows and bounds with some integer columns: built in HiGHS once, solved with changing costs.

    ``matrix`` has shape (rows, columns).  Bounds and ``integer`` have one entry per column, sides one per row.
    """

    def __init__(
        self,
        matrix: sparse.csc_array,
        lower: Floats,
        upper: Floats,
        row_lower: Floats,
        row_upper: Floats,
        integer: NDArray[np.bool_],
    ) -> None:
        self.integer = np.array(integer, dtype=np.bool_)
        lower, upper = integral_bounds(np.asarray(lower, float), np.asarray(upper, float), self.integer)
        sizes = row_sizes(matrix, row_lower, row_upper)
        rows = 1.0 / np.where(sizes > 0.0, sizes, 1.0)
        columns = matrix.shape[1]
        program = Program(False, matrix, np.zeros(columns), lower, upper, row_lower, row_upper)
        lp = highs_lp(program.scaled(rows, np.ones(columns), 1.0))
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[flag] for flag in integer.astype(int)]
        self._lower, self._upper = np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64)
        self._highs = new_highs()
        self._highs.setOptionValue("mip_rel_gap", 0.0)
        self._highs.setOptionValue("mip_abs_gap", 1e-9)
        self._highs.setOptionValue("mip_feasibility_tolerance", _INTEGRALITY)
        # These heuristics took 40% to 80% of the time on small programs, whose solutions are easy to find.
        for heuristic in ("feasibility_jump", "rens", "rins", "root_reduced_cost"):
            self._highs.setOptionValue(f"mip_heuristic_run_{heuristic}", False)
        check(self._highs.passModel(lp))
        self._stored: list[Floats] = []
        self._highs.cbMipImprovingSolution.subscribe(self._store)

    @property
    def num_columns(self) -> int:
        """Number of columns, including those added later."""
        return len(self._lower)

    def _store(self, event: highspy.highs.HighsCallbackEvent) -> None:
        self._stored.append(np.array(event.data_out.mip_solution, dtype=np.float64))

    def add_binaries(self, count: int) -> Ints:
        """Add binary columns without entries.  Return their numbers."""
        first = self.num_columns
        numbers = np.arange(first, first + count)
        check(self._highs.addVars(count, np.zeros(count), np.ones(count)))
        kinds = np.array([highspy.HighsVarType.kInteger] * count)
        check(self._highs.changeColsIntegrality(count, int32(numbers), kinds))
        self._lower, self._upper = np.append(self._lower, np.zeros(count)), np.append(self._upper, np.ones(count))
        self.integer = np.append(self.integer, np.ones(count, dtype=np.bool_))
        return numbers

    def add_row(self, columns: Ints, values: Floats, lower: float, upper: float) -> None:
        """Add a row over existing columns."""
        check_finite(np.asarray(values, dtype=np.float64))
        check(self._highs.addRow(lower, upper, len(columns), int32(columns), np.asarray(values, dtype=np.float64)))

    def set_bounds(self, lower: Floats, upper: Floats) -> None:
        """Change the bounds of the first columns, as many as given."""
        count = len(lower)
        lower, upper = integral_bounds(lower, upper, self.integer[:count])
        changed = np.flatnonzero((lower != self._lower[:count]) | (upper != self._upper[:count]))
        if len(changed):
            self._lower[changed], self._upper[changed] = lower[changed], upper[changed]
            check(
                self._highs.changeColsBounds(len(changed), int32(changed), self._lower[changed], self._upper[changed])
            )

    def solve(self, costs: Floats, time_limit: float = INFINITY, stopped: Stopped | None = None) -> Points:
        """Minimise.  The bound is valid after a limit too.

        A SolverError is raised if HiGHS fails even at a looser tolerance.
        """
        nothing = np.empty((0, self.num_columns))
        if (self._lower > self._upper).any():
            return Points(LPStatus.INFEASIBLE, INFINITY, nothing)
        check_finite(costs)
        if not self.num_columns:
            return Points(LPStatus.OPTIMAL, 0.0, np.empty((1, 0)))
        factor = 1.0 / typical_size(costs)
        highs, deadline = self._highs, time.monotonic() + time_limit
        check(highs.changeColsCost(self.num_columns, int32(np.arange(self.num_columns)), costs * factor))
        status = self._run(deadline, stopped)
        if status is None or (status is LPStatus.INFEASIBLE and self.integer.any()):
            try:  # with presolve, HiGHS 1.15 reports some feasible programs as infeasible
                highs.clearSolver()
                highs.setOptionValue("presolve", "off")
                if status is None:
                    set_tolerance(highs, LOOSER)
                status = self._run(deadline, stopped)
            finally:
                highs.setOptionValue("presolve", "choose")
                set_tolerance(highs)
        if status is None:
            raise SolverError(f"HiGHS could not solve the mixed-integer program: {highs.getModelStatus()}")
        if status in (LPStatus.INFEASIBLE, LPStatus.UNBOUNDED):
            return Points(status, INFINITY if status is LPStatus.INFEASIBLE else -INFINITY, nothing)
        info = highs.getInfo()
        found = list(self._stored)
        if info.primal_solution_status == 2:  # kSolutionStatusFeasible
            found.append(np.array(highs.getSolution().col_value))
        points = self._round(np.array(found).reshape(len(found), self.num_columns))
        values = points @ costs
        order = np.argsort(values, kind="stable")
        if self.integer.any():
            bound = float(info.mip_dual_bound) / factor
        else:
            bound = float(info.objective_function_value) / factor if status is LPStatus.OPTIMAL else -INFINITY
        if len(order):  # the bound equals the optimum up to rounding: keep it no better than the best solution
            bound = min(bound, float(values[order[0]]))
        return Points(status, bound, points[order])

    def _run(self, deadline: float, stopped: Stopped | None) -> LPStatus | None:
        highs = self._highs
        self._stored.clear()
        left = max(deadline - time.monotonic(), 0.0)
        highs.setOptionValue("time_limit", highs.getRunTime() + left)
        if stopped is None:
            return run(highs)
        return run(highs, lambda highs: run_in_thread(highs, stopped))

    def _round(self, points: Floats) -> Floats:
        inside = np.clip(points, self._lower, self._upper)  # HiGHS satisfies bounds only within its tolerance
        rounded = np.where(self.integer[None, :], np.round(inside), inside)
        return np.unique(rounded, axis=0) + 0.0  # no negative zeros
