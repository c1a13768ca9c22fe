"""Whole solutions of the columns at hand by local search: columns are exchanged one at a time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES, size
from colgen.master.tabular import TabularMaster
from solvers.columns.exchanges import exchange

Ints = NDArray[np.int64]


def exchanged(
    master: TabularMaster,
    start: Solution,
    target: float,
    bound: float,
    step: float | None,
    steps: int,
    seed: int,
    stopped: Callable[[], bool],
) -> Solution | None:
    """The best whole solution found; see :meth:`RestrictedMaster.exchanged`."""
    table, sign = master.table, master.sense.sign
    usable = ~table.artificial & (table.upper_now > 0.0)
    free = np.flatnonzero(usable & table.integer)
    lowest = table.lower_now[free]
    slacks = _slacks(master, np.flatnonzero(usable & ~table.integer))
    if master.phase == 1 or slacks is None or (lowest < 0.0).any():
        return None
    matrix = table.matrix(free, master.num_rows)
    point = table.point(start)
    if point is None:
        return None
    # What a column must be used is taken off the sides.
    fixed = matrix @ lowest
    costs = sign * table.costs[free]
    offset = sign * master.formulation.offset + float(costs @ lowest)
    lower, upper = master.rows.lower - fixed, master.rows.upper - fixed
    for _, row, low, high in slacks:
        lower[row], upper[row] = lower[row] - high, upper[row] - low
    least = TOLERANCES.pruning * size(master.scale, 0.0 if math.isinf(target) else target)
    found = exchange(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data,
        costs,
        lower,
        upper,
        table.upper_now[free] - lowest,
        np.maximum(np.floor(point[free] - lowest + TOLERANCES.integrality), 0.0).astype(np.int64),
        target=sign * target - offset + least,
        step=least if step is None else step - least,
        bound=sign * bound - offset - least,
        steps=steps,
        seed=seed,
        expired=stopped,
    )
    if found is None:
        return None
    values = np.zeros(len(table))
    values[free] = found + lowest
    activity = matrix @ values[free]
    for slack, row, low, high in slacks:
        entry = table.matrix(np.array([slack]), master.num_rows).data[0]
        least_needed, most_allowed = master.rows.lower[row] - activity[row], master.rows.upper[row] - activity[row]
        values[slack] = min(max(max(low, least_needed), low), high, most_allowed) / entry
    solution = table.solution(float(table.costs @ values) + master.formulation.offset, values)
    return solution if master.violation(solution) is None else None


def _slacks(master: TabularMaster, columns: Ints) -> list[tuple[int, int, float, float]] | None:
    """Continuous variables that do nothing but give one row room: each, its row, and what it may add to it.

    None if one of the variables does more.
    """
    table = master.table
    matrix = table.matrix(columns, master.num_rows)
    if (np.diff(matrix.indptr) > 1).any() or (table.costs[columns] != 0.0).any():
        return None
    columns = columns[np.diff(matrix.indptr) == 1]
    if len(np.unique(matrix.indices)) < len(columns) or not len(columns):
        return None if len(columns) else []
    ends = np.sort(np.stack([table.lower_now[columns], table.upper_now[columns]]) * matrix.data, axis=0)
    return list(zip(columns.tolist(), matrix.indices.tolist(), *ends.tolist(), strict=True))
