"""Xpress as a solver of growing linear programs."""

from __future__ import annotations

import functools
import warnings
from typing import Any, ClassVar

import numpy as np
import xpress

from colgen.solvers.linear.backends.foreign import AT_LOWER, AT_UPPER, ForeignBackend, Statuses, large
from colgen.solvers.linear.highs import Floats, Ints, LPStatus, Stopped

_STATUSES = {
    xpress.LPStatus.OPTIMAL: LPStatus.OPTIMAL,
    xpress.LPStatus.INFEAS: LPStatus.INFEASIBLE,
    xpress.LPStatus.UNBOUNDED: LPStatus.UNBOUNDED,
    xpress.LPStatus.UNFINISHED: LPStatus.LIMIT,
}


@functools.cache
def _load_licence() -> None:
    """Load the installed licence, or the community licence without its notice."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        xpress.problem()


class XpressBackend(ForeignBackend):
    """A linear program in Xpress."""

    name: ClassVar[str] = "xpress"
    title: ClassVar[str] = "Xpress"

    errors = (xpress.SolverError, xpress.InterfaceError, xpress.ModelError)

    def _make(self) -> None:
        _load_licence()
        self._problem = xpress.problem()
        controls = self._problem.controls
        controls.outputlog = 0
        controls.threads = 1
        controls.presolve = 0  # it would lose the basis
        self._iterations, self._status = 0, "not solved"

    def _set_sense(self, maximizes: bool) -> None:
        self._problem.chgObjSense(xpress.ObjSense.MAXIMIZE if maximizes else xpress.ObjSense.MINIMIZE)

    @property
    def iterations(self) -> int:
        return self._iterations

    def _add_columns(
        self, costs: Floats, lower: Floats, upper: Floats, starts: Ints, rows: Ints, values: Floats
    ) -> None:
        if len(costs):
            low, high = large(lower, xpress.infinity), large(upper, xpress.infinity)
            self._problem.addCols(costs.tolist(), starts.tolist(), rows.tolist(), values.tolist(), low, high)

    def _add_rows(self, lower: Floats, upper: Floats, starts: Ints, columns: Ints, values: Floats) -> None:
        if len(lower):
            kinds, sides, widths = _rows(lower, upper)
            self._problem.addRows(kinds, sides, widths, starts.tolist(), columns.tolist(), values.tolist())

    def _delete_columns(self, columns: Ints) -> None:
        self._problem.delCols(columns.tolist())

    def _delete_rows(self, rows: Ints) -> None:
        self._problem.delRows(rows.tolist())

    def _change_costs(self, columns: Ints, costs: Floats) -> None:
        if len(columns):
            self._problem.chgObj(columns.tolist(), costs.tolist())

    def _change_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        if len(columns):
            places, count = columns.tolist(), len(columns)
            values = large(lower, xpress.infinity) + large(upper, xpress.infinity)
            self._problem.chgBounds(places + places, ["L"] * count + ["U"] * count, values)

    def _change_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        if len(rows):
            kinds, sides, widths = _rows(lower, upper)
            places = rows.tolist()
            self._problem.chgRowType(places, kinds)
            self._problem.chgRHS(places, sides)
            ranges = [(p, w) for p, w, kind in zip(places, widths, kinds, strict=True) if kind == "R"]
            if ranges:
                self._problem.chgRHSRange([p for p, _ in ranges], [w for _, w in ranges])

    def _set_tolerance(self, tolerance: float) -> None:
        self._problem.controls.feastol = self._problem.controls.optimalitytol = tolerance

    def _basis(self) -> tuple[Statuses, Statuses]:
        rows, columns = self._problem.getBasis()
        return np.array([int(one) for one in columns]), _flip(np.array([int(one) for one in rows], dtype=np.int64))

    def _set_basis(self, columns: Statuses, rows: Statuses) -> None:
        self._problem.loadBasis(_flip(rows).tolist(), columns.tolist())

    def _forget(self) -> None:
        self._problem.loadBasis([1] * self.num_rows, [0] * self.num_columns)

    def _run(self, by_dual: bool, seconds: float, stopped: Stopped | None) -> LPStatus | None:
        self._iterations = 0
        return self._run_in_slices(by_dual, seconds, stopped)

    def _run_for(self, by_dual: bool, seconds: float) -> LPStatus | None:
        problem = self._problem
        problem.controls.timelimit = min(seconds, 1e9)
        problem.lpOptimize("d" if by_dual else "p")
        self._iterations += problem.attributes.simplexiter
        status = xpress.LPStatus(problem.attributes.lpstatus)
        self._status = status.name.lower()
        return _STATUSES.get(status)

    def describe_status(self) -> str:
        return self._status

    def _solution(self) -> tuple[float, Floats, Floats, Floats]:
        problem = self._problem
        duals = np.array(problem.getDuals(), dtype=float) if self.num_rows else np.empty(0)
        values, reduced = np.array(problem.getSolution()), np.array(problem.getRedCosts())
        return problem.attributes.lpobjval, values, duals, reduced


def _flip(rows: Statuses) -> Statuses:
    """Convert statuses between rows and slacks: a slack is at its lower bound if its row is at its upper side."""
    turned: Statuses = np.where(rows == AT_LOWER, AT_UPPER, np.where(rows == AT_UPPER, AT_LOWER, rows))
    return turned


def _rows(lower: Floats, upper: Floats) -> tuple[list[str], list[float], list[float]]:
    """Return kinds, right-hand sides, and widths of ranges below them."""
    free_below, free_above = np.isneginf(lower), np.isposinf(upper)
    one_sided = np.where(free_below, np.where(free_above, "N", "L"), np.where(free_above, "G", "R"))
    kinds: Any = np.where(lower == upper, "E", one_sided)
    sides = np.where(free_above, np.where(free_below, 0.0, lower), upper)
    widths = [high - low if kind == "R" else 0.0 for low, high, kind in zip(lower, upper, kinds, strict=True)]
    return kinds.tolist(), sides.tolist(), widths
