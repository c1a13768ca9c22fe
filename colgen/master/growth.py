"""Add columns and rows to a linear master."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from colgen.core.column_batch import Columns, Entries
from colgen.core.columns import Column, Key, Row
from colgen.core.errors import FormulationError
from colgen.core.row_batch import RowBatch
from colgen.core.terms import Term
from colgen.master.artificials import Artificials
from colgen.master.column_pool import NOWHERE, Floats, Ints, Origins
from colgen.master.column_table import Generated, merge_entries
from colgen.master.idle_columns import IdleColumns
from colgen.master.lookup import LookUp
from colgen.master.node_columns import NodeRestrictions
from colgen.master.row_coefficients import entries_of_rows
from colgen.master.tableau import Tableau
from colgen.solvers.linear.scaling import sizes_of_rows


class Growth:
    """Adds new columns and rows to the table, the rows and the program.

    ``restrictions`` are the columns that the present node allows.  ``refuse`` is called with new rows and raises if an
    oracle cannot price them.
    """

    def __init__(
        self,
        tableau: Tableau,
        lookup: LookUp,
        generated: Generated,
        restrictions: NodeRestrictions,
        artificials: Artificials,
        idle: IdleColumns,
        refuse: Callable[[Iterable[Row]], None],
    ) -> None:
        self._table, self._rows, self._program, self._objective = tableau
        self._lookup, self._restrictions, self._artificials, self._idle = lookup, restrictions, artificials, idle
        self._generated = generated
        self._refuse = refuse
        self.joined: list[Row] = []
        """Added rows with sides of their own.  Rows of decisions have none."""
        self._released: set[Key] = set()

    # --- columns -----------------------------------------------------------------------------------------------------

    def add(self, columns: Sequence[Column], rows: Sequence[Row], origins: Origins) -> int:
        """Add rows, including those that columns bring, then columns.  Return the number of new columns."""
        batch = self._lookup.batch(columns)
        brought = batch.meanings.brought
        if brought:
            where = self._generated.find(batch)
            rows = [*rows, *(row for k, mine in brought.items() if where[k] == NOWHERE for row in mine)]
        self.add_rows(rows)
        if not len(batch):
            return 0
        batch = self._lookup.over(batch)
        sources: Ints = origins if isinstance(origins, np.ndarray) else np.full(len(batch), origins)
        once = batch.distinct()
        if once is not None:
            batch, sources = batch.take(once), sources[once]
        where = self._generated.positions(batch)
        self._generated.forget()
        new = where == NOWHERE
        if not new.all():
            self._idle.activate(np.unique(where[~new][self._table.place[where[~new]] < 0]))
            batch, sources = batch.take(new), sources[new]
        if len(batch):
            self._append(batch, sources)
        return len(batch)

    def _append(self, batch: Columns, origins: Ints) -> None:
        table, unsized, stated = self._table, self._rows.unsized, batch.stated
        where = table.append(batch, origins)
        starts: Ints = batch.starts
        rows: Ints = batch.rows
        values = batch.values
        if stated is not None:
            table.add_entries(where[stated[0]], *stated[1:])
            starts, rows, values = merge_entries(len(batch), batch.owners, rows, values, *stated)
        if self._rows.has_unsized and unsized[rows].any():
            self._artificials.size_rows(rows, values)
        allowed = self._restrictions.allows(batch, int(where[0]))
        if allowed is not None:
            table.upper_now[where[~allowed]] = 0.0
        costs = batch.costs if self._objective.phase == 2 else np.zeros(len(where))
        self._program.append(where, costs, starts, rows, values)

    # --- rows --------------------------------------------------------------------------------------------------------

    def add_rows(self, rows: Iterable[Row], sides: Mapping[Key, tuple[float, float]] | None = None) -> None:
        """Append new rows with their coefficients in all present columns.

        Existing rows are ignored, but released ones get their sides back.  ``sides`` gives known sides of rows that are
        added without sides, which determine their sizes.
        """
        all_rows, rows = self._rows, list(rows)
        back = [row for row in rows if row.key in self._released]
        if back:
            self._released -= {row.key for row in back}
            self.joined += back
            self._set_sides(back, [row.lower for row in back], [row.upper for row in back])
        missing = {row.key: row for row in rows if row.key not in all_rows.names.position}
        if not missing:
            return
        self._refuse(missing.values())
        new = list(missing.values())
        self.joined += [row for row in new if row.lower > -math.inf or row.upper < math.inf]
        entries = self._enter(new)
        lower, upper = np.array([row.lower for row in new]), np.array([row.upper for row in new])
        known = np.stack([lower, upper], axis=1)
        if sides:
            known = np.array([sides.get(row.key, (row.lower, row.upper)) for row in new])
        self._append_rows(lower, upper, known, entries)

    def release(self, keys: Iterable[Key]) -> int:
        """Remove the sides of joined rows.  Return how many had any."""
        gone = set(keys)
        rows = [row for row in self.joined if row.key in gone]
        self.joined = [row for row in self.joined if row.key not in gone]
        self._released |= {row.key for row in rows}
        self._set_sides(rows, -np.inf, np.inf)
        return len(rows)

    def _set_sides(self, rows: Sequence[Row], lower: ArrayLike, upper: ArrayLike) -> None:
        all_rows = self._rows
        positions = np.array([all_rows.names.position[row.key] for row in rows], dtype=np.int64)
        all_rows.lower[positions], all_rows.upper[positions] = lower, upper
        self._program.change_row_bounds(positions, all_rows.lower[positions], all_rows.upper[positions])

    def add_batch(self, batch: RowBatch) -> None:
        """Append rows given as arrays over the table's columns.  Existing rows are ignored."""
        all_rows = self._rows
        missing = [k for k, key in enumerate(batch.keys) if key not in all_rows.names.position]
        if len(missing) < len(batch):
            batch = batch.take(np.array(missing, dtype=np.int64))
        if not len(batch):
            return
        if len(batch.columns) and not 0 <= batch.columns.min() <= batch.columns.max() < len(self._table):
            raise FormulationError(
                f"a batch of rows has entries at column positions {batch.columns.min()} to {batch.columns.max()}, "
                f"expected 0 to {len(self._table) - 1}"
            )
        if any(issubclass(kind, Term) for kind in {type(key[1]) for key in batch.keys}):
            self._refuse([Row(key) for key in batch.keys])
        self._store_entries(batch, len(all_rows))
        all_rows.names.extend(batch.keys)
        self._append_rows(
            batch.lower,
            batch.upper,
            np.stack([batch.lower, batch.upper], axis=1),
            (batch.starts, batch.columns, batch.values),
        )

    def _store_entries(self, batch: RowBatch, first: int) -> None:
        """Store entries of generated columns with keys."""
        owners = np.repeat(np.arange(first, first + len(batch)), np.diff(batch.starts))
        generated = np.flatnonzero(self._table.is_generated(batch.columns))
        keys = self._table.keys_of(batch.columns[generated])
        self._lookup.store_entries(keys, owners[generated].tolist(), batch.values[generated].tolist())

    def _append_rows(self, lower: Floats, upper: Floats, known: Floats, entries: Entries) -> None:
        """Append rows that have been named, with their sides and entries: starts, columns, values."""
        all_rows, (starts, columns, values) = self._rows, entries
        first, count = len(all_rows) - len(lower), len(lower)
        owners = np.repeat(np.arange(count), np.diff(starts))
        sizes = sizes_of_rows(owners, values, known[:, 0], known[:, 1])
        all_rows.extend(lower, upper, sizes)
        self._program.append_rows(lower, upper, (owners, columns, values), sizes)
        self._table.add_entries(columns, first + owners, values)
        added = np.arange(first, len(all_rows))
        self._artificials.add(added[lower > 0], 1.0)
        self._artificials.add(added[upper < 0], -1.0)

    def _enter(self, new: Sequence[Row]) -> Entries:
        """Name new rows.  Return starts, columns and values of their entries in present columns."""
        all_rows, table = self._rows, self._table
        starts: list[int] = [0]
        columns: list[int] = []
        found: list[float] = []
        place = table.position.get
        generated = list(table.generated()) if any(row.family or row.coefficient for row in new) else []
        by_function = entries_of_rows(new, [column for _, column in generated])
        for position, (row, stated) in enumerate(zip(new, by_function, strict=True), len(all_rows)):
            if not (row.lower <= row.upper and row.lower < math.inf and row.upper > -math.inf):
                raise FormulationError(
                    f"row {row.key!r} has the sides {row.lower} and {row.upper}; expected lower ≤ upper"
                )
            self._lookup.store_row(row, position)
            for key, value in row.coefficients.items():
                where = place(key)
                if where is not None:
                    columns.append(where)
                    found.append(float(value))
            if stated:
                own = set(columns[starts[-1] :])  # entries by key take precedence
                more = {generated[number][0]: value for number, value in stated.items()}
                columns += [where for where in more if where not in own]
                found += [value for where, value in more.items() if where not in own]
            bounded = math.isfinite(row.lower) or math.isfinite(row.upper)  # rows of decisions have no sides
            if bounded and row.family is not None and row.family.idle_after is not None:
                all_rows.idle.append(position, row.family.idle_after)
            starts.append(len(columns))
        all_rows.names.extend([row.key for row in new])
        values = np.array(found, dtype=np.float64)
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            named = new[int(np.searchsorted(starts, bad[0], side="right")) - 1]
            raise FormulationError(f"row {named.key!r} has a coefficient that is not a finite number")
        return np.array(starts, dtype=np.int64), np.array(columns, dtype=np.int64), values
