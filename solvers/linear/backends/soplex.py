"""SoPlex as a solver of growing linear programs, through the class ``LP`` of PySCIPOpt."""

from __future__ import annotations

import contextlib
import time
from itertools import groupby
from typing import ClassVar

import numpy as np
from pyscipopt import LP, SCIP_LPPARAM

from colgen.solvers.linear.backends.foreign import ForeignBackend, Statuses, entries_of
from colgen.solvers.linear.backends.foreign import large as as_list
from colgen.solvers.linear.highs import Floats, Ints, LPStatus, Stopped


class SoPlexBackend(ForeignBackend):
    """A linear program in SoPlex."""

    name: ClassVar[str] = "soplex"
    title: ClassVar[str] = "SoPlex"

    errors = (Exception,)  # PySCIPOpt raises no specific exceptions

    def _make(self) -> None:
        self._lp = LP()
        self._fresh, self._status = False, "not solved"

    def _set_sense(self, maximizes: bool) -> None:
        if maximizes:
            self._lp = LP(sense="maximize")

    @property
    def iterations(self) -> int:
        return int(self._lp.getNIterations())

    def _add_columns(
        self, costs: Floats, lower: Floats, upper: Floats, starts: Ints, rows: Ints, values: Floats
    ) -> None:
        if len(costs):
            entries = [list(zip(*pair, strict=True)) for pair in entries_of(starts, rows, values)]
            self._lp.addCols(entries, costs.tolist(), self._large(lower), self._large(upper))

    def _add_rows(self, lower: Floats, upper: Floats, starts: Ints, columns: Ints, values: Floats) -> None:
        if len(lower):
            entries = [list(zip(*pair, strict=True)) for pair in entries_of(starts, columns, values)]
            self._lp.addRows(entries, self._large(lower), self._large(upper))

    def _large(self, array: Floats) -> list[float]:
        return as_list(array, self._lp.infinity())

    def _delete_columns(self, columns: Ints) -> None:
        for first, last in _ranges(columns):
            self._lp.delCols(first, last)

    def _delete_rows(self, rows: Ints) -> None:
        for first, last in _ranges(rows):
            self._lp.delRows(first, last)

    def _change_costs(self, columns: Ints, costs: Floats) -> None:
        for column, cost in zip(columns.tolist(), costs.tolist(), strict=True):
            self._lp.chgObj(column, cost)

    def _change_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        for column, low, high in zip(columns.tolist(), self._large(lower), self._large(upper), strict=True):
            self._lp.chgBound(column, low, high)

    def _change_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        for row, low, high in zip(rows.tolist(), self._large(lower), self._large(upper), strict=True):
            self._lp.chgSide(row, low, high)
        # A nonbasic row without remaining sides would stay nonbasic with a dual value.
        self._fresh |= bool((np.isneginf(lower) & np.isposinf(upper)).any())

    def _set_tolerance(self, tolerance: float) -> None:
        self._tolerance = tolerance
        self._lp.setRealParam(SCIP_LPPARAM.FEASTOL, tolerance)
        self._lp.setRealParam(SCIP_LPPARAM.DUALFEASTOL, tolerance)

    def _basis(self) -> tuple[Statuses, Statuses]:
        columns, rows = self._lp.getBase()
        return np.array(columns, dtype=np.int64), np.array(rows, dtype=np.int64)

    def _set_basis(self, columns: Statuses, rows: Statuses) -> None:
        self._lp.setBase(columns.tolist(), rows.tolist())

    def _forget(self) -> None:
        self._fresh = True

    def _run(self, by_dual: bool, seconds: float, stopped: Stopped | None) -> LPStatus | None:
        return self._run_in_slices(by_dual, seconds, stopped)

    def _run_for(self, by_dual: bool, seconds: float) -> LPStatus | None:
        lp, started = self._lp, time.monotonic()
        lp.setIntParam(SCIP_LPPARAM.PRESOLVING, 0)
        lp.setIntParam(SCIP_LPPARAM.FROMSCRATCH, int(self._fresh))
        lp.setRealParam(SCIP_LPPARAM.LPTILIM, min(seconds, lp.infinity()))
        self._fresh = False
        with contextlib.suppress(Exception):  # raised if there is no objective to read, as for unbounded programs
            lp.solve(dual=by_dual)
        if lp.isOptimal():
            status: LPStatus | None = LPStatus.OPTIMAL
        elif lp.getDualRay() is not None:
            status = LPStatus.INFEASIBLE
        elif lp.getPrimalRay() is not None:
            status = LPStatus.UNBOUNDED
        else:
            status = LPStatus.LIMIT if time.monotonic() - started >= seconds else None
        self._status = "failed" if status is None else status.value
        return status

    def describe_status(self) -> str:
        return self._status

    def _solution(self) -> tuple[float, Floats, Floats, Floats]:
        lp = self._lp
        return lp.getObjVal(), np.array(lp.getPrimal()), np.array(lp.getDual()), np.array(lp.getRedcost())


def _ranges(places: Ints) -> list[tuple[int, int]]:
    """Return first and last of each run of consecutive places, last run first: deletions then move no earlier run."""
    runs = [list(run) for _, run in groupby(enumerate(places.tolist()), lambda pair: pair[1] - pair[0])]
    return [(run[0][1], run[-1][1]) for run in reversed(runs)]
