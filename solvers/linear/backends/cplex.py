"""CPLEX as a solver of growing linear programs."""

from __future__ import annotations

from typing import Any, ClassVar

import cplex
import numpy as np

from colgen.solvers.linear.backends.foreign import AT_UPPER, BASIC, ForeignBackend, Statuses, entries_of, large
from colgen.solvers.linear.highs import INFINITY, Floats, Ints, LPStatus, Stopped

_STATUSES = {
    1: LPStatus.OPTIMAL,
    2: LPStatus.UNBOUNDED,
    3: LPStatus.INFEASIBLE,
    10: LPStatus.LIMIT,
    11: LPStatus.LIMIT,
    13: LPStatus.LIMIT,
}
"""Status by CPLEX number: limits of iterations and of time, and an abort, are limits."""

_NO_VALUE = 1e15
"""CPLEX represents a missing side of a row by a large number: values near it belong to a ray."""


class CPLEXBackend(ForeignBackend):
    """A linear program in CPLEX."""

    name: ClassVar[str] = "cplex"
    title: ClassVar[str] = "CPLEX"

    errors = (cplex.exceptions.CplexError,)

    def _make(self) -> None:
        self._cplex = program = cplex.Cplex()
        for silence in (
            program.set_log_stream,
            program.set_results_stream,
            program.set_warning_stream,
            program.set_error_stream,
        ):
            silence(None)
        program.parameters.threads.set(1)
        program.parameters.preprocessing.presolve.set(0)  # it would lose the basis
        self._fresh = False

    def _set_sense(self, maximizes: bool) -> None:
        sense = self._cplex.objective.sense
        self._cplex.objective.set_sense(sense.maximize if maximizes else sense.minimize)

    @property
    def iterations(self) -> int:
        return int(self._cplex.solution.progress.get_num_iterations())

    def _add_columns(
        self, costs: Floats, lower: Floats, upper: Floats, starts: Ints, rows: Ints, values: Floats
    ) -> None:
        if len(costs):
            self._cplex.variables.add(
                obj=costs.tolist(),
                lb=large(lower, cplex.infinity),
                ub=large(upper, cplex.infinity),
                columns=[list(pair) for pair in entries_of(starts, rows, values)],
            )

    def _add_rows(self, lower: Floats, upper: Floats, starts: Ints, columns: Ints, values: Floats) -> None:
        if len(lower):
            senses, sides, widths = _rows(lower, upper)
            self._cplex.linear_constraints.add(
                lin_expr=[list(pair) for pair in entries_of(starts, columns, values)],
                senses=senses,
                rhs=sides,
                range_values=widths,
            )

    def _delete_columns(self, columns: Ints) -> None:
        self._cplex.variables.delete(columns.tolist())

    def _delete_rows(self, rows: Ints) -> None:
        self._cplex.linear_constraints.delete(rows.tolist())

    def _change_costs(self, columns: Ints, costs: Floats) -> None:
        if len(columns):
            self._cplex.objective.set_linear(list(zip(columns.tolist(), costs.tolist(), strict=True)))

    def _change_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        if len(columns):
            places, variables = columns.tolist(), self._cplex.variables
            variables.set_lower_bounds(list(zip(places, large(lower, cplex.infinity), strict=True)))
            variables.set_upper_bounds(list(zip(places, large(upper, cplex.infinity), strict=True)))

    def _change_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        if len(rows):
            senses, sides, widths = _rows(lower, upper)
            places, constraints = rows.tolist(), self._cplex.linear_constraints
            constraints.set_senses(list(zip(places, senses, strict=True)))
            constraints.set_rhs(list(zip(places, sides, strict=True)))
            constraints.set_range_values(
                [(p, w) for p, w, sense in zip(places, widths, senses, strict=True) if sense == "R"]
            )

    def _set_tolerance(self, tolerance: float) -> None:
        tolerances = self._cplex.parameters.simplex.tolerances
        tolerances.feasibility.set(max(tolerance, 1e-9))
        tolerances.optimality.set(max(tolerance, 1e-9))

    def _basis(self) -> tuple[Statuses, Statuses]:
        try:
            columns, rows = self._cplex.solution.basis.get_basis()
        except cplex.exceptions.CplexSolverError:  # no basis yet
            return np.zeros(self.num_columns, dtype=np.int64), np.full(self.num_rows, BASIC, dtype=np.int64)
        return np.array(columns, dtype=np.int64), np.array(rows, dtype=np.int64)

    def _set_basis(self, columns: Statuses, rows: Statuses) -> None:
        program = self.record.highs.getLp()
        ranges = np.isfinite(program.row_lower_) & np.isfinite(program.row_upper_)
        rows = np.where((rows == BASIC) | ((rows == AT_UPPER) & ranges), rows, 0)
        self._cplex.start.set_start(columns.tolist(), rows.tolist(), [], [], [], [])

    def _forget(self) -> None:
        self._fresh = True

    def _run(self, by_dual: bool, seconds: float, stopped: Stopped | None) -> LPStatus | None:
        return self._run_in_slices(by_dual, seconds, stopped)

    def _run_for(self, by_dual: bool, seconds: float) -> LPStatus | None:
        parameters = self._cplex.parameters
        parameters.advance.set(0 if self._fresh else 1)
        parameters.lpmethod.set(2 if by_dual else 1)
        parameters.timelimit.set(min(seconds, 1e75))
        self._fresh = False
        self._cplex.solve()
        status = _STATUSES.get(self._cplex.solution.get_status())
        if status is LPStatus.OPTIMAL and np.abs(self._cplex.solution.get_values()).max() >= _NO_VALUE:
            return LPStatus.UNBOUNDED
        return status

    def describe_status(self) -> str:
        return str(self._cplex.solution.get_status_string())

    def _solution(self) -> tuple[float, Floats, Floats, Floats]:
        found = self._cplex.solution
        values, reduced = np.array(found.get_values()), np.array(found.get_reduced_costs())
        duals = np.array(found.get_dual_values()) if self.num_rows else np.empty(0)
        return found.get_objective_value(), values, duals, reduced


def _rows(lower: Floats, upper: Floats) -> tuple[str, list[float], list[float]]:
    """Return senses, right-hand sides, and widths of ranges."""
    free, one_sided = np.isneginf(lower), np.isposinf(upper)
    senses: Any = np.where(lower == upper, "E", np.where(free, "L", np.where(one_sided, "G", "R")))
    widths = np.where(senses == "R", np.where(senses == "R", upper, 0.0) - np.where(senses == "R", lower, 0.0), 0.0)
    return "".join(senses), large(np.where(free, upper, lower), min(cplex.infinity, INFINITY)), widths.tolist()
