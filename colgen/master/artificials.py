"""Artificial variables of a linear master, which make phase 1 feasible."""

from __future__ import annotations

import numpy as np

from colgen.master.column_pool import Floats, Ints
from colgen.master.tableau import Tableau
from colgen.solvers.scaling import powers_of_two


class Artificials:
    """Adds artificial variables, scaled by the rows' sizes."""

    def __init__(self, tableau: Tableau) -> None:
        self._table, self._rows, self._program, self._objective = tableau
        self._num_softened = 0

    def add(self, rows: Ints, sign: float) -> None:
        """Add an artificial variable of this sign to each of the rows."""
        count = len(rows)
        if not count:
            return
        values = sign * self._rows.sizes[rows]  # one unit is a violation of the row's size
        where = self._table.append_artificial(rows, values, self._objective.phase)
        self._program.append(where, self._objective.costs[where], np.arange(count + 1), rows, values)

    def add_both(self, rows: Ints) -> None:
        """Add two artificial variables to each of the rows, one per side."""
        self.add(rows, 1.0)
        self.add(rows, -1.0)

    def soften(self) -> bool:
        """Add artificial variables to the rows that have none yet.  Return whether there was such a row.

        An infeasible master proves nothing while a row that columns could satisfy has no artificial variable.
        """
        rows = np.arange(self._num_softened, len(self._rows))
        self._num_softened = len(self._rows)
        self.add_both(rows)
        return len(rows) > 0

    def size_rows(self, rows: Ints, values: Floats) -> None:
        """Set the sizes of rows without sides or entries by their first entries.

        The artificial variables of these rows are rescaled accordingly.
        """
        table, all_rows, count = self._table, self._rows, len(self._rows)
        largest = np.zeros(count)
        np.maximum.at(largest, rows, np.abs(values))
        sized = np.flatnonzero(all_rows.unsized & (largest > 0.0))
        owners, there, entries = table.entries_of(len(table))
        single = np.bincount(owners, minlength=len(table))[owners] == 1
        selected = np.isin(there, sized) & table.artificial[owners]
        shared = np.intersect1d(
            sized, there[selected & ~single]
        )  # artificials with entries in other rows stay unchanged
        sized, all_rows.unsized[shared] = np.setdiff1d(sized, shared), False
        sizes = np.ones(count)
        sizes[sized] = powers_of_two(largest[sized])
        selected &= np.isin(there, sized)
        units = sizes[there[selected]] / powers_of_two(np.abs(entries[selected]))
        table.weights[owners[selected]] = 1.0 / units
        all_rows.sizes[sized], all_rows.unsized[sized] = sizes[sized], False
        self._program.set_sizes(sized, sizes[sized], owners[selected], units, self._objective.costs[owners[selected]])
