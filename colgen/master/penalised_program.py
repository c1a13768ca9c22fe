"""The optimal dual values of a linear master with a penalty on the distance from a point.

For each interval around the point, each row gets two columns, one that raises its activity and one that lowers it.
If the columns of an interval [a, b] are bounded by ε, the dual objective loses ε per unit beyond the interval.

Source: O. du Merle, D. Villeneuve, J. Desrosiers, P. Hansen, *Stabilized column generation*, Discrete Mathematics 194
(1999).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from colgen.core.budget import Budget
from colgen.core.sense import Sense
from colgen.master.column_pool import Floats
from colgen.master.linear_master import LinearMaster
from colgen.solvers.linear.lp import LinearProgram, LPStatus, SolverError
from colgen.solvers.linear.program import Program


class Interval(NamedTuple):
    """Intervals of dual values without a penalty, one entry per row.

    The penalties per unit beyond, ``slopes``, are infinite if dual values must stay inside.
    """

    least: Floats
    most: Floats
    slopes: Floats


class PenalisedProgram:
    """A separate program over a master's columns, updated at each solve."""

    def __init__(self, master: LinearMaster, intervals: int) -> None:
        self._master, self._intervals = master, intervals
        self._program: LinearProgram | None = None
        self._rows = self._columns = 0

    def duals(self, intervals: Sequence[Interval], budget: Budget) -> Floats | None:
        """Return the optimal dual values; None if the solver fails."""
        master = self._master
        paid = np.concatenate([self._penalty_costs(interval) for interval in intervals])
        most = np.concatenate([interval.slopes for interval in intervals for _ in range(2)])
        costs = np.concatenate([paid, master.objective.costs])
        if self._program is None or self._rows != master.num_rows:
            self._program = self._build(costs, most)
            self._rows, self._columns = master.num_rows, len(master.table)
        else:
            self._grow()
            self._program.change_objective(costs, 0.0)
            count = len(paid)
            self._program.change_bounds(np.arange(count), np.zeros(count), most)
        try:
            solved = self._program.solve(budget.seconds_left, lambda: budget.expired)
        except SolverError:
            return None
        return solved.duals if solved.status is LPStatus.OPTIMAL else None

    def _penalty_costs(self, interval: Interval) -> Floats:
        """Return costs of columns that raise activities, then of others."""
        up, down = interval.most, -interval.least
        return np.concatenate([up, down] if self._master.sense is Sense.MINIMIZE else [-down, -up])

    def _build(self, costs: Floats, most: Floats) -> LinearProgram:
        master, count = self._master, self._master.num_rows
        table, rows = master.table, master.rows
        unit = sparse.eye_array(count, format="csc")
        penalties = [unit, -unit] * self._intervals
        return LinearProgram(
            Program(
                master.sense is Sense.MAXIMIZE,
                sparse.csc_array(sparse.hstack([*penalties, table.matrix(None, count)])),
                costs,
                np.concatenate([np.zeros(len(most)), table.lower_now]),
                np.concatenate([most, table.upper_now]),
                rows.lower,
                rows.upper,
            ),
            sizes=rows.sizes,
        )

    def _grow(self) -> None:
        table = self._master.table
        new = np.arange(self._columns, len(table))
        if len(new) and self._program is not None:
            lower, upper = table.lower_now[new], table.upper_now[new]
            self._program.add_columns(table.costs[new], lower, upper, *table.compressed(new))
            self._columns = len(table)
