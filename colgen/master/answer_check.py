"""Recompute a solution's activities, and reduced costs, from the coefficients of the rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from colgen.core.activity import activity
from colgen.core.column_batch import Mask
from colgen.core.columns import Column
from colgen.core.duals import Duals
from colgen.core.solution import Solution
from colgen.core.tolerances import ROUNDING, SUMMED, TOLERANCES, size
from colgen.master.column_pool import Floats, Ints
from colgen.master.lookup import LookUp
from colgen.master.tableau import Tableau
from colgen.model.rows import Rows


class AnswerCheck:
    """Checks solutions of a linear master by the coefficients of its rows."""

    def __init__(self, tableau: Tableau, formulation: Rows, lookup: LookUp) -> None:
        self._table, self._rows, _, self._objective = tableau
        self._formulation, self._lookup = formulation, lookup

    def violation(self, solution: Solution, exact: bool = True) -> str | None:
        """Return why a solution is infeasible; None if every row and bound holds; see :meth:`LinkingRows.violation`.

        Rows of branching decisions do not count: they hold only in a part of the tree.
        """
        rows, f = len(self._rows), self._formulation
        columns = [column for column, _ in solution.columns]
        amounts = np.array([value for _, value in solution.columns], dtype=np.float64)
        fault = _find_misuse(columns, amounts)
        if fault is not None:
            return fault
        there, terms, owners = self._terms(columns, amounts)
        sums, largest = np.bincount(there, terms, minlength=rows).astype(np.float64), np.zeros(rows)
        np.maximum.at(largest, there, np.abs(terms))
        soft = np.zeros(rows, dtype=np.bool_)
        soft[there[~np.array([column.integer for column in columns], dtype=np.bool_)[owners]]] = True
        objective = f.offset + sum(value * column.cost for column, value in solution.columns)
        fault = self._violation_of_brought_rows(solution)
        if fault is not None:
            return fault
        x = np.zeros(len(f.costs))
        for key, value in solution.variables.items():
            x[self._table.position[key]] = value
        standing_in = np.where(f.artificial, x * self._table.weights[: len(x)], 0.0)
        if standing_in[self._table.exchange].max(initial=0.0) > TOLERANCES.feasibility:
            return "an exchange is not zero"
        if standing_in.max(initial=0.0) > TOLERANCES.feasibility:
            return "an artificial variable is not zero"
        if _outside(x, f.lower, np.where(f.artificial, math.inf, f.upper), f.integer).any():
            return "a template variable is outside its bounds"
        if (np.abs(x - np.round(x))[f.integer] > TOLERANCES.integrality).any():
            return "an integer template variable has a fractional value"
        # The template's variables come first in the table.
        own, there, entries = self._table.entries_of(len(x))
        terms = x[own] * entries
        sums += np.bincount(there, terms, minlength=rows)
        np.maximum.at(largest, there, np.abs(terms))
        soft[there[(terms != 0.0) & ~f.integer[own]]] = True
        objective += float(f.costs @ x)
        lower, upper = self._rows.lower.copy(), self._rows.upper.copy()
        passing = [self._rows.names.position[key] for key in self._rows.of_decisions]
        lower[passing], upper[passing] = -math.inf, math.inf
        for sides in (lower, upper):
            largest = np.maximum(largest, np.where(np.isfinite(sides), np.abs(sides), 0.0))
        slack = largest * np.where(soft | (not exact), TOLERANCES.feasibility, TOLERANCES.pruning)
        bad = np.flatnonzero((sums < lower - slack) | (sums > upper + slack))
        if len(bad):
            r = int(bad[0])
            key, expected = self._rows.names.keys[r], f"expected {lower[r]:.10g} to {upper[r]:.10g}"
            return f"row {key!r} has activity {sums[r]:.10g}, {expected}"
        difference = abs(objective - solution.objective)
        # Costs and a constant that cancel out have the rounding error of the largest.
        large = abs(f.offset) + solution.terms + float(np.abs(f.costs * x).sum())
        if difference > max(
            TOLERANCES.diagnostic * size(self._objective.real_scale, objective), SUMMED * ROUNDING * large
        ):
            return f"its stated objective is {solution.objective:.10g}, but its costs give {objective:.10g}"
        return None

    def objective_of(self, solution: Solution) -> float:
        """Return the objective of a solution, computed from its costs and values."""
        f = self._formulation
        variables = sum(f.costs[self._table.position[key]] * value for key, value in solution.variables.items())
        return float(f.offset + variables + sum(column.cost * value for column, value in solution.columns))

    def _terms(self, columns: Sequence[Column], amounts: Floats) -> tuple[Ints, Floats, Ints]:
        """Return row and value of each term a_ij x_j, and the index of its column."""
        if not columns:
            return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.int64)
        owners, there, entries = self._lookup.over(columns).entries  # one batch: functions of rows may be expensive
        return there.astype(np.int64), amounts[owners] * entries, owners.astype(np.int64)

    def _violation_of_brought_rows(self, solution: Solution) -> str | None:
        """Describe the first violated row that the columns bring and the master lacks."""
        rows = {row.key: row for column, _ in solution.columns for row in column.rows}
        for key, row in rows.items():
            if key in self._rows.names.position:
                continue
            here = activity(row, solution)
            if here.violation > TOLERANCES.feasibility:
                return f"row {key!r} has activity {here.value:g}, expected {row.lower:g} to {row.upper:g}"
        return None


def _find_misuse(columns: Sequence[Column], amounts: Floats) -> str | None:
    """Describe the first column with an invalid value, if any."""
    integer = np.array([column.integer for column in columns], dtype=np.bool_)
    lower, upper = (np.array([getattr(column, side) for column in columns], dtype=float) for side in ("lower", "upper"))
    fractional = integer & (np.abs(amounts - np.round(amounts)) > TOLERANCES.integrality)
    bad = (fractional | _outside(amounts, lower, upper, integer)).nonzero()[0]
    if not len(bad):
        return None
    k = int(bad[0])
    why = "which is fractional" if fractional[k] else "outside its bounds"
    return f"the column of {columns[k].structure!r} is used {float(amounts[k])} times, {why}"


def _outside(
    values: Floats | float, lower: Floats | float, upper: Floats | float, integer: Mask | bool
) -> NDArray[np.bool_]:
    """Return which values violate their bounds, integer ones beyond the integrality tolerance."""
    largest = np.abs(values)
    for bound in (lower, upper):
        largest = np.maximum(largest, np.where(np.isfinite(bound), np.abs(bound), 0.0))
    slack = np.where(integer, TOLERANCES.integrality, TOLERANCES.feasibility * largest)
    return np.asarray((values < lower - slack) | (values > upper + slack))


COST = "cost"
"""Name of the part that is the column's own cost.  The other parts are blocks of rows."""


def contributions(
    column: Column, entries: tuple[list[int], list[float]], duals: Duals, weight: float
) -> dict[str, float]:
    """Return the parts of a reduced cost: ``w·c_j`` first, then ``-Σ π_i a_ij`` for each block of rows."""
    parts = {COST: weight * float(column.cost)}
    values = duals.values
    keys = duals.keys
    for row, coefficient in zip(*entries, strict=True):
        if row < len(values):  # rows added later have no dual value yet
            block = keys[row][0]
            parts[block] = parts.get(block, 0.0) - coefficient * float(values[row])
    return parts


def itemised(stated: float, parts: Mapping[str, float]) -> str:
    """Describe the parts of a reduced cost and its difference from a stated one."""
    listed = ", ".join(f"{_part_name(name)} {value:.6g}" for name, value in parts.items())
    total = sum(parts.values())
    missing = stated - total
    cause = _explain_difference(missing, parts)
    return f"of the {total:.6g}, {listed}; the stated {stated:.6g} differs by {missing:.6g}{cause}"


def _explain_difference(missing: float, parts: Mapping[str, float]) -> str:
    """Name the part that was ignored or has the opposite sign, if any."""
    slack = TOLERANCES.diagnostic * sum(map(abs, parts.values()))
    if not math.isfinite(missing):
        return ""
    for factor, mistake in ((1.0, "left out"), (2.0, "counted with the opposite sign")):
        for name, value in parts.items():
            if value and abs(missing + factor * value) <= slack < abs(value):
                return f": as if {_part_name(name)} were {mistake}"
    return ""


def _part_name(name: str) -> str:
    return "the cost" if name == COST else f"block {name!r}"
