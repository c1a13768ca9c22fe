"""Whole solutions of the columns at hand: by a mixed-integer program, by rounding."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy import sparse

from colgen.core.columns import Column, Key
from colgen.core.errors import SolverError
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES, size
from colgen.master.listing import listed
from colgen.master.protocol import MasterStatus
from colgen.master.tabular import TabularMaster
from solvers.linear import lp as programs
from solvers.linear.lp import Stopped
from solvers.linear.mip import solve_mip
from solvers.stopping import never

_NOTHING = 2.0**-40
"""No more than this is what the arithmetic of a program leaves of zero: a row of nothing else would seem violated."""


def solve_integer(
    master: TabularMaster, time_limit: float, start: Solution | None, stopped: Stopped | None
) -> tuple[Solution | None, float]:
    """The restricted master as a mixed-integer program; see :meth:`RestrictedMaster.solve_integer`."""
    upper = master.table.upper_now.copy()
    upper[master.table.artificial] = 0.0
    point = None if start is None else master.table.point(start)
    if master.phase == 1:
        return None, master.sense.ideal
    try:
        table = master.table
        if point is not None:  # idle columns that are part of it come back
            used = np.flatnonzero((point != 0.0) & (table.place < 0))
            master.program.activate(used, master.objective.costs[used])
        active = table.active
        start_at = None if point is None else point[active]
        result = master.lp.solve_mip(table.integer[active], time_limit, start_at, upper[active], stopped)
    except programs.SolverError as error:
        raise SolverError(str(error)) from error
    if result.values is None:
        return None, result.bound
    values = np.zeros(len(table))
    continuous = np.where(np.abs(result.values) > _NOTHING, result.values, 0.0)
    values[active] = np.where(table.integer[active], np.round(result.values), continuous)
    return master.table.solution(result.objective, values), result.bound


def solve_over(
    master: TabularMaster,
    columns: Sequence[Column],
    sides: Mapping[Key, tuple[float, float]],
    target: float,
    time_limit: float,
    any_will_do: bool,
    stopped: Stopped | None = None,
) -> tuple[MasterStatus, Solution | None]:
    """A mixed-integer program over given columns alone, in or not in the master, at the present node.

    Parameters
    ----------
    sides
        Sides of rows that replace the present ones.
    target
        Only solutions at least as good are wanted; one that is exactly as good will do if ``any_will_do``.
    """
    deadline = time.monotonic() + time_limit
    new = listed(master, columns, lambda: time.monotonic() >= deadline or (stopped is not None and stopped()))
    if new is None:
        return MasterStatus.LIMIT, None
    f = master.formulation
    static = np.flatnonzero(~f.artificial)
    lower, upper = master.rows.lower.copy(), master.rows.upper.copy()
    for key, (low, high) in sides.items():
        lower[master.names.position[key]], upper[master.names.position[key]] = low, high
    old = master.table.matrix(static, master.num_rows)
    costs = np.concatenate([f.costs[static], new.costs])
    s = master.sense.sign
    worst = (target - f.offset) + s * TOLERANCES.optimality * size(master.scale, target)
    mip = solve_mip(
        master.sense is Sense.MAXIMIZE,
        sparse.csc_array(sparse.vstack([sparse.hstack([old, new.matrix]), sparse.csr_array(costs[None, :])])),
        np.zeros(len(costs)) if any_will_do else costs,
        np.concatenate([master.table.lower_now[static], new.lower]),
        np.concatenate([master.table.upper_now[static], new.upper]),
        np.append(lower, -math.inf if s > 0 else worst),
        np.append(upper, worst if s > 0 else math.inf),
        np.concatenate([f.integer[static], new.integer]).astype(bool),
        time_limit=max(deadline - time.monotonic(), 0.0),
        stopped=stopped,
    )
    if mip.values is None:
        return MasterStatus[mip.status.name], None
    used = np.flatnonzero(np.abs(mip.values) > TOLERANCES.pruning)
    count = len(static)
    solution = Solution(
        float(costs @ mip.values) + f.offset,
        tuple((new.columns[k - count], float(mip.values[k])) for k in used.tolist() if k >= count),
        {f.column_keys[static[k]]: float(mip.values[k]) for k in used.tolist() if k < count},
    )
    return MasterStatus[mip.status.name], solution


def rounded(master: TabularMaster, solution: Solution) -> Solution | None:
    """An answer made of a fractional solution's own columns: rounded, or rounded up and thinned out; None if none is.

    Thinning takes away one unit after the other, of the columns that cost most, as long as every row holds.
    """
    answers = []
    for rounding in (np.round, np.ceil, np.floor):
        whole = _rounded_by(master, solution, rounding)
        if master.violation(whole) is None:
            answers.append(_thinned(master, whole) if rounding is np.ceil else whole)
    return min(answers, key=lambda answer: master.sense.sign * answer.objective, default=None)


def _rounded_by(master: TabularMaster, solution: Solution, rounding: Callable[[float], float]) -> Solution:
    columns = tuple((column, float(rounding(x)) if column.integer else x) for column, x in solution.columns)
    variables = {key: float(rounding(x)) if key in solution.integer else x for key, x in solution.variables.items()}
    whole = dataclasses.replace(solution, columns=tuple(pair for pair in columns if pair[1]), variables=variables)
    return dataclasses.replace(whole, objective=master.objective_of(whole))


def _thinned(master: TabularMaster, answer: Solution) -> Solution:
    sign = master.sense.sign
    worst_first = sorted(answer.columns, key=lambda pair: -sign * pair[0].cost)
    amounts = {column.identity: value for column, value in answer.columns}
    activity = master.activities(answer)
    steps = listed(master, [column for column, _ in worst_first], never)
    assert steps is not None  # nobody has ended it
    matrix = steps.matrix
    for j, (column, value) in enumerate(worst_first):
        if not column.integer or sign * column.cost <= 0.0:
            continue
        own = slice(matrix.indptr[j], matrix.indptr[j + 1])
        rows, step = matrix.indices[own], matrix.data[own]
        low, high = master.rows.lower[rows], master.rows.upper[rows]
        while value >= max(column.lower, 0.0) + 1.0:
            left = activity[rows] - step
            if ((left < low) | (left > high)).any():
                break
            activity[rows], value = left, value - 1.0
        amounts[column.identity] = value
    columns = tuple((c, amounts[c.identity]) for c, _ in answer.columns if amounts[c.identity])
    thin = dataclasses.replace(answer, columns=columns)
    return dataclasses.replace(thin, objective=master.objective_of(thin))
