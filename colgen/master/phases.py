"""Solve a linear master in phases, with idle columns and rows."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from colgen.core.budget import Budget
from colgen.core.duals import Duals
from colgen.core.errors import SolverError
from colgen.core.tolerances import TOLERANCES
from colgen.master.artificials import Artificials
from colgen.master.bases import Bases
from colgen.master.central_duals import Centrality, avoid_penalties, central_duals
from colgen.master.column_pool import Floats
from colgen.master.idle_columns import IdleColumns
from colgen.master.protocol import MasterSolution, MasterStatus
from colgen.master.tableau import Tableau
from colgen.solvers.columns.compressed import are_integral
from colgen.solvers.linear.lp import LPSolution, LPStatus

_BOX = 2.0**20
"""Size of the box for an unbounded master, relative to its largest side."""

_FARTHEST, _STRIDE = 2.0**60, 2.0**10
"""Distance of the last point on a ray, and the ratio of consecutive distances."""


class Phases:
    """Solves over all columns and rows, while the program contains only some of them."""

    def __init__(
        self, tableau: Tableau, artificials: Artificials, idle: IdleColumns, bases: Bases, central: Centrality
    ) -> None:
        self._tableau = tableau
        self._table, self._rows, self._program, self._objective = tableau
        self._artificials, self._idle, self._bases, self._central = artificials, idle, bases, central
        self._feasible = False

    def begin_feasible(self) -> None:
        """Skip phase 1 at first, because columns are known that satisfy all rows."""
        self._feasible = True

    @property
    def _has_artificials(self) -> bool:
        """Whether there are artificial variables other than exchanges."""
        return int(self._table.artificial.sum()) > len(self._table.exchange)

    def solve(self, budget: Budget) -> MasterSolution:
        """Return the optimum of the final phase, with dual values for pricing."""
        objective, rows = self._objective, self._rows
        if not self._program.is_built and not self._feasible and self._has_artificials:
            objective.enter(1)
        self._bases.begin()
        solved = self._solve_phases(budget)
        if solved.status is not LPStatus.OPTIMAL:
            return MasterSolution(MasterStatus[solved.status.name], phase=objective.phase)
        solved = avoid_penalties(self._tableau, self._idle, solved, budget)
        central = objective.phase == 2 and len(rows) > 0 and objective.scale > 0.0
        central = central and self._central.next(solved.objective, objective.sense.sign)
        duals = central_duals(self._tableau, solved, budget.seconds_left) if central else solved.duals
        duals = rows.signed(duals, objective.sense)
        if rows.has_unsized:  # without entries and sides any dual value is valid, and zero is so in all units
            duals = np.where(rows.unsized, 0.0, duals)
        objective.rounding = rows.rounding_at(duals)
        self._grow_older(solved, duals if central else None)
        self._take_rows_out(solved)
        return self._solution(solved.objective, solved.values, Duals(duals, rows.names))

    def _solution(self, objective: float, values: Floats, duals: Duals) -> MasterSolution:
        table, phase, exchanging = self._table, self._objective.phase, False
        if len(table.exchange) and phase == 2:
            used = values[table.exchange] * table.weights[table.exchange]
            exchanging = bool(used.max() > TOLERANCES.feasibility)
        integral = not exchanging and bool(are_integral(values, table.integer, TOLERANCES.integrality))
        terms = float(np.abs(self._objective.costs * values).sum()) or math.inf
        return MasterSolution(MasterStatus.OPTIMAL, objective, values, duals, phase, integral, exchanging, terms)

    def _solve_phases(self, budget: Budget) -> LPSolution:
        """Switch phases until one has an optimum, or none has."""
        objective = self._objective
        try:
            solved = self._sift(budget)
            infeasible = objective.phase == 2 and solved.status is LPStatus.INFEASIBLE and self._has_artificials
        except SolverError:
            # A solver may fail on a barely infeasible program; phase 1 is always feasible and decides.
            infeasible = objective.phase == 2 and self._has_artificials
            if not infeasible:
                raise
        if infeasible:
            objective.enter(1)
            solved = self._sift(budget)
        if solved.status is LPStatus.INFEASIBLE and self._table.num_idle:
            self._idle.activate_all()
            solved = self._sift(budget)
        if solved.status is LPStatus.INFEASIBLE and self._artificials.soften():
            objective.enter(1)
            solved = self._sift(budget)
        feasible = solved.status is LPStatus.OPTIMAL and abs(solved.objective) <= TOLERANCES.artificial
        if objective.phase == 1 and feasible:
            # Fixed at their residual values, since exactly zero might make phase 2 infeasible by rounding errors.
            objective.enter(2, residual=solved.values)
            solved = self._sift(budget)
        return solved

    def _sift(self, budget: Budget) -> LPSolution:
        """Solve over the active columns and rows.  Bring back idle columns that improve and rows that are violated."""
        while True:
            solved = self._program.solve(budget)
            if solved.status is LPStatus.UNBOUNDED and self.put_rows_back():
                continue
            if solved.status is not LPStatus.OPTIMAL:  # infeasible even without some of its rows
                return solved
            wanted = self._idle.find_improving(solved.duals)
            self._idle.activate(wanted)
            if not self.put_rows_back(solved) and not len(wanted):
                return solved

    def put_rows_back(self, solved: LPSolution | None = None) -> bool:
        """Put back rows that a solution violates, or all without a solution.  Return whether there was any."""
        rows = self._rows
        if not len(rows.idle.out):
            return False
        activity = None if solved is None else self._table.activities(solved.values, len(rows))
        back = rows.idle.put_back(activity, rows.lower, rows.upper, rows.sizes)
        self._program.change_row_bounds(back, rows.lower[back], rows.upper[back])
        return len(back) > 0

    def _take_rows_out(self, solved: LPSolution) -> None:
        """Take out rows that have been slack for long enough."""
        rows = self._rows
        if not len(rows.idle) or self._objective.phase == 1:
            return
        activity = self._table.activities(solved.values, len(rows))
        out = rows.idle.take_out(activity, rows.lower, rows.upper, rows.sizes)
        if len(out):
            self._program.change_row_bounds(out, np.full(len(out), -math.inf), np.full(len(out), math.inf))

    def _grow_older(self, solved: LPSolution, central: Floats | None) -> None:
        """Update the columns' ages, and remove the surplus."""
        table, objective = self._table, self._objective
        # By the dual values that are used: at a degenerate optimum others may not price the same columns out.
        used = solved.reduced_costs
        if central is not None:
            used = (objective.costs - table.row_products(central))[table.active]
        table.update_ages(used, objective.sense.sign, TOLERANCES.pruning * objective.scale)
        if objective.phase == 2 and central is None:
            self._idle.retire_surplus(used)

    def far_points(self, budget: Budget) -> Iterator[MasterSolution | None]:
        """Yield an optimum within large bounds, then points ever farther from it on a ray, or None on failure.

        Integer variables are rounded, so that separations of integer solutions are called too.  So far out, a unit is a
        rounding error.  The last point is beyond all sides of rows.
        """
        far = self._solve_in_a_box(budget)
        yield far
        if far is None:
            return
        direction = self._improving_ray(budget)
        if direction is None:
            yield None
            return
        ray, gain = direction
        integer, distance = self._table.integer, float(np.abs(far.values).max(initial=0.0))
        while distance < _FARTHEST:
            distance = min(max(distance, 1.0) * _STRIDE, _FARTHEST)
            values = far.values + distance * ray
            values = np.where(integer, np.round(values), values)
            yield self._solution(far.objective + distance * gain, values, far.duals)

    def _solve_in_a_box(self, budget: Budget) -> MasterSolution | None:
        """Optimise an unbounded master within large bounds; None if there is no optimum."""
        table, rows, program = self._table, self._rows, self._program
        _, there, entries = table.entries_of(len(table))
        least = np.full(len(rows), math.inf)
        np.minimum.at(least, there[entries != 0.0], np.abs(entries[entries != 0.0]))
        ends = np.concatenate([rows.lower / least, rows.upper / least, table.lower_now, table.upper_now])
        end = float(np.abs(ends[np.isfinite(ends)]).max(initial=0.0))
        far = min(_BOX * max(1.0, end), max(_FARTHEST, end))  # solvers treat larger values as infinite
        unlimited = np.flatnonzero(np.isinf(table.lower_now) | np.isinf(table.upper_now))
        lower, upper = table.lower_now[unlimited], table.upper_now[unlimited]
        program.change_bounds(unlimited, np.maximum(lower, -far), np.minimum(upper, far))
        try:
            solved = program.solve(budget)
        finally:
            program.change_bounds(unlimited, lower, upper)
        if solved.status is not LPStatus.OPTIMAL:
            return None
        duals = Duals(rows.signed(solved.duals, self._objective.sense), rows.names)
        return self._solution(solved.objective, solved.values, duals)

    def _improving_ray(self, budget: Budget) -> tuple[Floats, float] | None:
        """Return the best improving direction that rows and bounds allow, and its gain, or None."""
        table, rows, program = self._table, self._rows, self._program
        columns, all_rows = np.arange(len(table)), np.arange(len(rows))
        lower, upper = table.lower_now.copy(), table.upper_now.copy()
        program.change_bounds(columns, -np.isinf(lower).astype(float), np.isinf(upper).astype(float))
        program.change_row_bounds(
            all_rows, *(np.where(np.isinf(sides), sides, 0.0) for sides in (rows.lower, rows.upper))
        )
        try:
            solved = program.solve(budget)
        finally:
            program.change_bounds(columns, lower, upper)
            program.change_row_bounds(all_rows, rows.lower, rows.upper)
        if solved.status is not LPStatus.OPTIMAL:
            return None
        gain = float(self._objective.costs @ solved.values)
        if not self._objective.sense.is_better(gain, 0.0):
            return None
        return solved.values, gain
