"""The dual values of a linear master that are best once distance from a point is paid for.

Each row gets two columns, one that raises its activity and one that lowers it, for each interval around the point.
With those of an interval [a, b] bounded by ε, the dual of the restricted master loses ε for each unit beyond the
interval.

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
    """Where dual values cost nothing, and what each unit beyond costs: one entry a row.

    Attributes
    ----------
    least, most
        Its ends.
    slopes
        Infinite where dual values may not leave it.
    """

    least: Floats
    most: Floats
    slopes: Floats


class PenalisedProgram:
    """A program of its own over a master's columns, which joins what the master has got since at each solve.

    Parameters
    ----------
    intervals
        How many there are a row.
    """

    def __init__(self, master: LinearMaster, intervals: int) -> None:
        self._master, self._intervals = master, intervals
        self._program: LinearProgram | None = None
        self._rows = self._columns = 0

    def duals(self, intervals: Sequence[Interval], budget: Budget) -> Floats | None:
        """The best dual values; None if the solver has found none."""
        master = self._master
        paid = np.concatenate([self._paid(interval) for interval in intervals])
        most = np.concatenate([interval.slopes for interval in intervals for _ in range(2)])
        costs = np.concatenate([paid, master.objective.costs])
        if self._program is None or self._rows != master.num_rows:
            self._program = self._built(costs, most)
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

    def _paid(self, interval: Interval) -> Floats:
        """Costs of the columns that raise activities, and of those that lower them: the ends of the interval."""
        up, down = interval.most, -interval.least
        return np.concatenate([up, down] if self._master.sense is Sense.MINIMIZE else [-down, -up])

    def _built(self, costs: Floats, most: Floats) -> LinearProgram:
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
        """Take in the columns that the master has got since."""
        table = self._master.table
        new = np.arange(self._columns, len(table))
        if len(new) and self._program is not None:
            lower, upper = table.lower_now[new], table.upper_now[new]
            self._program.add_columns(table.costs[new], lower, upper, *table.compressed(new))
            self._columns = len(table)
