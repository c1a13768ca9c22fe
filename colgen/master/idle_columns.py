"""Remove columns that the linear program does not need, and bring improving ones back."""

from __future__ import annotations

import numpy as np

from colgen.core.column_batch import Mask
from colgen.core.tolerances import TOLERANCES
from colgen.master.column_pool import Floats, Ints
from colgen.master.column_table import TEMPLATE
from colgen.master.tableau import Tableau

_MANY, _ENOUGH = 6, 3
"""If the linear program has more generated columns than ``_MANY`` times its rows, those with the worst reduced costs
become idle, until ``_ENOUGH`` times its rows are left."""

_FEW = 500
"""Up to this many columns stay in the linear program anyway."""


class IdleColumns:
    """The columns of a table that are temporarily out of the linear program.

    Columns with bounds of their own always stay, because oracles may ignore them.
    """

    def __init__(self, tableau: Tableau) -> None:
        self._table, self._rows, self._program, self._objective = tableau
        self._least = len(tableau.table)  # the template's variables

    def activate(self, positions: Ints) -> None:
        if len(positions):
            self._program.activate(positions, self._objective.costs[positions])

    def activate_all(self) -> None:
        self.activate(np.flatnonzero(self._table.place < 0))

    def find_improving(self, duals: Floats) -> Ints:
        """Return the best idle columns that improve at dual values."""
        table, objective = self._table, self._objective
        if not table.num_idle:
            return np.empty(0, dtype=np.int64)
        gains = objective.sense.gains(objective.costs - table.row_products(duals))
        improves = gains > TOLERANCES.pruning * objective.scale
        found = np.flatnonzero((table.place < 0) & (table.upper_now > 0.0) & improves)
        most = max(len(self._rows), _FEW)
        return found if len(found) <= most else found[np.argpartition(-gains[found], most)[:most]]

    def retire_surplus(self, reduced_costs: Floats) -> None:
        """If the linear program has too many columns, remove those with the worst reduced costs."""
        table, count = self._table, len(self._rows)
        active = table.active
        if len(active) - self._least <= max(_MANY * count, 2 * _FEW):
            return
        priced_out = self._objective.sense.sign * reduced_costs
        candidates = np.flatnonzero(self._removable & (priced_out > TOLERANCES.pruning * self._objective.scale))
        surplus = len(candidates) - max(_ENOUGH * count, _FEW)
        if surplus <= 0:
            return
        gone = np.zeros(len(active), dtype=np.bool_)
        gone[candidates[np.argpartition(-priced_out[candidates], surplus - 1)[:surplus]]] = True
        self._program.retire(gone)

    def retire_old(self, age: int) -> int:
        """Remove columns that have been priced out for ``age`` solves.  Return their number."""
        gone = self._removable & (self._table.ages[self._table.active] >= age)
        if gone.any():
            self._program.retire(gone)
        return int(gone.sum())

    @property
    def _removable(self) -> Mask:
        """Mask of columns without bounds of their own or of the node."""
        table = self._table
        free = (table.lower_now == 0.0) & (table.lower == 0.0) & np.isposinf(table.upper) & (table.origins != TEMPLATE)
        mask: Mask = free[table.active]
        return mask
