"""Complete columns by the coefficients that a master's rows define."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

import numpy as np

from colgen.core.column_batch import FEW, Columns
from colgen.core.columns import Column, Key, Row
from colgen.core.duals import RowNames
from colgen.core.errors import FormulationError, UnknownRowError
from colgen.master.column_pool import Floats
from colgen.master.row_coefficients import StatedByRows


class LookUp:
    """Converts columns to batches over the rows of the master, whose names it shares."""

    def __init__(self, names: RowNames) -> None:
        self._names = names
        self._stated = StatedByRows()
        self._last: Columns | None = None

    def store_row(self, row: Row, position: int) -> None:
        """Store the coefficients of a new row."""
        self._stated.store_row(row, position)

    def store_entries(self, keys: Sequence[Key | None], rows: Sequence[int], values: Sequence[float]) -> None:
        """Store entries of new rows in the columns of these keys."""
        self._stated.store_entries(keys, rows, values)

    def batch(self, columns: Sequence[Column]) -> Columns:
        """Return columns as a batch, cached because the columns of an answer are added and then checked."""
        if isinstance(columns, Columns):
            return columns
        given = () if self._last is None else self._last.meanings.given or ()
        if self._last is None or len(given) != len(columns) or not all(map(operator.is_, given, columns)):
            self._last = Columns.of(columns)
        return self._last

    def over(self, columns: Sequence[Column], *, strict: bool = True) -> Columns:
        """Return columns as a batch over the present rows, with entries of these.

        The result is cached in the batch until rows are added.  With ``strict``, coefficients in missing rows raise an
        error, unless the column brings the row.
        """
        batch = self.batch(columns)
        keys, position = self._names.keys, self._names.position
        try:
            batch = batch.over(keys, position, strict=strict)
        except KeyError as missing:
            raise self._unknown_row(batch, missing.args[0]) from None
        if batch.stated_by != len(keys):
            batch.stated, batch.stated_by = self._stated.entries_of_batch(batch), len(keys)
            _check_stated(batch)
        return batch

    def products_of_few(self, columns: Sequence[Column], duals: Floats) -> list[float] | None:
        """Return πᵀa_j of a few columns without entries of rows, otherwise None."""
        if isinstance(columns, Columns) or len(columns) > FEW:
            return None
        position, known, products = self._names.position, len(duals), []
        for column in columns:
            if column.rows or self._stated.may_extend(column):
                return None
            product = 0.0
            for key, amount in column.coefficients.items():
                row = position.get(key)
                if row is None:  # over() raises the error
                    return None
                if row < known:  # rows added after the dual values count as zero
                    product += amount * duals.item(row)
            if not math.isfinite(product):
                return None
            products.append(product)
        return products

    def _unknown_row(self, batch: Columns, key: Key) -> UnknownRowError:
        column = batch[int(np.argmax(batch.covering(key)))]
        return UnknownRowError(
            f"the column of {column.structure!r} has a coefficient in row {key!r}, which the master does not have: "
            f"add the row to the template, or let the column bring it by Column.rows{self._names.suggest(key)}"
        )


def _check_stated(batch: Columns) -> None:
    if batch.stated is None:
        return
    owners, _, values = batch.stated
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise FormulationError(
            f"the column of {batch.meanings.of(int(owners[bad[0]]))!r} has a coefficient that is not a finite number"
        )
