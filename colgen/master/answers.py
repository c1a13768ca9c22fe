"""Claimed answers, recomputed from the rows' coefficients alone."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from colgen.core.activity import activity
from colgen.core.batches import Mask
from colgen.core.decision import fractionality
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES, size
from colgen.master.tabular import Floats, TabularMaster


def violation(master: TabularMaster, solution: Solution, exact: bool) -> str | None:
    """What is wrong with a claimed answer, in words; see :meth:`LinearMaster.violation`."""
    rows = master.num_rows
    sums, largest, soft = np.zeros(rows), np.zeros(rows), np.zeros(rows, dtype=bool)
    f = master.formulation
    objective = f.offset
    for column, value in solution.columns:
        if column.integer and fractionality(value):
            return f"the column of {column.structure!r} is used {value} times, which is not whole"
        if _outside(value, column.lower, column.upper, column.integer):
            return f"the column of {column.structure!r} is used {value} times, outside its bounds"
        where, amounts = master.entries(column)
        terms = value * np.array(amounts, dtype=float)
        np.add.at(sums, where, terms)
        np.maximum.at(largest, where, np.abs(terms))
        soft[where] |= not column.integer
        objective += value * column.cost
    fault = _violation_of_brought_rows(master, solution)
    if fault is not None:
        return fault
    x = np.zeros(len(f.costs))
    for key, value in solution.variables.items():
        x[master.table.position[key]] = value
    if (x * master.table.weights[: len(x)])[f.artificial].max(initial=0.0) > TOLERANCES.feasibility:
        return "an artificial variable is not zero"
    if _outside(x, f.lower, np.where(f.artificial, math.inf, f.upper), f.integer).any():
        return "a template variable is outside its bounds"
    if (np.abs(x - np.round(x))[f.integer] > TOLERANCES.integrality).any():
        return "an integer template variable is not whole"
    # The template's variables come first in the table.
    columns, there, entries = master.table.entries_of(len(x))
    terms = x[columns] * entries
    np.add.at(sums, there, terms)
    np.maximum.at(largest, there, np.abs(terms))
    soft[there[(terms != 0.0) & ~f.integer[columns]]] = True
    objective += float(f.costs @ x)
    lower, upper = master.row_lower.copy(), master.row_upper.copy()
    passing = [master.names.position[key] for key in master.decision_rows]
    lower[passing], upper[passing] = -math.inf, math.inf
    for sides in (lower, upper):
        largest = np.maximum(largest, np.where(np.isfinite(sides), np.abs(sides), 0.0))
    slack = largest * np.where(soft | (not exact), TOLERANCES.feasibility, TOLERANCES.pruning)
    bad = np.flatnonzero((sums < lower - slack) | (sums > upper + slack))
    if len(bad):
        r = int(bad[0])
        return f"row {master.names.keys[r]!r} has activity {sums[r]:.10g}, expected {lower[r]:.10g} to {upper[r]:.10g}"
    if abs(objective - solution.objective) > TOLERANCES.diagnostic * size(master.objective_scale, objective):
        return f"its objective is {objective:.10g}, not {solution.objective:.10g} as stated"
    return None


def _violation_of_brought_rows(master: TabularMaster, solution: Solution) -> str | None:
    """The same for rows that the columns of a claimed answer bring and the master does not have."""
    rows = {row.key: row for column, _ in solution.columns for row in column.rows}
    for key, row in rows.items():
        if key in master.names.position:
            continue
        here = activity(row, solution)
        if here.violation > TOLERANCES.feasibility:
            return f"row {key!r} has activity {here.value:g}, expected {row.lower:g} to {row.upper:g}"
    return None


def _outside(
    values: Floats | float, lower: Floats | float, upper: Floats | float, whole: Mask | bool
) -> NDArray[np.bool_]:
    """Which values miss their bounds by more than rounding explains; whole ones by more than makes them fractional."""
    largest = np.abs(values)
    for bound in (lower, upper):
        largest = np.maximum(largest, np.where(np.isfinite(bound), np.abs(bound), 0.0))
    slack = np.where(whole, TOLERANCES.integrality, TOLERANCES.feasibility * largest)
    return np.asarray((values < lower - slack) | (values > upper + slack))
