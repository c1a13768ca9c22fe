"""Gurobi as a solver of growing linear programs.

Gurobi has no range rows: such a row becomes an equation with an extra column, which is hidden here.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import gurobipy as gp
import numpy as np

from colgen.solvers.linear.backends.foreign import (
    AT_LOWER,
    AT_UPPER,
    AT_ZERO,
    BASIC,
    ForeignBackend,
    Statuses,
    entries_of,
)
from colgen.solvers.linear.highs import Floats, Ints, LPStatus, Stopped

_OPTIMAL, _INFEASIBLE, _UNBOUNDED = gp.GRB.OPTIMAL, gp.GRB.INFEASIBLE, gp.GRB.UNBOUNDED
_LIMITS = (gp.GRB.TIME_LIMIT, gp.GRB.ITERATION_LIMIT, gp.GRB.INTERRUPTED, gp.GRB.WORK_LIMIT, gp.GRB.MEM_LIMIT)

_TO_GUROBI = {AT_LOWER: -1, BASIC: 0, AT_UPPER: -2, AT_ZERO: -3}
_FROM_GUROBI = {theirs: ours for ours, theirs in _TO_GUROBI.items()}


@functools.cache
def _environment() -> gp.Env:
    """Return one environment per process, which acquires the licence once."""
    return gp.Env(params={"OutputFlag": 0, "Threads": 1})


class GurobiBackend(ForeignBackend):
    """A linear program in Gurobi."""

    name: ClassVar[str] = "gurobi"
    title: ClassVar[str] = "Gurobi"

    errors = (gp.GurobiError,)

    def _make(self) -> None:
        self._model = gp.Model(env=_environment())
        # Presolve would lose the basis, and could not distinguish infeasible from unbounded programs.
        self._model.Params.Presolve = 0
        self._columns: list[gp.Var] = []
        self._rows: list[gp.Constr] = []
        self._widths: dict[gp.Constr, gp.Var] = {}
        """For rows that are or were ranges: the column for the distance from the lower side."""
        self._old = (0, 0)
        """Columns and rows at the last run: only these are in its basis."""
        self._given: tuple[Statuses, Statuses] | None = None
        """A basis that no run has used yet."""

    def _set_sense(self, maximizes: bool) -> None:
        self._model.ModelSense = gp.GRB.MAXIMIZE if maximizes else gp.GRB.MINIMIZE

    @property
    def iterations(self) -> int:
        return int(self._model.IterCount)

    def _add_columns(
        self, costs: Floats, lower: Floats, upper: Floats, starts: Ints, rows: Ints, values: Floats
    ) -> None:
        at = self._rows
        for (places, amounts), cost, low, high in zip(
            entries_of(starts, rows, values), costs.tolist(), lower.tolist(), upper.tolist(), strict=True
        ):
            column = gp.Column(amounts, [at[row] for row in places])
            self._columns.append(self._model.addVar(low, high, cost, column=column))

    def _add_rows(self, lower: Floats, upper: Floats, starts: Ints, columns: Ints, values: Floats) -> None:
        at = self._columns
        for (places, amounts), low, high in zip(
            entries_of(starts, columns, values), lower.tolist(), upper.tolist(), strict=True
        ):
            sense, side, width = _row(low, high)
            row = self._model.addLConstr(gp.LinExpr(amounts, [at[column] for column in places]), sense, side)
            self._rows.append(row)
            if width > 0.0:
                self._widths[row] = self._model.addVar(0.0, width, column=gp.Column([-1.0], [row]))

    def _delete_columns(self, columns: Ints) -> None:
        self._columns, old = self._without(self._columns, columns, self._old[0])
        self._old = (old, self._old[1])

    def _delete_rows(self, rows: Ints) -> None:
        for place in rows.tolist():
            width = self._widths.pop(self._rows[place], None)
            if width is not None:
                self._model.remove(width)
        self._rows, old = self._without(self._rows, rows, self._old[1])
        self._old = (self._old[0], old)

    def _without(self, present: list[Any], gone: Ints, old: int) -> tuple[list[Any], int]:
        self._given = None
        for place in gone.tolist():
            self._model.remove(present[place])
        leaving = set(gone.tolist())
        kept = [one for place, one in enumerate(present) if place not in leaving]
        return kept, old - int(np.count_nonzero(gone < old))

    def _change_costs(self, columns: Ints, costs: Floats) -> None:
        self._model.setAttr("Obj", [self._columns[column] for column in columns.tolist()], costs.tolist())

    def _change_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        changed = [self._columns[column] for column in columns.tolist()]
        self._model.setAttr("LB", changed, lower.tolist())
        self._model.setAttr("UB", changed, upper.tolist())

    def _change_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        for place, low, high in zip(rows.tolist(), lower.tolist(), upper.tolist(), strict=True):
            row = self._rows[place]
            row.Sense, row.RHS, width = _row(low, high)
            hidden = self._widths.get(row)
            if hidden is not None:
                hidden.UB = width
            elif width > 0.0:
                self._widths[row] = self._model.addVar(0.0, width, column=gp.Column([-1.0], [row]))

    def _set_tolerance(self, tolerance: float) -> None:
        self._model.Params.FeasibilityTol = self._model.Params.OptimalityTol = max(tolerance, 1e-9)

    def _basis(self) -> tuple[Statuses, Statuses]:
        columns = np.full(self.num_columns, AT_LOWER, dtype=np.int64)
        rows = np.full(self.num_rows, BASIC, dtype=np.int64)
        old_columns, old_rows = self._old
        if self._given is not None:
            columns[: len(self._given[0])], rows[: len(self._given[1])] = self._given
        elif old_columns or old_rows:
            found = self._model.getAttr("VBasis", self._columns[:old_columns])
            columns[:old_columns] = [_FROM_GUROBI[status] for status in found]
            sides = self._model.getAttr("CBasis", self._rows[:old_rows])
            rows[:old_rows] = [BASIC if status == 0 else AT_LOWER for status in sides]
            if self._widths:
                places = {row: place for place, row in enumerate(self._rows[:old_rows])}
                for row, hidden in self._widths.items():
                    if row in places and hidden.index >= 0 and rows[places[row]] != BASIC:
                        rows[places[row]] = _FROM_GUROBI[hidden.VBasis]
        return columns, rows

    def _set_basis(self, columns: Statuses, rows: Statuses) -> None:
        self._given = (columns, rows)
        self._model.update()  # only updated parts of the model have a basis
        self._model.setAttr("VBasis", self._columns, [_TO_GUROBI[status] for status in columns.tolist()])
        self._model.setAttr("CBasis", self._rows, [0 if status == BASIC else -1 for status in rows.tolist()])
        if self._widths:
            places = {row: place for place, row in enumerate(self._rows)}
            for row, hidden in self._widths.items():
                status = int(rows[places[row]])
                if row.Sense == "=":
                    row.CBasis = -1
                    hidden.VBasis = _TO_GUROBI[status]
                else:
                    hidden.VBasis = -1

    def _forget(self) -> None:
        self._model.update()
        self._model.reset()
        self._old, self._given = (0, 0), None

    def _run(self, by_dual: bool, seconds: float, stopped: Stopped | None) -> LPStatus | None:
        model = self._model
        model.Params.Method = 1 if by_dual else 0
        model.Params.TimeLimit = min(seconds, gp.GRB.INFINITY)

        def look(model: gp.Model, where: int) -> None:
            if where == gp.GRB.Callback.POLLING and stopped is not None and stopped():
                model.terminate()

        model.optimize(None if stopped is None else look)
        self._old, self._given = (len(self._columns), len(self._rows)), None
        if model.Status == _OPTIMAL:
            return LPStatus.OPTIMAL
        if model.Status in _LIMITS:
            return LPStatus.LIMIT
        return {_INFEASIBLE: LPStatus.INFEASIBLE, _UNBOUNDED: LPStatus.UNBOUNDED}.get(model.Status)

    def describe_status(self) -> str:
        return f"status {self._model.Status}"

    def _solution(self) -> tuple[float, Floats, Floats, Floats]:
        model = self._model
        values, reduced = model.getAttr("X", self._columns), model.getAttr("RC", self._columns)
        duals = model.getAttr("Pi", self._rows)
        return model.ObjVal, np.array(values), np.array(duals, dtype=float), np.array(reduced)


def _row(low: float, high: float) -> tuple[str, float, float]:
    """Return sense, right-hand side, and width of the range."""
    if low == high:
        return "=", low, 0.0
    if np.isneginf(low):
        return "<", high, 0.0
    if np.isposinf(high):
        return ">", low, 0.0
    return "=", low, high - low
