r"""Growing linear programs, in HiGHS or another solver: arrays in, arrays out.

The linear program is, in the caller's own sense (minimise or maximise),

    opt  cᵀx + c₀    subject to    rᴸ ≤ A x ≤ rᵁ   [π],    l ≤ x ≤ u.

It grows by batches of columns and rows while the solver keeps its basis, so each solve starts where the last one ended.
The dual values satisfy ``reduced cost = c_j - πᵀa_j`` in either sense: π_i is the change of the optimum per unit of the
right-hand side of row i.

The solver receives the program scaled by powers of two, which is exact: each row by the size of its sides and entries,
the objective by the size of the costs in the solution.  The solver's absolute tolerances are then relative, and a
program with all costs multiplied by a power of two is the same program to it.  All arrays here are in the caller's
units.

:mod:`colgen.solvers.linear.backends` selects the solver.  Copies of a program (with integer columns, or solved by an
interior point method) always use HiGHS.  Source: Q. Huangfu and J. A. J. Hall, *Parallelizing the dual revised simplex
method*, Mathematical Programming Computation 10 (2018).
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.solvers.linear.backends.highs import HighsBackend
from colgen.solvers.linear.backends.protocol import LPBackend
from colgen.solvers.linear.backends.registry import new_backend
from colgen.solvers.linear.bases import basis_of, extend_basis
from colgen.solvers.linear.highs import (
    FEASIBILITY_TOLERANCE,
    INFINITY,
    Floats,
    Ints,
    LPStatus,
    SolverError,
    Stopped,
    basic_columns,
    check_finite,
    highs_lp,
    not_finite_error,
)
from colgen.solvers.linear.interior import interior_duals
from colgen.solvers.linear.last_solution import PresentPoint
from colgen.solvers.linear.mip import MIPSolution, solve_built_mip
from colgen.solvers.linear.options import Options
from colgen.solvers.linear.program import Program
from colgen.solvers.linear.retries import run_or_retry
from colgen.solvers.linear.scaling import FAR, SCALINGS, better_scale, row_sizes, typical_size
from colgen.solvers.linear.units import from_solver, to_solver

__all__ = ["LPSolution", "LPStatus", "LinearProgram", "SolverError", "Stopped"]


@dataclass(frozen=True, slots=True)
class LPSolution:
    """Result of one solve of a linear program.

    ``status`` is why the solve ended; the arrays are valid for ``OPTIMAL`` only.  ``objective`` includes the constant
    term.  ``values`` and ``reduced_costs`` have one entry per column, ``duals`` one per row.
    """

    status: LPStatus
    objective: float
    values: Floats
    duals: Floats
    reduced_costs: Floats


class LinearProgram:
    """A linear program held by its solver, warm-started from solve to solve.

    Parameters
    ----------
    program : the initial linear program
    tolerance : primal and dual feasibility tolerance, relative to the sizes of rows and costs
    dual_first : start with the dual simplex method
        If all columns are present and equality rows exclude the zero point, it has been 5 to 30 times faster than the
        primal one.
    sizes : size of each row, a power of two; by default that of its largest side or entry
    units : units in which the solver counts the columns, powers of two; by default 1
    options : HiGHS options by name, validated by :func:`colgen.solvers.linear.options.check_options`
    backend : name of the solver, validated by :func:`colgen.solvers.linear.backends.registry.check_backend`
    scale : size of the costs in solutions, a power of two; by default estimated from all costs
    """

    def __init__(
        self,
        program: Program,
        *,
        tolerance: float = FEASIBILITY_TOLERANCE,
        dual_first: bool = False,
        sizes: Floats | None = None,
        units: Floats | None = None,
        options: Options | None = None,
        backend: str = HighsBackend.name,
        scale: float | None = None,
    ) -> None:
        self._tolerance = tolerance
        self._point = PresentPoint()
        self._backend: LPBackend = new_backend(backend, tolerance, options or {})
        self._rows_changed = dual_first
        self._present: highspy.HighsBasis | None = None
        check_finite(program.costs, program.matrix.data)
        if sizes is None:
            sizes = row_sizes(program.matrix, program.row_lower, program.row_upper)
        self._rows = 1.0 / np.where(sizes > 0.0, sizes, 1.0)
        self._costs = np.array(program.costs, dtype=float)
        self._units = np.ones(len(self._costs)) if units is None else units
        self._offset = program.offset
        self._finest = np.inf
        self._factor = 1.0 / (scale or typical_size(self._costs * self._units))
        self._has_cost = bool(self._costs.any())
        self._backend.load(highs_lp(program.scaled(self._rows, self._units, self._factor)))

    @property
    def backend(self) -> LPBackend:
        """The solver that holds the program."""
        return self._backend

    @property
    def cost_scale(self) -> float:
        """Size of the costs in the last optimum, a power of two; 0 if it has no cost."""
        return 1.0 / self._factor if self._has_cost else 0.0

    def refine(self, scale: float) -> None:
        """Use this scale of costs or a smaller one until the objective changes."""
        self._finest = scale
        if self._factor * scale < 1.0:
            self._scale_costs(1.0 / scale)

    def set_sizes(self, rows: Ints, sizes: Floats, columns: Ints, units: Floats, costs: Floats) -> None:
        """Set the sizes of rows without any, and the units and costs of the columns whose only entry is in these rows.

        The sides of such rows are zero or infinite, and the only entry of a column is unchanged in its new unit, so
        only the costs are passed to the solver.
        """
        self._rows[rows] = 1.0 / sizes
        self._units[columns] = units
        self._change_costs(columns, costs)

    @property
    def num_columns(self) -> int:
        return self._backend.num_columns

    @property
    def num_rows(self) -> int:
        return self._backend.num_rows

    @property
    def simplex_iterations(self) -> int:
        """Simplex iterations of the last solve; zero if the basis was already optimal."""
        return self._backend.iterations

    def add_columns(
        self, costs: Floats, lower: Floats, upper: Floats, starts: Ints, rows: Ints, values: Floats
    ) -> None:
        """Append columns in one call; column j has entries ``starts[j]:starts[j + 1]`` of ``rows`` and ``values``."""
        finite, there, largest, scaled_costs, scaled_values = to_solver(costs, rows, values, self._rows, self._factor)
        if not finite:
            raise not_finite_error()
        if not there:
            raise SolverError(f"a column of the linear program has an entry outside its {len(self._rows)} rows")
        first = not self._costs.any()
        both = np.concatenate([self._costs, costs])
        if first or largest * self._factor > FAR:
            self._scale_costs(1.0 / typical_size(costs if first else both))
            scaled_costs = costs * self._factor
        self._costs = both
        self._point.join(lower, upper)
        self._units = np.concatenate([self._units, np.ones(len(costs))])
        self._backend.add_columns(scaled_costs, lower, upper, starts, rows, scaled_values)

    def add_rows(
        self, lower: Floats, upper: Floats, starts: Ints, columns: Ints, values: Floats, sizes: Floats | None = None
    ) -> None:
        """Append rows in one call; row i has entries ``starts[i]:starts[i + 1]`` of ``columns`` and ``values``.

        ``sizes`` are as in the constructor.
        """
        check_finite(values)
        if sizes is None:
            shape = (len(lower), max(int(columns.max(initial=0)) + 1, 1))
            sizes = row_sizes(sparse.csr_array((values, columns, starts), shape=shape), lower, upper)
        factors = 1.0 / np.where(sizes > 0.0, sizes, 1.0)
        self._rows = np.concatenate([self._rows, factors])
        # Rows satisfied at the current basic solution, such as those added with columns, keep it primal feasible.
        if not self._point.satisfies(lower, upper, starts, columns, values, self._tolerance / factors):
            self._rows_changed = True
        values = values * np.repeat(factors, np.diff(starts)) * self._units[columns]
        lower, upper = lower * factors, upper * factors
        self._backend.add_rows(lower, upper, starts, columns, values)

    def delete_columns(self, columns: Ints) -> None:
        """Delete columns; the basis stays optimal if none of them is basic."""
        self._present = None
        self._point.forget()
        self._backend.delete_columns(columns)
        self._costs = np.delete(self._costs, columns)
        self._units = np.delete(self._units, columns)

    def delete_rows(self, rows: Ints) -> None:
        """Delete rows; the basis stays optimal if all their slacks are basic."""
        self._present = None
        self._rows_changed = True
        self._backend.delete_rows(rows)
        self._rows = np.delete(self._rows, rows)

    def change_objective(self, costs: Floats, offset: float) -> None:
        """Replace the costs of all columns and the constant term."""
        check_finite(costs)
        self._costs, self._offset, self._finest = np.array(costs, dtype=float), offset, np.inf
        self._scale_costs(1.0 / typical_size(self._costs * self._units))

    def _scale_costs(self, factor: float) -> None:
        self._factor = factor = max(factor, 1.0 / self._finest)
        count = len(self._costs)
        self._backend.change_costs(np.arange(count), self._costs * self._units * factor)
        self._backend.change_offset(self._offset * factor)

    def change_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        self._rows_changed = True
        self._point.forget()
        if len(columns) and not 0 <= columns.min() <= columns.max() < len(self._units):
            raise SolverError(f"the index of a changed column is out of range: expected 0 to {len(self._units) - 1}")
        units = self._units[columns]
        self._backend.change_bounds(columns, lower / units, upper / units)

    def change_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        self._rows_changed = True
        self._backend.change_row_bounds(rows, lower * self._rows[rows], upper * self._rows[rows])

    def basis(self) -> highspy.HighsBasis:
        """Return the current basis, valid for :meth:`set_basis` even after columns and rows are appended."""
        self._present = self._backend.basis()
        return self._present

    def set_basis(self, basis: highspy.HighsBasis, places: Ints | None = None) -> None:
        """Start the next solve from ``basis``, extended as by :func:`colgen.solvers.linear.bases.extend_basis`."""
        if basis is self._present and places is None:
            return  # no solve since it was saved: appended columns and rows have joined it as described
        self._present = None
        self._point.forget()
        if not self._backend.set_basis(extend_basis(basis, self.num_columns, self.num_rows, places)):
            raise SolverError(f"{self._backend.title} rejects the basis")

    def begin_at(self, columns: NDArray[np.bool_], rows: NDArray[np.bool_], *, feasible: bool = False) -> bool:
        """Start the next solve from these basic columns and slacks.  Return False if there are too many or too few.

        With ``feasible`` the basis is primal feasible, and the primal simplex method is used.
        """
        if np.count_nonzero(columns) + np.count_nonzero(rows) != self.num_rows:
            return False
        self._present = None
        self._point.forget()
        taken = self._backend.set_basis(basis_of(columns, rows))
        if taken and feasible:
            self._rows_changed = False
        return taken

    def basic_columns(self) -> NDArray[np.bool_]:
        """Return a mask of the columns in the current basis."""
        return basic_columns(self._backend.basis())

    def solve(self, time_limit: float = INFINITY, stopped: Stopped | None = None) -> LPSolution:
        """Solve from the current basis within ``time_limit`` seconds.

        ``stopped`` is checked several times per second; True ends the solve with status ``LIMIT``.

        Raises
        ------
        SolverError
            If the solver also fails from a fresh start and with a looser tolerance.
        """
        backend, deadline = self._backend, time.monotonic() + time_limit
        # New columns and costs leave the basis primal feasible, new rows and bounds leave it dual feasible.
        by_dual, self._rows_changed = self._rows_changed, False
        self._present = None
        self._point.forget()
        status = run_or_retry(backend, self._tolerance, by_dual, deadline, stopped)
        if status is None:  # the scale of the last optimum's costs may be wrong for this one
            self._scale_costs(1.0 / typical_size(self._costs * self._units))
            status = run_or_retry(backend, self._tolerance, False, deadline, stopped)
        for attempt in range(SCALINGS + 1):
            if status is not LPStatus.OPTIMAL:
                break
            found, factor = backend.solution(), self._factor
            used, values, duals, reduced_costs = from_solver(
                found.values, found.duals, found.reduced_costs, self._costs, self._units, self._rows, factor
            )
            if attempt == SCALINGS or not self._scale_again(used):
                break
            status = run_or_retry(backend, self._tolerance, False, deadline, stopped)
            if status not in (LPStatus.OPTIMAL, LPStatus.UNBOUNDED, LPStatus.LIMIT):
                # With penalties in the solution, dual values at the scale of the other costs may overflow: keep the
                # optimum at the scale of the penalties.
                self._scale_costs(factor)
                status = LPStatus.OPTIMAL
                break
        if status is None:
            raise SolverError(f"{backend.title} could not solve the linear program: {backend.describe_status()}")
        if status is not LPStatus.OPTIMAL:
            empty = np.empty(0)
            return LPSolution(status, float("nan"), empty, empty, empty)
        self._point.move(values)
        self._has_cost = used > 0.0
        return LPSolution(
            status,
            # Without columns HiGHS drops the offset.
            found.objective / self._factor if len(values) else self._offset,
            values,
            duals,
            reduced_costs,
        )

    def solve_without(self, columns: Ints, time_limit: float = INFINITY, stopped: Stopped | None = None) -> LPSolution:
        """Solve with some columns fixed at zero and without costs; the program is unchanged afterwards."""
        low, high = self._bounds(columns)
        costs = self._costs[columns]
        nothing = np.zeros(len(columns))
        changed = self._rows_changed
        self.change_bounds(columns, nothing, nothing)
        self._change_costs(columns, nothing)
        try:
            return self.solve(time_limit, stopped)
        finally:
            self.change_bounds(columns, low, high)
            self._change_costs(columns, costs)
            self._rows_changed = changed

    def _bounds(self, columns: Ints) -> tuple[Floats, Floats]:
        lp, units = self._backend.program(), self._units[columns]
        return np.array(lp.col_lower_)[columns] * units, np.array(lp.col_upper_)[columns] * units

    def _change_costs(self, columns: Ints, costs: Floats) -> None:
        self._costs[columns] = costs
        self._backend.change_costs(columns, costs * self._units[columns] * self._factor)

    def _scale_again(self, used: float) -> bool:
        """Scale the costs by those in the optimum if these are far from the current scale; return whether they were."""
        costs = self._costs if used else self._costs * self._units  # needed only if the optimum has no cost
        scale = better_scale(costs, used, 1.0 / self._factor)
        if scale is None or self._factor * min(scale, self._finest) == 1.0:
            return False
        self._scale_costs(1.0 / scale)
        return True

    def interior_duals(self, time_limit: float = INFINITY) -> Floats | None:
        """Return dual values in the interior of the optimal ones, by an interior point method without crossover.

        If the dual optimum is not unique, the simplex method returns a vertex of the optimal face, often an extreme
        one.  This point is near its centre, with a relative accuracy of about 1e-9.  The program and its basis are
        unchanged.  The result is None if the method does not converge.
        """
        found = interior_duals(self._backend.program(), time_limit)
        return None if found is None else found * self._rows / self._factor

    def solve_for_duals(self) -> tuple[float, Floats]:
        """Solve and return only optimum and dual values, with little overhead over the solver itself."""
        backend = self._backend
        self._present = None
        self._point.forget()
        if backend.run(False, INFINITY, None) is not LPStatus.OPTIMAL:
            raise SolverError(f"{backend.title} could not solve the linear program: {backend.describe_status()}")
        found = backend.solution()
        return found.objective / self._factor, found.duals * self._rows / self._factor

    def solve_mip(
        self,
        integer: NDArray[np.bool_],
        time_limit: float = INFINITY,
        start: Floats | None = None,
        upper: Floats | None = None,
        stopped: Stopped | None = None,
        work: float = INFINITY,
        without: Ints | None = None,
    ) -> MIPSolution:
        """Solve a copy of the program in which the columns of ``integer`` are integer.

        ``start`` is a feasible point.  ``upper`` replaces the upper bounds of the program (zero removes a column).  The
        program is solved ``without`` some rows.
        Limits are as for :meth:`solve` and :func:`colgen.solvers.linear.mip.solve_mip`.
        """
        lp = self._backend.program()
        if upper is not None:
            lp.col_upper_ = upper / self._units
        if without is not None and len(without):
            lower, above = np.array(lp.row_lower_), np.array(lp.row_upper_)
            lower[without], above[without] = -INFINITY, INFINITY
            lp.row_lower_, lp.row_upper_ = lower, above
        point = None if start is None else start / self._units
        return solve_built_mip(lp, integer, time_limit, point, stopped, self._factor, self._units, work=work)
