"""A mixed-integer program in HiGHS that is solved again and again, at other costs and between other bounds."""

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
"""How far HiGHS may be off whole numbers: what is rounded afterwards should still satisfy the rows."""


@dataclass(frozen=True, slots=True)
class Points:
    """What a solve has met.

    Attributes
    ----------
    status
        How it ended.
    bound
        No point has a smaller objective: also where a limit ended the solve.
    points
        Shape (points, columns): each improving solution that was met, the best one first; whole numbers are whole.
    """

    status: LPStatus
    bound: float
    points: Floats


class RecostedMIP:
    """``min costs·x`` over rows and bounds, with some columns whole: made in HiGHS once, then only re-costed.

    Parameters
    ----------
    matrix
        Shape (rows, columns).
    lower, upper, integer
        One entry a column.
    row_lower, row_upper
        One entry a row.
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
        # Feasibility jump took four fifths of the time of small programs, whose points are no secret.
        self._highs.setOptionValue("mip_heuristic_run_feasibility_jump", False)
        check(self._highs.passModel(lp))
        self._met: list[Floats] = []
        self._highs.cbMipImprovingSolution.subscribe(self._meet)

    @property
    def num_columns(self) -> int:
        """Those added later included."""
        return len(self._lower)

    def _meet(self, event: highspy.highs.HighsCallbackEvent) -> None:
        self._met.append(np.array(event.data_out.mip_solution, dtype=np.float64))

    def add_binaries(self, count: int) -> Ints:
        """Binary columns without entries; their numbers."""
        first = self.num_columns
        numbers = np.arange(first, first + count)
        check(self._highs.addVars(count, np.zeros(count), np.ones(count)))
        kinds = np.array([highspy.HighsVarType.kInteger] * count)
        check(self._highs.changeColsIntegrality(count, int32(numbers), kinds))
        self._lower, self._upper = np.append(self._lower, np.zeros(count)), np.append(self._upper, np.ones(count))
        self.integer = np.append(self.integer, np.ones(count, dtype=np.bool_))
        return numbers

    def add_row(self, columns: Ints, values: Floats, lower: float, upper: float) -> None:
        """A row over present columns."""
        check_finite(np.asarray(values, dtype=np.float64))
        check(self._highs.addRow(lower, upper, len(columns), int32(columns), np.asarray(values, dtype=np.float64)))

    def set_bounds(self, lower: Floats, upper: Floats) -> None:
        """Other bounds of the first columns, as many as are given."""
        count = len(lower)
        lower, upper = integral_bounds(lower, upper, self.integer[:count])
        changed = np.flatnonzero((lower != self._lower[:count]) | (upper != self._upper[:count]))
        if len(changed):
            self._lower[changed], self._upper[changed] = lower[changed], upper[changed]
            check(
                self._highs.changeColsBounds(len(changed), int32(changed), self._lower[changed], self._upper[changed])
            )

    def solve(self, costs: Floats, time_limit: float = INFINITY, stopped: Stopped | None = None) -> Points:
        """Minimise; what a limit leaves open is in the bound.

        Raises
        ------
        SolverError
            If HiGHS cannot solve it, not even at a tolerance that is easier to meet.
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
        if status is None:
            try:
                highs.clearSolver()
                highs.setOptionValue("presolve", "off")
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
        met = list(self._met)
        if info.primal_solution_status == 2:  # kSolutionStatusFeasible
            met.append(np.array(highs.getSolution().col_value))
        points = self._whole(np.array(met).reshape(len(met), self.num_columns))
        values = points @ costs
        order = np.argsort(values, kind="stable")
        if self.integer.any():
            bound = float(info.mip_dual_bound) / factor
        else:
            bound = float(info.objective_function_value) / factor if status is LPStatus.OPTIMAL else -INFINITY
        if len(order):  # a bound is the optimum's but for rounding: never better than what was found
            bound = min(bound, float(values[order[0]]))
        return Points(status, bound, points[order])

    def _run(self, deadline: float, stopped: Stopped | None) -> LPStatus | None:
        highs = self._highs
        self._met.clear()
        left = max(deadline - time.monotonic(), 0.0)
        highs.setOptionValue("time_limit", highs.getRunTime() + left)
        if stopped is None:
            return run(highs)
        return run(highs, lambda highs: run_in_thread(highs, stopped))

    def _whole(self, points: Floats) -> Floats:
        inside = np.clip(points, self._lower, self._upper)  # which HiGHS keeps to within its tolerance
        rounded = np.where(self.integer[None, :], np.round(inside), inside)
        return np.unique(rounded, axis=0) + 0.0  # no negative zeros
