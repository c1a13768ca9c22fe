"""Integer solutions over a master's columns: by a MIP, rounding, covering or exchanges."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.column_batch import Columns, Entries
from colgen.core.columns import Column, Key
from colgen.core.errors import FormulationError, SolverError
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES, size
from colgen.master.answer_check import AnswerCheck
from colgen.master.lookup import LookUp
from colgen.master.phases import Phases
from colgen.master.protocol import IntegerSearch, MasterStatus
from colgen.master.tableau import Tableau
from colgen.model.rows import Rows
from colgen.solvers.columns.exchanges import IntegerProgram, exchange
from colgen.solvers.linear import lp as programs
from colgen.solvers.linear.lp import LPStatus, Stopped
from colgen.solvers.linear.mip import MIPSolution, solve_mip
from colgen.solvers.linear.program import Program
from colgen.solvers.packing.covering import cover
from colgen.solvers.scaling import power_of_two
from colgen.solvers.stopping import never
from colgen.solvers.work import ENTRY

_BATCH = 2_000
"""Number of columns per batch between two checks of the time limit."""


class ColumnData(NamedTuple):
    """Columns over a master's rows: their matrix, costs, bounds and integrality."""

    columns: Sequence[Column]
    matrix: sparse.csc_array
    costs: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    integer: NDArray[np.bool_]


_ZERO = 2.0**-40
"""Values up to this are rounding errors of zero.  A row of only such terms would seem violated."""

_EXPONENT = 32
"""Costs and values are rounded to multiples of 2 to the minus this, relative to the largest of them."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MOST_ENTRIES = 10**9
"""Most entries of sets that a search for a cover examines."""


class IntegerSolutions(IntegerSearch):
    """Finds integer solutions over the columns of a linear master.

    Integer programs leave out rows that may be idle.  These are cuts in general, which integer points seldom violate,
    and hundreds of dense ones make a program ten times as slow.  If its solution violates one, all rows are kept.
    """

    def __init__(self, tableau: Tableau, formulation: Rows, lookup: LookUp, phases: Phases, check: AnswerCheck) -> None:
        self._table, self._rows, self._program, self._objective = tableau
        self._formulation, self._lookup, self._phases, self._check = formulation, lookup, phases, check

    def list_columns(self, columns: Sequence[Column], expired: Stopped) -> ColumnData | None:
        """Return columns as arrays over the rows, built batch by batch; None if time runs out."""
        if isinstance(columns, Columns):
            columns = columns.over(self._rows.names.keys, self._rows.names.position)
        entries: list[Entries] = []
        batches: list[Columns] = []
        for first in range(0, len(columns), _BATCH):
            if expired():
                return None
            batch = self._lookup.over(columns[first : first + _BATCH])
            batches.append(batch)
            owners, rows, values = batch.entries
            entries.append((owners + first, rows, values))
        if not batches:
            none = np.empty(0)
            return ColumnData(
                columns, sparse.csc_array((len(self._rows), 0)), none, none, none, np.empty(0, dtype=np.bool_)
            )
        owners, rows, values = (np.concatenate(part) for part in zip(*entries, strict=True))
        return ColumnData(
            columns,
            sparse.csc_array((values, (rows, owners)), shape=(len(self._rows), len(columns))),
            np.concatenate([batch.costs for batch in batches]),
            np.concatenate([batch.lower for batch in batches]),
            np.concatenate([batch.upper for batch in batches]),
            np.concatenate([batch.integer for batch in batches]),
        )

    def solve(
        self,
        time_limit: float = math.inf,
        start: Solution | None = None,
        stopped: Stopped | None = None,
        work: float = math.inf,
    ) -> tuple[Solution | None, float]:
        upper = self._table.upper_now.copy()
        upper[self._table.artificial] = 0.0
        point = None if start is None else self._table.point(start)
        if self._objective.phase == 1:
            return None, self._objective.sense.ideal
        table, rows = self._table, self._rows
        if point is not None:  # idle columns of the initial solution come back
            used = np.flatnonzero((point != 0.0) & (table.place < 0))
            self._program.activate(used, self._objective.costs[used])
        active = table.active
        start_at = None if point is None else point[active]
        deadline = time.monotonic() + time_limit

        def solved(left_out: Ints | None) -> tuple[MIPSolution, Floats | None]:
            left = max(deadline - time.monotonic(), 0.0)
            mip = self._program.lp.solve_mip(
                table.integer[active], left, start_at, upper[active], stopped, work, left_out
            )
            if mip.values is None:
                return mip, None
            values = np.zeros(len(table))
            continuous = np.where(np.abs(mip.values) > _ZERO, mip.values, 0.0)
            values[active] = np.where(table.integer[active], np.round(mip.values), continuous)
            return mip, values

        self._phases.put_rows_back()
        cuts = rows.idle.positions
        try:
            mip, values = solved(cuts)
            if values is not None and self._needs_cuts(mip, table.activities(values, len(rows))[cuts]):
                mip, values = solved(None)
        except programs.SolverError as error:
            raise SolverError(str(error)) from error
        return None if values is None else table.solution(mip.objective, values), mip.bound

    def solve_over(
        self,
        columns: Sequence[Column],
        sides: Mapping[Key, tuple[float, float]],
        target: float,
        time_limit: float,
        *,
        any_will_do: bool = False,
        stopped: Stopped | None = None,
        values: Mapping[Key, float] | None = None,
        work: float = math.inf,
    ) -> tuple[MasterStatus, Solution | None]:
        if values is not None:
            return self._cover(columns, values, target, time_limit, any_will_do, stopped, work)
        deadline = time.monotonic() + time_limit
        new = self.list_columns(columns, lambda: time.monotonic() >= deadline or (stopped is not None and stopped()))
        if new is None:
            return MasterStatus.LIMIT, None
        f, s = self._formulation, self._objective.sense.sign
        static = np.flatnonzero(~f.artificial)
        lower, upper = self._rows.lower.copy(), self._rows.upper.copy()
        for key, (low, high) in sides.items():
            lower[self._rows.names.position[key]], upper[self._rows.names.position[key]] = low, high
        costs = np.concatenate([f.costs[static], new.costs])
        integer = np.concatenate([f.integer[static], new.integer]).astype(bool)
        bounds = (
            np.concatenate([self._table.lower_now[static], new.lower]),
            np.concatenate([self._table.upper_now[static], new.upper]),
        )
        worst = (target - f.offset) + s * TOLERANCES.optimality * size(self._objective.scale, target)
        matrix = sparse.csr_array(sparse.hstack([self._table.matrix(static, len(self._rows)), new.matrix]))
        if any_will_do:  # the first solution that satisfies one more row, the limit on the objective
            matrix = sparse.csr_array(sparse.vstack([matrix, costs[None, :]]))
            lower = np.append(lower, -math.inf if s > 0 else worst)
            upper = np.append(upper, worst if s > 0 else math.inf)

        def solved(rows: Ints) -> MIPSolution:
            return solve_mip(
                Program(
                    self._objective.sense is Sense.MAXIMIZE,
                    sparse.csc_array(matrix[rows]),
                    np.zeros(len(costs)) if any_will_do else costs,
                    *bounds,
                    lower[rows],
                    upper[rows],
                ),
                integer,
                time_limit=max(deadline - time.monotonic(), 0.0),
                stopped=stopped,
                work=work,
            )

        cuts = self._rows.idle.positions
        mip = solved(np.delete(np.arange(len(lower)), cuts))
        if mip.values is not None and self._needs_cuts(mip, matrix[cuts] @ mip.values):
            mip = solved(np.arange(len(lower)))
        if mip.values is None:
            return MasterStatus[mip.status.name], None
        status = MasterStatus[mip.status.name]
        if s * (float(costs @ mip.values) - worst) > 0.0:
            return MasterStatus.INFEASIBLE if status is MasterStatus.OPTIMAL else status, None
        used = np.flatnonzero(np.abs(mip.values) > TOLERANCES.pruning)
        count = len(static)
        solution = Solution(
            float(costs @ mip.values) + f.offset,
            tuple((new.columns[k - count], float(mip.values[k])) for k in used.tolist() if k >= count),
            {f.column_keys[static[k]]: float(mip.values[k]) for k in used.tolist() if k < count},
        )
        return status, solution

    def _needs_cuts(self, mip: MIPSolution, activity: Floats) -> bool:
        """Return whether a program without rows that may be idle is unbounded, or activities violate such rows."""
        rows, cuts = self._rows, self._rows.idle.positions
        room = TOLERANCES.feasibility * rows.sizes[cuts]
        violated = (activity < rows.lower[cuts] - room) | (activity > rows.upper[cuts] + room)
        return len(cuts) > 0 and (bool(violated.any()) or mip.status is LPStatus.UNBOUNDED)

    def round(self, solution: Solution) -> Solution | None:
        # Round to nearest, up and down.  A solution that is rounded up is then reduced: its most expensive columns are
        # removed one by one while every row holds.
        feasible = []
        for rounding in (np.round, np.ceil, np.floor):
            rounded = self._round(solution, rounding)
            if self._check.violation(rounded) is None:
                feasible.append(self._reduce(rounded) if rounding is np.ceil else rounded)
        return min(feasible, key=lambda each: self._objective.sense.sign * each.objective, default=None)

    def _round(self, solution: Solution, rounding: Callable[[float], float]) -> Solution:
        columns = tuple((column, float(rounding(x)) if column.integer else x) for column, x in solution.columns)
        variables = {key: float(rounding(x)) if key in solution.integer else x for key, x in solution.variables.items()}
        rounded = dataclasses.replace(solution, columns=tuple(pair for pair in columns if pair[1]), variables=variables)
        return dataclasses.replace(rounded, objective=self._check.objective_of(rounded))

    def _reduce(self, solution: Solution) -> Solution:
        sign = self._objective.sense.sign
        worst_first = sorted(solution.columns, key=lambda pair: -sign * pair[0].cost)
        amounts = {column.identity: value for column, value in solution.columns}
        point = self._table.point(solution)
        assert point is not None  # its columns are in the master
        activity = self._table.activities(point, len(self._rows))
        steps = self.list_columns([column for column, _ in worst_first], never)
        assert steps is not None  # there is no time limit
        matrix = steps.matrix
        for j, (column, value) in enumerate(worst_first):
            if not column.integer or sign * column.cost <= 0.0:
                continue
            own = slice(matrix.indptr[j], matrix.indptr[j + 1])
            rows, step = matrix.indices[own], matrix.data[own]
            low, high = self._rows.lower[rows], self._rows.upper[rows]
            while value >= max(column.lower, 0.0) + 1.0:
                left = activity[rows] - step
                if ((left < low) | (left > high)).any():
                    break
                activity[rows], value = left, value - 1.0
            amounts[column.identity] = value
        columns = tuple((c, amounts[c.identity]) for c, _ in solution.columns if amounts[c.identity])
        reduced = dataclasses.replace(solution, columns=columns)
        return dataclasses.replace(reduced, objective=self._check.objective_of(reduced))

    def _cover(
        self,
        columns: Sequence[Column],
        values: Mapping[Key, float],
        target: float,
        time_limit: float,
        any_will_do: bool,
        stopped: Stopped | None,
        work: float,
    ) -> tuple[MasterStatus, Solution | None]:
        """Search for a cover of the rows by given columns that costs at most ``target``, at the present node.

        Costs are rounded down and the target up, so that an infeasible rounded problem proves infeasibility.
        ``values`` are dual values of rows at which no column's reduced cost is much below zero.  A program that is not
        a covering (minimise positive costs of integer columns, rows ≥ 1, coefficients 1) raises a FormulationError.
        """
        f = self._formulation
        if self._objective.sense is not Sense.MINIMIZE or not f.artificial.all():
            raise FormulationError(
                "Enumerated.values: expected a covering that is minimised without template variables; omit values"
            )
        rows, covered = np.flatnonzero(self._rows.lower > 0.0), np.full(len(self._rows), -1, dtype=np.int64)
        if not (self._rows.lower[rows] == 1.0).all() or not np.isposinf(self._rows.upper).all():
            raise FormulationError("Enumerated.values: all rows must be covering rows, ≥ 1; omit values")
        covered[rows] = np.arange(len(rows))
        deadline = time.monotonic() + time_limit
        expired: Stopped = lambda: time.monotonic() >= deadline or (stopped is not None and stopped())  # noqa: E731
        given = self.list_columns(columns, expired)
        if given is None:
            return MasterStatus.LIMIT, None
        matrix, costs = given.matrix, given.costs
        fits = (given.lower == 0.0) & (given.upper >= 1.0) & given.integer
        fits[np.repeat(np.arange(len(columns)), np.diff(matrix.indptr))[matrix.data != 1.0]] = False
        if not fits.all():
            bad = given.columns[int(np.argmin(fits))]
            raise FormulationError(
                f"Enumerated.values: expected integer columns with coefficients 1, but that of {bad.structure!r} is "
                "not; omit values"
            )
        places = covered[matrix.indices]
        starts = np.concatenate([[0], np.cumsum(places >= 0)])[matrix.indptr]
        prices = np.array([max(values.get(self._rows.names.keys[row], 0.0), 0.0) for row in rows.tolist()])
        worst = (target - f.offset) + TOLERANCES.optimality * size(self._objective.scale, target)
        unit = math.ldexp(power_of_two(np.concatenate([costs, prices])), -_EXPONENT)
        found = cover(
            starts.astype(np.int64),
            places[places >= 0].astype(np.int64),
            np.floor(costs / unit).astype(np.int64),
            np.floor(prices / unit).astype(np.int64),
            math.ceil(worst / unit),
            work=int(min(work / ENTRY, _MOST_ENTRIES)),
            expired=expired,
        )
        if not found.found:
            return (MasterStatus.INFEASIBLE if found.finished else MasterStatus.LIMIT), None
        chosen = tuple((given.columns[k], 1.0) for k in found.chosen.tolist())
        solution = Solution(float(costs[found.chosen].sum()) + f.offset, chosen)
        return (MasterStatus.OPTIMAL if any_will_do else MasterStatus.LIMIT), solution

    def exchange(
        self,
        start: Solution,
        target: float,
        bound: float,
        step: float | None,
        steps: int,
        seed: int,
        stopped: Stopped,
    ) -> Solution | None:
        table, sign = self._table, self._objective.sense.sign
        usable = ~table.artificial & (table.upper_now > 0.0)
        free = np.flatnonzero(usable & table.integer)
        lowest = table.lower_now[free]
        slacks = self._slacks(np.flatnonzero(usable & ~table.integer))
        if self._objective.phase == 1 or slacks is None or (lowest < 0.0).any():
            return None
        matrix = table.matrix(free, len(self._rows))
        point = table.point(start)
        if point is None:
            return None
        # The columns' lower bounds are subtracted from the sides.
        fixed = matrix @ lowest
        costs = sign * table.costs[free]
        offset = sign * self._formulation.offset + float(costs @ lowest)
        lower, upper = self._rows.lower - fixed, self._rows.upper - fixed
        for _, row, low, high in slacks:
            lower[row], upper[row] = lower[row] - high, upper[row] - low
        least = TOLERANCES.pruning * size(self._objective.scale, 0.0 if math.isinf(target) else target)
        starts, rows = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        found = exchange(
            IntegerProgram(starts, rows, matrix.data, costs, table.upper_now[free] - lowest, lower, upper),
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
            entry = table.matrix(np.array([slack]), len(self._rows)).data[0]
            least_needed, most_allowed = self._rows.lower[row] - activity[row], self._rows.upper[row] - activity[row]
            values[slack] = min(max(max(low, least_needed), low), high, most_allowed) / entry
        solution = table.solution(float(table.costs @ values) + self._formulation.offset, values)
        return solution if self._check.violation(solution) is None else None

    def _slacks(self, columns: Ints) -> list[tuple[int, int, float, float]] | None:
        """Return the continuous slack variables with their rows and ranges.

        None if a continuous variable has a cost or entries in several rows.
        """
        table = self._table
        matrix = table.matrix(columns, len(self._rows))
        if (np.diff(matrix.indptr) > 1).any() or (table.costs[columns] != 0.0).any():
            return None
        columns = columns[np.diff(matrix.indptr) == 1]
        if len(np.unique(matrix.indices)) < len(columns) or not len(columns):
            return None if len(columns) else []
        ends = np.sort(np.stack([table.lower_now[columns], table.upper_now[columns]]) * matrix.data, axis=0)
        return list(zip(columns.tolist(), matrix.indices.tolist(), *ends.tolist(), strict=True))
