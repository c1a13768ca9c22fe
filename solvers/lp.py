r"""Linear and mixed-integer linear programs in HiGHS: arrays in, arrays out.

The linear program is, in the caller's own sense (minimise or maximise),

    opt  cᵀx + c₀    subject to    rᴸ ≤ A x ≤ rᵁ   [π],    l ≤ x ≤ u,

and grows by batches of columns and rows while HiGHS keeps its basis, so that each solve starts where the last one
ended. The dual values satisfy ``reduced cost = c_j - πᵀa_j`` in either sense: π_i is the change of the optimum for one
more unit on the right-hand side of row i.

This is the only module that imports highspy.  Source: Q. Huangfu and J. A. J. Hall, *Parallelizing the dual revised
simplex method*, Mathematical Programming Computation 10 (2018).
"""

from __future__ import annotations

import enum
import time
from collections.abc import Callable
from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

INFINITY = float("inf")

# Tighter than HiGHS's 1e-7: pricing and dual bounds work at 1e-7, so the duals must be cleaner than that.
_FEASIBILITY_TOLERANCE = 1e-9


_DUAL_SIMPLEX, _PRIMAL_SIMPLEX = 1, 4


class LPStatus(enum.Enum):
    """How a linear or mixed-integer program ended."""

    OPTIMAL = "solved to optimality"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    LIMIT = "stopped at a limit"


class SolverError(RuntimeError):
    """HiGHS could not solve a program, even when started afresh."""


@dataclass(frozen=True, slots=True)
class LPSolution:
    """What one solve of a linear program found.

    Attributes
    ----------
    status
        Why the solve ended; the arrays below are meaningful for ``OPTIMAL`` alone.
    objective
        The optimum, the constant term included.
    values, duals, reduced_costs
        One entry a column, a row, a column.
    """

    status: LPStatus
    objective: float
    values: Floats
    duals: Floats
    reduced_costs: Floats


@dataclass(frozen=True, slots=True)
class MIPSolution:
    """What a mixed-integer program found; ``values`` is None where no feasible point was found."""

    status: LPStatus
    objective: float
    bound: float
    values: Floats | None
    nodes: int


class LinearProgram:
    """One linear program that stays alive in HiGHS, warm-started from solve to solve.

    Parameters
    ----------
    maximize
        The direction of the objective.
    matrix
        Sparse matrix of shape (rows, columns).
    costs, lower, upper
        One entry a column.
    row_lower, row_upper
        One entry a row.
    offset
        The constant term of the objective.
    tolerance
        Of primal and dual feasibility.
    dual_first
        Begin with the dual simplex method: where all columns are there and rows without slack rule out that all of them
        are zero, it has been 5 to 30 times faster than the primal one.
    """

    def __init__(
        self,
        maximize: bool,
        matrix: sparse.csc_array,
        costs: Floats,
        lower: Floats,
        upper: Floats,
        row_lower: Floats,
        row_upper: Floats,
        offset: float = 0.0,
        tolerance: float = _FEASIBILITY_TOLERANCE,
        *,
        dual_first: bool = False,
    ) -> None:
        self._highs = _new_highs(tolerance)
        self._highs.setOptionValue("presolve", "off")  # it would lose the basis, and a batch of columns is soon solved
        self._rows_changed = dual_first
        _check(self._highs.passModel(_highs_lp(maximize, matrix, costs, lower, upper, row_lower, row_upper, offset)))

    @property
    def num_columns(self) -> int:
        return int(self._highs.getNumCol())

    @property
    def num_rows(self) -> int:
        return int(self._highs.getNumRow())

    @property
    def simplex_iterations(self) -> int:
        """Simplex iterations of the last solve: zero shows that the basis was already optimal."""
        return int(self._highs.getInfo().simplex_iteration_count)

    def add_columns(
        self, costs: Floats, lower: Floats, upper: Floats, starts: Ints, rows: Ints, values: Floats
    ) -> None:
        """Append columns in one call; column j has entries ``starts[j]:starts[j + 1]`` of ``rows`` and ``values``."""
        _check_finite(costs, values)
        _check(self._highs.addCols(len(costs), costs, lower, upper, len(values), _int32(starts), _int32(rows), values))

    def add_rows(self, lower: Floats, upper: Floats, starts: Ints, columns: Ints, values: Floats) -> None:
        """Append rows in one call; row i has entries ``starts[i]:starts[i + 1]`` of ``columns`` and ``values``."""
        _check_finite(values)
        self._rows_changed = True
        _check(self._highs.addRows(len(lower), lower, upper, len(values), _int32(starts), _int32(columns), values))

    def delete_columns(self, columns: Ints) -> None:
        """Delete columns; if none of them is basic then the basis stays optimal."""
        _check(self._highs.deleteCols(len(columns), _int32(columns)))

    def change_costs(self, columns: Ints, costs: Floats) -> None:
        _check_finite(costs)
        _check(self._highs.changeColsCost(len(columns), _int32(columns), costs))

    def change_offset(self, offset: float) -> None:
        _check(self._highs.changeObjectiveOffset(offset))

    def change_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        self._rows_changed = True
        _check(self._highs.changeColsBounds(len(columns), _int32(columns), lower, upper))

    def change_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        self._rows_changed = True
        _check(
            self._highs.changeRowsBounds(  # type: ignore[attr-defined]  # missing in highspy's stubs
                len(rows), _int32(rows), lower, upper
            )
        )

    def basis(self) -> highspy.HighsBasis:
        """The current basis, to be handed back to :meth:`set_basis` (columns and rows may have been appended since)."""
        return self._highs.getBasis()

    def set_basis(self, basis: highspy.HighsBasis) -> None:
        """Start the next solve from ``basis``; columns appended since are at their lower bounds, rows are basic."""
        columns = list(basis.col_status)
        rows = list(basis.row_status)
        columns += [highspy.HighsBasisStatus.kLower] * (self.num_columns - len(columns))
        rows += [highspy.HighsBasisStatus.kBasic] * (self.num_rows - len(rows))
        whole = highspy.HighsBasis()
        whole.col_status, whole.row_status, whole.valid = columns, rows, True
        _check(self._highs.setBasis(whole))

    def basic_columns(self) -> NDArray[np.bool_]:
        """Mask of the columns in the current basis."""
        basic = highspy.HighsBasisStatus.kBasic
        return np.array([status == basic for status in self._highs.getBasis().col_status], dtype=bool)

    def solve(self, time_limit: float = INFINITY) -> LPSolution:
        """Solve from the current basis.

        Parameters
        ----------
        time_limit
            Seconds for this solve.

        Raises
        ------
        SolverError
            When HiGHS fails twice, the second time from a fresh start.
        """
        highs = self._highs
        # New columns and costs leave the basis primal feasible, new rows and bounds leave it dual feasible.
        highs.setOptionValue("simplex_strategy", _DUAL_SIMPLEX if self._rows_changed else _PRIMAL_SIMPLEX)
        self._rows_changed = False
        highs.setOptionValue("time_limit", highs.getRunTime() + max(time_limit, 0.0))
        status = _run(highs)
        if status not in (LPStatus.OPTIMAL, LPStatus.LIMIT):
            # A second opinion, by the other method and from a fresh start: beside sides of 1e8 the primal
            # simplex method has called a program of nonnegative costs unbounded.
            highs.clearSolver()
            highs.setOptionValue("simplex_strategy", _DUAL_SIMPLEX)
            status = _run(highs)
        if status is None:
            raise SolverError(f"HiGHS could not solve the linear program: {highs.getModelStatus()}")
        if status is not LPStatus.OPTIMAL:
            empty = np.empty(0)
            return LPSolution(status, float("nan"), empty, empty, empty)
        solution = highs.getSolution()
        no_columns = highs.getModelStatus() == highspy.HighsModelStatus.kModelEmpty  # HiGHS forgets the offset then
        return LPSolution(
            status,
            highs.getLp().offset_ if no_columns else highs.getInfo().objective_function_value,
            np.array(solution.col_value),
            np.array(solution.row_dual),
            np.array(solution.col_dual),
        )

    def interior_duals(self, time_limit: float = INFINITY) -> Floats | None:
        """Dual values in the interior of the optimal ones, by an interior point method without crossover.

        Where the dual optimum is not unique, the simplex method returns a corner of the optimal face, often an extreme
        one; this is a point near its middle, to about 1e-9 in relative terms.  The program and its basis stay as they
        are.  None if the method does not converge.
        """
        highs = _new_highs()
        highs.setOptionValue("solver", "ipx")
        highs.setOptionValue("run_crossover", "off")
        highs.setOptionValue("presolve", "off")  # what it removes gets dual values that are not feasible
        if time_limit < INFINITY:
            highs.setOptionValue("time_limit", max(time_limit, 0.0))
        lp = self._highs.getLp()
        sign = 1.0
        if lp.sense_ == highspy.ObjSense.kMaximize:  # HiGHS 1.15 returns these duals with the signs of minimising
            sign, lp.sense_ = -1.0, highspy.ObjSense.kMinimize
            lp.col_cost_ = -np.array(lp.col_cost_)
        _check(highs.passModel(lp))
        highs.run()
        solution = highs.getSolution()  # HiGHS calls its status unknown: what it holds is no vertex
        return sign * np.array(solution.row_dual) if solution.dual_valid else None

    def solve_for_duals(self) -> tuple[float, Floats]:
        """Optimum and dual values alone: for a loop over columns that is to cost no more than HiGHS itself."""
        highs = self._highs
        highs.setOptionValue("simplex_strategy", _PRIMAL_SIMPLEX)
        if _run(highs) is not LPStatus.OPTIMAL:
            raise SolverError(f"HiGHS could not solve the linear program: {highs.getModelStatus()}")
        return highs.getInfo().objective_function_value, np.array(highs.getSolution().row_dual)

    def solve_mip(
        self,
        integer: NDArray[np.bool_],
        time_limit: float = INFINITY,
        start: Floats | None = None,
        upper: Floats | None = None,
    ) -> MIPSolution:
        """Solve a copy of the program in which the columns of ``integer`` must be whole; the program stays as it is.

        Parameters
        ----------
        start
            A feasible point to start from, one value a column.
        upper
            Upper bounds that replace the program's own (zero switches a column off).
        """
        lp = self._highs.getLp()
        if upper is not None:
            lp.col_upper_ = upper
        return _solve_mip(lp, integer, time_limit, start)


def solve_mip(
    maximize: bool,
    matrix: sparse.csc_array,
    costs: Floats,
    lower: Floats,
    upper: Floats,
    row_lower: Floats,
    row_upper: Floats,
    integer: NDArray[np.bool_],
    offset: float = 0.0,
    time_limit: float = INFINITY,
) -> MIPSolution:
    """Solve a mixed-integer program from arrays (shapes as in :class:`LinearProgram`): presolve on, one thread."""
    lp = _highs_lp(maximize, matrix, costs, lower, upper, row_lower, row_upper, offset)
    return _solve_mip(lp, integer, time_limit, None)


def _solve_mip(lp: highspy.HighsLp, integer: NDArray[np.bool_], time_limit: float, start: Floats | None) -> MIPSolution:
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[flag] for flag in integer.astype(int)]
    highs = _new_highs()
    # A relative gap of HiGHS's default 1e-4 would call a solution optimal that is not.
    highs.setOptionValue("mip_rel_gap", 0.0)
    highs.setOptionValue("mip_abs_gap", 1e-9)
    if time_limit < INFINITY:
        highs.setOptionValue("time_limit", max(time_limit, 0.0))
    _check(highs.passModel(lp))
    if not lp.num_col_:  # HiGHS states no objective then
        feasible = all(low <= 0.0 for low in lp.row_lower_) and all(high >= 0.0 for high in lp.row_upper_)
        hopeless = -INFINITY if lp.sense_ == highspy.ObjSense.kMaximize else INFINITY
        if not feasible:
            return MIPSolution(LPStatus.INFEASIBLE, hopeless, hopeless, None, 0)
        return MIPSolution(LPStatus.OPTIMAL, lp.offset_, lp.offset_, np.empty(0), 0)
    if start is not None:
        point = highspy.HighsSolution()
        point.col_value = start.tolist()
        highs.setSolution(point)
    status = _run(highs, _run_interruptibly)
    if status is None:
        raise SolverError(f"HiGHS could not solve the mixed-integer program: {highs.getModelStatus()}")
    info = highs.getInfo()
    feasible = info.primal_solution_status == 2  # kSolutionStatusFeasible
    values = np.array(highs.getSolution().col_value) if feasible else None
    hopeless = -INFINITY if lp.sense_ == highspy.ObjSense.kMaximize else INFINITY
    return MIPSolution(
        status,
        info.objective_function_value if feasible else hopeless,
        hopeless if status is LPStatus.INFEASIBLE else info.mip_dual_bound,
        values,
        max(int(info.mip_node_count), 0),
    )


def _new_highs(tolerance: float = _FEASIBILITY_TOLERANCE) -> highspy.Highs:
    highs = highspy.Highs()
    highs.silent()
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("primal_feasibility_tolerance", tolerance)
    highs.setOptionValue("dual_feasibility_tolerance", tolerance)
    return highs


def _highs_lp(
    maximize: bool,
    matrix: sparse.csc_array,
    costs: Floats,
    lower: Floats,
    upper: Floats,
    row_lower: Floats,
    row_upper: Floats,
    offset: float,
) -> highspy.HighsLp:
    _check_finite(costs, matrix.data)
    if any(np.isnan(sides).any() for sides in (lower, upper, row_lower, row_upper)):
        raise SolverError("a bound of the linear program is not a number")
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = matrix.shape
    lp.sense_ = highspy.ObjSense.kMaximize if maximize else highspy.ObjSense.kMinimize
    lp.offset_ = offset
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = costs, lower, upper
    lp.row_lower_, lp.row_upper_ = row_lower, row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = _int32(matrix.indptr)
    lp.a_matrix_.index_ = _int32(matrix.indices)
    lp.a_matrix_.value_ = matrix.data.astype(np.float64)
    return lp


def _run(highs: highspy.Highs, run: Callable[[highspy.Highs], object] = highspy.Highs.run) -> LPStatus | None:
    """Run HiGHS; None means that it failed and a fresh start may help."""
    started = time.monotonic()
    run(highs)
    status = highs.getModelStatus()
    codes = highspy.HighsModelStatus
    if status == codes.kUnboundedOrInfeasible:  # presolve could not tell which
        limit = float(highs.getOptionValue("time_limit")[1])
        highs.setOptionValue("presolve", "off")
        highs.setOptionValue("time_limit", limit - (time.monotonic() - started))
        run(highs)
        status = highs.getModelStatus()
    if status == codes.kModelEmpty:  # HiGHS does not look at the rows of a program without columns
        lp = highs.getLp()
        holds = all(low <= 0.0 for low in lp.row_lower_) and all(high >= 0.0 for high in lp.row_upper_)
        return LPStatus.OPTIMAL if holds else LPStatus.INFEASIBLE
    if status == codes.kOptimal:
        return LPStatus.OPTIMAL
    if status == codes.kInfeasible:
        return LPStatus.INFEASIBLE
    if status in (codes.kUnbounded, codes.kUnboundedOrInfeasible):
        return LPStatus.UNBOUNDED
    if status in (codes.kTimeLimit, codes.kIterationLimit, codes.kInterrupt, codes.kMemoryLimit):
        return LPStatus.LIMIT
    return None


def _run_interruptibly(highs: highspy.Highs) -> None:
    """Run HiGHS in a thread of its own: Python sees Ctrl-C between its own steps, and a long solve is one step."""
    highs.HandleUserInterrupt = True
    highs.startSolve()
    # Not thread.join(): an interrupt makes it believe that the thread has ended.
    try:
        while not highs.wait(0.05)[0]:
            pass
    except KeyboardInterrupt:
        highs.cancelSolve()
        while not highs.wait(0.05)[0]:
            pass
        raise


def _check(status: highspy.HighsStatus) -> None:
    if status == highspy.HighsStatus.kError:
        raise SolverError("HiGHS refused a change of the linear program: an index or a value is out of range")


def _check_finite(*arrays: Floats) -> None:
    """HiGHS takes NaN for a number and solves on."""
    if not all(np.isfinite(array).all() for array in arrays):
        raise SolverError("a cost or a coefficient of the linear program is not a finite number")


def _int32(array: NDArray[np.integer] | Ints) -> NDArray[np.int32]:
    return np.asarray(array, dtype=np.int32)
