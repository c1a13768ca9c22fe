"""The linear program of a table's active columns, built in HiGHS at its first solve."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from colgen.core.budget import Budget
from colgen.core.column_batch import Mask
from colgen.core.errors import SolverError
from colgen.master.column_pool import Floats, Ints
from colgen.master.column_table import ColumnTable
from colgen.solvers.linear import lp as programs
from colgen.solvers.linear.highs import HighsBasis, basic_columns
from colgen.solvers.linear.lp import LinearProgram, LPSolution, LPStatus


class SavedBasis(NamedTuple):
    """A basis, and the table positions of its columns."""

    statuses: HighsBasis
    active: Ints


class MasterProgram:
    """Translates between positions in the table and places in the linear program.

    ``build`` builds the linear program of all active columns on first use.  Changes before that need no update.
    """

    def __init__(self, table: ColumnTable, build: Callable[[], LinearProgram]) -> None:
        self._table = table
        self._build: Callable[[], LinearProgram] | None = build
        self._lp: LinearProgram | None = None

    @property
    def lp(self) -> LinearProgram:
        """The program in HiGHS."""
        if self._lp is None:
            assert self._build is not None  # until it is called
            # ``build`` and the objective refer to each other: without this the cycle would delay freeing memory.
            self._lp, self._build = self._build(), None
        return self._lp

    @lp.setter
    def lp(self, program: LinearProgram) -> None:
        self._lp = program

    @property
    def is_built(self) -> bool:
        return self._lp is not None

    # --- changes -----------------------------------------------------------------------------------------------------

    def append(self, positions: Ints, costs: Floats, starts: Ints, rows: Ints, values: Floats) -> None:
        """Add columns that have just become active, with their entries."""
        if self._lp is not None and len(positions):
            table = self._table
            self._lp.add_columns(costs, table.lower_now[positions], table.upper_now[positions], starts, rows, values)

    def activate(self, positions: Ints, costs: Floats) -> None:
        """Bring idle columns back with their costs in the present phase."""
        if not len(positions):
            return
        self._table.activate(positions)
        self.append(positions, costs, *self._table.compressed(positions))

    def retire(self, gone: Mask) -> None:
        """Make columns idle.  ``gone`` is a mask over the program's columns."""
        if self._lp is not None:
            self._lp.delete_columns(np.flatnonzero(gone))
        self._table.retire(gone)

    def append_rows(self, lower: Floats, upper: Floats, entries: tuple[Ints, Ints, Floats], sizes: Floats) -> None:
        """Add rows with their entries in present columns: row (counted from 0), position and value of each."""
        if self._lp is None:
            return
        rows, positions, values = entries
        places = self._table.place[positions]
        here = places >= 0
        starts = np.zeros(len(lower) + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows[here], minlength=len(lower)), out=starts[1:])
        self._lp.add_rows(lower, upper, starts, places[here].astype(np.int64), values[here], sizes)

    def change_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        if self._lp is not None:
            self._lp.change_row_bounds(rows, lower, upper)

    def change_bounds(self, positions: Ints, lower: Floats, upper: Floats) -> None:
        """Change the bounds of columns.  Idle ones are ignored."""
        if self._lp is None:
            return
        places = self._table.place[positions]
        here = places >= 0
        if here.any():
            self._lp.change_bounds(places[here], lower[here], upper[here])

    def change_objective(self, costs: Floats, offset: float) -> None:
        """Change the objective; one cost per column of the table."""
        if self._lp is not None:
            self._lp.change_objective(costs[self._table.active], offset)

    def refine(self, scale: float) -> None:
        """Solve at this scale of costs or a smaller one, until the objective changes."""
        if self._lp is not None and scale < np.inf:
            self._lp.refine(scale)

    def set_sizes(self, rows: Ints, sizes: Floats, positions: Ints, units: Floats, costs: Floats) -> None:
        """Set the sizes, by which rows are scaled, of rows that had none.

        ``positions`` are the artificial variables of these rows, with their new units and costs.
        """
        if self._lp is not None:
            self._lp.set_sizes(rows, sizes, self._table.place[positions], units, costs)

    # --- solving -----------------------------------------------------------------------------------------------------

    def solve(self, budget: Budget) -> LPSolution:
        """Solve over the active columns.  ``values`` has one entry per column of the table."""
        try:
            solved = self.lp.solve(max(budget.deadline - time.monotonic(), 0.0), lambda: budget.expired)
        except programs.SolverError as error:
            raise SolverError(str(error)) from error
        return self._spread(solved)

    def solve_without(self, positions: Ints, budget: Budget) -> LPSolution:
        """Solve with some active columns fixed at zero.  The program is unchanged."""
        places = self._table.place[positions].astype(np.int64)
        return self._spread(self.lp.solve_without(places, budget.seconds_left, lambda: budget.expired))

    def _spread(self, solved: LPSolution) -> LPSolution:
        if solved.status is not LPStatus.OPTIMAL or self._table.is_in_order:
            return solved
        values = np.zeros(len(self._table))
        values[self._table.active] = solved.values
        return dataclasses.replace(solved, values=values)

    # --- bases -------------------------------------------------------------------------------------------------------

    def basis(self) -> SavedBasis:
        return SavedBasis(self.lp.basis(), self._table.active.copy())

    def restore(self, saved: SavedBasis, costs: Floats) -> None:
        """Start the next solve from a basis.  Idle columns in it come back."""
        basis, then = saved
        table = self._table
        now = table.active
        if len(then) <= len(now) and np.array_equal(then, now[: len(then)]):
            self.lp.set_basis(basis)
            return
        basic = then[basic_columns(basis)]
        missing = basic[table.place[basic] < 0]
        self.activate(missing.astype(np.int64), costs[missing])
        self.lp.set_basis(basis, table.place[then])
