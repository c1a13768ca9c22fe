"""CLP as a solver of growing linear programs, through the package cylp."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from cylp import cy

from colgen.solvers.linear.backends.foreign import AT_LOWER, AT_UPPER, AT_ZERO, BASIC, ForeignBackend, Statuses
from colgen.solvers.linear.highs import Floats, Ints, LPStatus, Stopped, holds_at_zero

_INFINITY = float(np.finfo(np.float64).max)

_SLICE, _LONGEST = 500, 100_000
"""Iterations of the first run, and of the longest: CLP has no time limit here."""

_SOLVED, _INFEASIBLE, _UNBOUNDED, _STOPPED, _GO_ON = 0, 1, 2, 3, 10
"""CLP's status; the last two: a limit was reached, and the primal method must continue."""

# CLP uses the opposite sign for the slack of a row.
_COLUMNS = {AT_LOWER: 3, BASIC: 1, AT_UPPER: 2, AT_ZERO: 0}
_ROWS = {AT_LOWER: 2, BASIC: 1, AT_UPPER: 3, AT_ZERO: 0}


def _table(codes: dict[int, int]) -> Statuses:
    return np.array([code for _, code in sorted(codes.items())], dtype=np.int32)


def _back(codes: dict[int, int]) -> Statuses:
    return np.array([ours for _, ours in sorted((code, ours) for ours, code in codes.items())], dtype=np.int64)


class CLPBackend(ForeignBackend):
    """A linear program in CLP."""

    name: ClassVar[str] = "clp"
    title: ClassVar[str] = "CLP"

    errors = (Exception,)  # cylp raises no specific exceptions

    def _make(self) -> None:
        self._lp = cy.CyClpSimplex()
        self._lp.logLevel = 0
        self._lp.setPerturbation(100)  # off: its remainder exceeds rounding errors
        self._lp.scaling = 0  # off: the program is scaled, and tolerances apply to it as given
        self._iterations, self._status = 0, "not solved"

    def _set_sense(self, maximizes: bool) -> None:
        self._lp.optimizationDirection = "max" if maximizes else "min"

    @property
    def iterations(self) -> int:
        return self._iterations

    def _add_columns(
        self, costs: Floats, lower: Floats, upper: Floats, starts: Ints, rows: Ints, values: Floats
    ) -> None:
        if len(costs):
            self._lp.addVariables(len(costs), _ends(lower), _ends(upper), _of(costs), *_sparse(starts, rows, values))

    def _add_rows(self, lower: Floats, upper: Floats, starts: Ints, columns: Ints, values: Floats) -> None:
        if len(lower):
            self._lp.addConstraints(len(lower), _ends(lower), _ends(upper), *_sparse(starts, columns, values))

    def _delete_columns(self, columns: Ints) -> None:
        self._lp.CLP_deleteVariables(columns.astype(np.int32))

    def _delete_rows(self, rows: Ints) -> None:
        self._lp.CLP_deleteConstraints(rows.astype(np.int32))

    def _change_costs(self, columns: Ints, costs: Floats) -> None:
        for column, cost in zip(columns.tolist(), costs.tolist(), strict=True):
            self._lp.setObjectiveCoefficient(column, cost)

    def _change_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        for column, low, high in zip(columns.tolist(), _ends(lower).tolist(), _ends(upper).tolist(), strict=True):
            self._lp.setColumnLower(column, low)
            self._lp.setColumnUpper(column, high)

    def _change_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        for row, low, high in zip(rows.tolist(), _ends(lower).tolist(), _ends(upper).tolist(), strict=True):
            self._lp.setRowLower(row, low)
            self._lp.setRowUpper(row, high)

    def _set_tolerance(self, tolerance: float) -> None:
        self._tolerance = self._lp.primalTolerance = self._lp.dualTolerance = tolerance

    def _basis(self) -> tuple[Statuses, Statuses]:
        columns, rows = self._lp.getBasisStatus()
        return _back(_COLUMNS)[columns], _back(_ROWS)[rows]

    def _set_basis(self, columns: Statuses, rows: Statuses) -> None:
        self._lp.setBasisStatus(_table(_COLUMNS)[columns], _table(_ROWS)[rows])

    def _forget(self) -> None:
        columns = np.full(self.num_columns, AT_LOWER, dtype=np.int64)
        self._set_basis(*self._fix_statuses(columns, np.full(self.num_rows, BASIC, dtype=np.int64)))

    def _run(self, by_dual: bool, seconds: float, stopped: Stopped | None) -> LPStatus | None:
        lp, deadline, part = self._lp, time.monotonic() + seconds, _SLICE
        self._iterations = 0
        if self._is_empty() and not holds_at_zero(self.record.program()):  # CLP reports an error for these
            self._status = "rows without entries"
            return LPStatus.INFEASIBLE
        while True:
            lp.maxNumIteration = part
            code = self._simplex(by_dual)
            if code == _STOPPED:
                if time.monotonic() >= deadline or (stopped is not None and stopped()):
                    return LPStatus.LIMIT
                part = min(2 * part, _LONGEST)
            elif code == _GO_ON:
                by_dual = False
            else:
                break
        if code == _SOLVED and by_dual:  # the artificial bounds of the dual method leave small errors
            code = self._simplex(False)
        if code == _SOLVED and not self._is_feasible():
            return None
        return {_SOLVED: LPStatus.OPTIMAL, _INFEASIBLE: LPStatus.INFEASIBLE, _UNBOUNDED: LPStatus.UNBOUNDED}.get(code)

    def _simplex(self, by_dual: bool) -> int:
        """Run one of the two methods.  Return CLP's status."""
        lp = self._lp
        with contextlib.suppress(IndexError):  # cylp does not define the status "continue with the primal method"
            (lp.dual if by_dual else lp.primal)()
        self._iterations += lp.iteration
        code = int(lp.getStatusCode())
        self._status = f"status {code}"
        return code

    def _is_empty(self) -> bool:
        return bool(self.record.highs.getNumNz() == 0)

    def _is_feasible(self) -> bool:
        """Return whether CLP's optimal point is feasible: it has reported infeasible programs as solved."""
        program, values = self.record.highs.getLp(), np.array(self._lp.primalVariableSolution)
        moved = np.array(self._lp.primalConstraintSolution)
        room = 10.0 * self._tolerance
        return _within(values, program.col_lower_, program.col_upper_, room) and _within(
            moved, program.row_lower_, program.row_upper_, room
        )

    def describe_status(self) -> str:
        return self._status

    def _solution(self) -> tuple[float, Floats, Floats, Floats]:
        lp = self._lp
        values, duals = np.array(lp.primalVariableSolution), np.array(lp.dualConstraintSolution)
        reduced = np.array(lp.dualVariableSolution)
        if self._is_empty():  # CLP uses another sign for these
            duals, reduced = np.zeros(self.num_rows), np.array(self.record.highs.getLp().col_cost_)
        # CLP's own objective is that of the perturbed program.
        return float(np.array(self.record.highs.getLp().col_cost_) @ values), values, duals, reduced


def _of(array: Floats) -> Floats:
    return np.ascontiguousarray(array, dtype=np.float64)


def _ends(array: Floats) -> Floats:
    return _of(np.clip(array, -_INFINITY, _INFINITY))


def _sparse(starts: Ints, indices: Ints, values: Floats) -> tuple[Ints, Ints, Floats]:
    return (
        np.ascontiguousarray(starts, dtype=np.int32),
        np.ascontiguousarray(indices, dtype=np.int32),
        _of(values),
    )


def _within(values: Floats, lower: Sequence[float], upper: Sequence[float], room: float) -> bool:
    low, high = np.array(lower), np.array(upper)
    sizes = 1.0 + np.abs(values)
    return bool(((values >= low - room * sizes) & (values <= high + room * sizes)).all())
