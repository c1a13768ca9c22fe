"""The first basis of a linear master, from another run, and the last one, for the result's pool."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from colgen.core.column_batch import Mask
from colgen.core.columns import Key
from colgen.core.duals import Duals, OwnDuals
from colgen.core.pool import Pool
from colgen.core.warm_start import Basis
from colgen.master.column_pool import NOWHERE
from colgen.master.column_table import TEMPLATE, Generated
from colgen.master.tableau import Tableau
from colgen.solvers.linear.highs import basic_columns, basic_rows


class Bases:
    """Passes bases from run to run, by names of variables and rows."""

    def __init__(self, tableau: Tableau, column_keys: Sequence[Key], generated: Generated) -> None:
        self._table, self._rows, self._program, self._objective = tableau
        self._generated = generated
        self._column_keys = column_keys
        self.first: Basis | None = None

    def begin(self) -> None:
        """Start the first solve from existing columns and rows of another run's basis."""
        basis, self.first = self.first, None
        if basis is None:
            return
        table, names = self._table, self._rows.names
        found = self._generated.find(basis.columns).tolist()
        found += [table.position.get(key, NOWHERE) for key in basis.variables]
        columns, rows = np.zeros(len(table), dtype=np.bool_), np.zeros(len(self._rows), dtype=np.bool_)
        columns[[k for k in found if k != NOWHERE]] = True
        rows[[names.position[key] for key in basis.rows if key in names.position]] = True
        self._program.lp.begin_at(columns[table.active], rows)

    def pool(self, duals: OwnDuals) -> Pool:
        """Return the columns and the last basis.  Nothing is basic before the first solve."""
        table = self._table
        oracle_columns = np.flatnonzero(table.origins != TEMPLATE)
        reduced = np.full(len(oracle_columns), math.nan)
        if isinstance(duals, Duals):
            with self._objective.real():
                reduced = self._objective.reduced_costs(duals)[oracle_columns]
        basis = self._program.lp.basis() if self._program.is_built else None
        active, count = table.active.copy(), len(table)
        column_keys, keys = self._column_keys, self._rows.names.keys  # avoids a reference to the master

        def basic() -> tuple[Mask, Sequence[Key], Sequence[Key]]:
            found = np.zeros(count, dtype=np.bool_)
            if basis is None:
                return found[oracle_columns], [], []
            found[active] = basic_columns(basis)
            variables = [key for key, is_in in zip(column_keys, found, strict=False) if is_in]
            rows = np.flatnonzero(basic_rows(basis)).tolist()
            return found[oracle_columns], variables, [keys[row] for row in rows]

        return Pool(self._generated.columns, reduced, basic, oracle_columns)
