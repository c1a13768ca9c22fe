"""Which columns the linear program can do without, and which of those it wants back."""

from __future__ import annotations

import numpy as np

from colgen.core.column_batch import Mask
from colgen.core.tolerances import TOLERANCES
from colgen.master.column_pool import Floats, Ints
from colgen.master.column_table import TEMPLATE
from colgen.master.tableau import Tableau

_MANY, _ENOUGH = 6, 3
"""Where the generated columns in the linear program are more than so many times its rows, those that are priced out
by most become idle, until so many times are left."""

_FEW = 500
"""With so many columns, or fewer, all stay in the linear program."""


class IdleColumns:
    """The columns of a table that the linear program does without for the time being.

    Those with bounds of their own are never let go: oracles may leave them out of account.
    """

    def __init__(self, tableau: Tableau) -> None:
        self._table, self._rows, self._program, self._objective = tableau
        self._least = len(tableau.table)  # the template's variables

    def activate(self, positions: Ints) -> None:
        """Bring columns back."""
        if len(positions):
            self._program.activate(positions, self._objective.costs[positions])

    def activate_all(self) -> None:
        """Bring all of them back."""
        self.activate(np.flatnonzero(self._table.place < 0))

    def wanted(self, duals: Floats) -> Ints:
        """Those that improve at dual values, the best ones if they are many."""
        table, objective = self._table, self._objective
        if not table.num_idle:
            return np.empty(0, dtype=np.int64)
        gains = objective.sense.gains(objective.costs - table.row_products(duals))
        improves = gains > TOLERANCES.pruning * objective.scale
        found = np.flatnonzero((table.place < 0) & (table.upper_now > 0.0) & improves)
        most = max(len(self._rows), _FEW)
        return found if len(found) <= most else found[np.argpartition(-gains[found], most)[:most]]

    def retire_surplus(self, reduced_costs: Floats) -> None:
        """Where the linear program has too many columns, let those go that are priced out by most."""
        table, count = self._table, len(self._rows)
        active = table.active
        if len(active) - self._least <= max(_MANY * count, 2 * _FEW):
            return
        priced_out = self._objective.sense.sign * reduced_costs
        candidates = np.flatnonzero(self._free & (priced_out > TOLERANCES.pruning * self._objective.scale))
        surplus = len(candidates) - max(_ENOUGH * count, _FEW)
        if surplus <= 0:
            return
        gone = np.zeros(len(active), dtype=np.bool_)
        gone[candidates[np.argpartition(-priced_out[candidates], surplus - 1)[:surplus]]] = True
        self._program.retire(gone)

    def retire_old(self, age: int) -> int:
        """Let those go that have been priced out for so many solves; how many."""
        gone = self._free & (self._table.ages[self._table.active] >= age)
        if gone.any():
            self._program.retire(gone)
        return int(gone.sum())

    @property
    def _free(self) -> Mask:
        """Which columns of the linear program have no bounds of their own, and none of the node."""
        table = self._table
        free = (table.lower_now == 0.0) & (table.lower == 0.0) & np.isposinf(table.upper) & (table.origins != TEMPLATE)
        mask: Mask = free[table.active]
        return mask
