"""Artificial variables of a linear master, so that phase 1 can always begin."""

from __future__ import annotations

import numpy as np

from colgen.master.column_pool import Floats, Ints
from colgen.master.tableau import Tableau
from colgen.solvers.scaling import powers_of_two


class Artificials:
    """Adds artificial variables to rows that columns at zero would violate, and measures them by the rows' sizes."""

    def __init__(self, tableau: Tableau) -> None:
        self._table, self._rows, self._program, self._objective = tableau
        self._softened = 0

    def add(self, rows: Ints, sign: float) -> None:
        """One in each of some rows, that raises the row's activity or lowers it."""
        count = len(rows)
        if not count:
            return
        values = sign * self._rows.sizes[rows]  # each counts its row's violation, measured by the row's size
        where = self._table.append_artificial(rows, values, self._objective.phase)
        self._program.append(where, self._objective.costs[where], np.arange(count + 1), rows, values)

    def add_both(self, rows: Ints) -> None:
        """One for either side of some rows."""
        self.add(rows, 1.0)
        self.add(rows, -1.0)

    def soften(self) -> bool:
        """Artificial variables for all rows that have not got any here; False if there is no such row.

        An infeasible restricted master proves nothing while a row that columns could satisfy has no artificial
        variable.
        """
        rows = np.arange(self._softened, len(self._rows))
        self._softened = len(self._rows)
        self.add_both(rows)
        return len(rows) > 0

    def size_rows(self, rows: Ints, values: Floats) -> None:
        """Let the first entries of rows that had neither sides nor entries tell their size.

        Artificial variables of one row count its violation in that size from now on.
        """
        table, every, count = self._table, self._rows, len(self._rows)
        largest = np.zeros(count)
        np.maximum.at(largest, rows, np.abs(values))
        fresh = np.flatnonzero(every.unsized & (largest > 0.0))
        owners, there, entries = table.entries_of(len(table))
        single = np.bincount(owners, minlength=len(table))[owners] == 1
        mine = np.isin(there, fresh) & table.artificial[owners]
        shared = np.intersect1d(fresh, there[mine & ~single])  # with other rows: they stay as they are
        fresh, every.unsized[shared] = np.setdiff1d(fresh, shared), False
        sizes = np.ones(count)
        sizes[fresh] = powers_of_two(largest[fresh])
        mine &= np.isin(there, fresh)
        units = sizes[there[mine]] / powers_of_two(np.abs(entries[mine]))
        table.weights[owners[mine]] = 1.0 / units
        every.sizes[fresh], every.unsized[fresh] = sizes[fresh], False
        self._program.set_sizes(fresh, sizes[fresh], owners[mine], units, self._objective.costs[owners[mine]])
