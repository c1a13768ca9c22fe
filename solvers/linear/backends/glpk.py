"""GLPK as a solver of growing linear programs, through the package swiglpk."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import swiglpk as glpk

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

_TO_GLPK = {AT_LOWER: glpk.GLP_NL, BASIC: glpk.GLP_BS, AT_UPPER: glpk.GLP_NU, AT_ZERO: glpk.GLP_NF}
_FROM_GLPK = {theirs: ours for ours, theirs in _TO_GLPK.items()} | {glpk.GLP_NS: AT_LOWER}
_LONGEST = 2**31 - 1
"""Milliseconds that GLPK interprets as no limit."""


class GLPKBackend(ForeignBackend):
    """A linear program in GLPK."""

    name: ClassVar[str] = "glpk"
    title: ClassVar[str] = "GLPK"

    def _make(self) -> None:
        glpk.glp_term_out(glpk.GLP_OFF)
        self._lp = glpk.glp_create_prob()
        self._parameters = glpk.glp_smcp()
        glpk.glp_init_smcp(self._parameters)
        self._parameters.msg_lev = glpk.GLP_MSG_OFF
        self._status, self._iterations = "not solved", 0

    def __del__(self) -> None:
        lp = self.__dict__.pop("_lp", None)
        if lp is not None:
            glpk.glp_delete_prob(lp)

    def _set_sense(self, maximizes: bool) -> None:
        glpk.glp_set_obj_dir(self._lp, glpk.GLP_MAX if maximizes else glpk.GLP_MIN)

    @property
    def iterations(self) -> int:
        return self._iterations

    def _add_columns(
        self, costs: Floats, lower: Floats, upper: Floats, starts: Ints, rows: Ints, values: Floats
    ) -> None:
        if not len(costs):
            return
        first = glpk.glp_add_cols(self._lp, len(costs))
        places = np.arange(len(costs)) + first - 1
        self._change_costs(places, costs)
        self._change_bounds(places, lower, upper)
        for place, pair in enumerate(entries_of(starts, rows, values), first):
            glpk.glp_set_mat_col(self._lp, place, *_arrays(*pair))

    def _add_rows(self, lower: Floats, upper: Floats, starts: Ints, columns: Ints, values: Floats) -> None:
        if not len(lower):
            return
        first = glpk.glp_add_rows(self._lp, len(lower))
        self._change_row_bounds(np.arange(len(lower)) + first - 1, lower, upper)
        for place, pair in enumerate(entries_of(starts, columns, values), first):
            glpk.glp_set_mat_row(self._lp, place, *_arrays(*pair))

    def _delete_columns(self, columns: Ints) -> None:
        glpk.glp_del_cols(self._lp, len(columns), _numbers(columns.tolist()))

    def _delete_rows(self, rows: Ints) -> None:
        glpk.glp_del_rows(self._lp, len(rows), _numbers(rows.tolist()))

    def _change_costs(self, columns: Ints, costs: Floats) -> None:
        for column, cost in zip((columns + 1).tolist(), costs.tolist(), strict=True):
            glpk.glp_set_obj_coef(self._lp, column, cost)

    def _change_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        for column, low, high in zip((columns + 1).tolist(), lower.tolist(), upper.tolist(), strict=True):
            glpk.glp_set_col_bnds(self._lp, column, _kind(low, high), low, high)

    def _change_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        for row, low, high in zip((rows + 1).tolist(), lower.tolist(), upper.tolist(), strict=True):
            glpk.glp_set_row_bnds(self._lp, row, _kind(low, high), low, high)

    def _set_tolerance(self, tolerance: float) -> None:
        self._parameters.tol_bnd = self._parameters.tol_dj = tolerance

    def _basis(self) -> tuple[Statuses, Statuses]:
        columns = [_FROM_GLPK[glpk.glp_get_col_stat(self._lp, j + 1)] for j in range(self.num_columns)]
        rows = [_FROM_GLPK[glpk.glp_get_row_stat(self._lp, i + 1)] for i in range(self.num_rows)]
        return np.array(columns, dtype=np.int64), np.array(rows, dtype=np.int64)

    def _set_basis(self, columns: Statuses, rows: Statuses) -> None:
        for j, status in enumerate(columns.tolist(), 1):
            glpk.glp_set_col_stat(self._lp, j, _TO_GLPK[status])
        for i, status in enumerate(rows.tolist(), 1):
            glpk.glp_set_row_stat(self._lp, i, _TO_GLPK[status])

    def _forget(self) -> None:
        glpk.glp_std_basis(self._lp)

    def _run(self, by_dual: bool, seconds: float, stopped: Stopped | None) -> LPStatus | None:
        before = glpk.glp_get_it_cnt(self._lp)
        status = self._run_in_slices(by_dual, seconds, stopped)
        self._iterations = glpk.glp_get_it_cnt(self._lp) - before
        return status

    def _run_for(self, by_dual: bool, seconds: float) -> LPStatus | None:
        lp, parameters = self._lp, self._parameters
        parameters.meth = glpk.GLP_DUALP if by_dual else glpk.GLP_PRIMAL
        parameters.tm_lim = int(min(1000.0 * seconds, _LONGEST))
        failure = glpk.glp_simplex(lp, parameters)
        self._status = f"return code {failure}"
        if failure in (glpk.GLP_ETMLIM, glpk.GLP_EITLIM):
            return LPStatus.LIMIT
        if failure:
            return None
        status = glpk.glp_get_status(lp)
        self._status = f"status {status}"
        return {
            glpk.GLP_OPT: LPStatus.OPTIMAL,
            glpk.GLP_NOFEAS: LPStatus.INFEASIBLE,
            glpk.GLP_UNBND: LPStatus.UNBOUNDED,
        }.get(status)

    def describe_status(self) -> str:
        return self._status

    def _solution(self) -> tuple[float, Floats, Floats, Floats]:
        lp, columns, rows = self._lp, range(1, self.num_columns + 1), range(1, self.num_rows + 1)
        return (
            glpk.glp_get_obj_val(lp),
            np.array([glpk.glp_get_col_prim(lp, j) for j in columns]),
            np.array([glpk.glp_get_row_dual(lp, i) for i in rows], dtype=float),
            np.array([glpk.glp_get_col_dual(lp, j) for j in columns]),
        )


def _arrays(places: list[int], values: list[float]) -> tuple[int, Any, Any]:
    """Return entries in GLPK's format, which counts from 1."""
    amounts = glpk.doubleArray(len(values) + 1)
    for position, value in enumerate(values, 1):
        amounts[position] = value
    return len(places), _numbers(places), amounts


def _numbers(places: list[int]) -> Any:
    numbers = glpk.intArray(len(places) + 1)
    for position, place in enumerate(places, 1):
        numbers[position] = place + 1
    return numbers


def _kind(low: float, high: float) -> int:
    if low == high:
        return int(glpk.GLP_FX)
    if np.isneginf(low):
        return int(glpk.GLP_FR if np.isposinf(high) else glpk.GLP_UP)
    return int(glpk.GLP_LO if np.isposinf(high) else glpk.GLP_DB)
