"""Columns over a master's rows, with what the rows state of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from colgen.core.column_batch import FEW, Columns
from colgen.core.columns import Column, Key, Row
from colgen.core.duals import RowNames
from colgen.core.errors import FormulationError, UnknownRowError
from colgen.master.column_pool import Floats
from colgen.master.row_coefficients import StatedByRows


class LookUp:
    """Puts columns over the rows of these names.

    Parameters
    ----------
    names
        Of the rows; it grows with them.
    """

    def __init__(self, names: RowNames) -> None:
        self._names = names
        self._stated = StatedByRows()

    def learn(self, row: Row, position: int) -> None:
        """Store what a new row states of columns."""
        self._stated.learn(row, position)

    def learn_entries(self, keys: Sequence[Key | None], rows: Sequence[int], values: Sequence[float]) -> None:
        """Store what new rows state of the columns of these keys, one entry each."""
        self._stated.learn_entries(keys, rows, values)

    def over(self, columns: Sequence[Column], *, strict: bool = True) -> Columns:
        """Return columns as a batch over the rows that are there, with what these state.

        A batch is asked about once: it keeps the answer until there are more rows.

        Parameters
        ----------
        strict
            Whether a column may have coefficients in rows that it brings, but in no others that are not there.
        """
        batch = columns if isinstance(columns, Columns) else Columns.of(columns)
        keys, position = self._names.keys, self._names.position
        try:
            batch = batch.over(keys, position, strict=strict)
        except KeyError as missing:
            raise self._unknown_row(batch, missing.args[0]) from None
        if batch.stated_by != len(keys):
            batch.stated, batch.stated_by = self._stated.of_batch(batch), len(keys)
            _check_stated(batch)
        return batch

    def products_of_few(self, columns: Sequence[Column], duals: Floats) -> list[float] | None:
        """πᵀa_j of a few single columns, term by term; None where there are more, or rows state more of them."""
        if isinstance(columns, Columns) or len(columns) > FEW:
            return None
        position, known, products = self._names.position, len(duals), []
        for column in columns:
            if column.rows or self._stated.speaks_of(column):
                return None
            product = 0.0
            for key, amount in column.coefficients.items():
                row = position.get(key)
                if row is None:  # over() says what is wrong
                    return None
                if row < known:  # rows younger than the dual values count as zero
                    product += amount * duals.item(row)
            if not math.isfinite(product):
                return None
            products.append(product)
        return products

    def _unknown_row(self, batch: Columns, key: Key) -> UnknownRowError:
        column = batch[int(np.argmax(batch.covering(key)))]
        return UnknownRowError(
            f"the column of {column.structure!r} has a coefficient in row {key!r}, which the master does not have: "
            f"add the row to the template, or let the column bring it in Column.rows{self._names.instead_of(key)}"
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
