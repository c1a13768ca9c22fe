"""Columns looked up in a master's rows: as a batch with its entries, remembered for the next question of a round."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from colgen.core.column_batch import Columns, Meanings
from colgen.core.columns import Column, Key, Row
from colgen.core.duals import RowNames
from colgen.core.errors import FormulationError, UnknownRowError
from colgen.master.column_pool import Floats, Ints
from colgen.master.row_coefficients import Entries, StatedByRows

_FEW = 16
"""So many single columns, or fewer, are priced term by term."""

_REMEMBERED = 10_000
"""So many columns or batches that have been looked up are remembered."""


class LookedUp(NamedTuple):
    """A batch with what rows state of it, and what it was made of."""

    asked: Sequence[Column]
    batch: Columns
    stated: Entries | None
    new_among: int = -1
    """With so many columns in the table all of these were new."""

    def take(self, chosen: Ints) -> LookedUp:
        """Some of the columns, by their numbers."""
        batch, stated = self.batch.take(chosen), self.stated
        if stated is not None:
            number = np.full(len(self.batch), -1)
            number[chosen] = np.arange(len(chosen))
            mine = number[stated[0]] >= 0
            stated = (number[stated[0][mine]], stated[1][mine], stated[2][mine])
        return LookedUp(batch, batch, stated)


class LookUp:
    """Looks columns up in the rows of these names.

    Parameters
    ----------
    names
        Of the rows; it grows with them.
    """

    def __init__(self, names: RowNames) -> None:
        self._names = names
        self._stated = StatedByRows()
        self._looked_up: dict[int, LookedUp] = {}
        self._singles: dict[int, tuple[LookedUp, int]] = {}

    def learn(self, row: Row, position: int) -> None:
        """Take in what a new row says of columns."""
        self._stated.learn(row, position)

    def learn_entries(self, keys: Sequence[Key | None], rows: Sequence[int], values: Sequence[float]) -> None:
        """Take in what new rows say of the columns of these keys, one entry each."""
        self._stated.learn_entries(keys, rows, values)

    def entries(self, column: Column) -> tuple[list[int], list[float]]:
        """Positions of the rows that a column has coefficients in, and the coefficients."""
        return self._find(self._known_part(column))

    def known_entries(self, column: Column) -> tuple[list[int], list[float]]:
        """The same, where some of the column's rows may be missing: they are left out."""
        own = {key: a for key, a in column.coefficients.items() if key in self._names.position}
        return self._find(dataclasses.replace(column, coefficients=own))

    def _find(self, column: Column) -> tuple[list[int], list[float]]:
        position = self._names.position
        try:
            rows = [position[key] for key in column.coefficients]
        except KeyError as missing:
            raise self._unknown_row(column, missing.args[0]) from None
        more_rows, more_values = self._stated.of_column(column, rows)
        return rows + more_rows, [*column.coefficients.values(), *more_values]

    def _unknown_row(self, column: Column, key: Key) -> UnknownRowError:
        return UnknownRowError(
            f"the column of {column.structure!r} has a coefficient in row {key!r}, which the master does not have: "
            f"add the row to the template, or let the column bring it in Column.rows{self._names.instead_of(key)}"
        )

    def products_of_few(self, columns: Sequence[Column], duals: Floats) -> list[float] | None:
        """πᵀa_j of a few single columns, term by term; None where arrays are sooner done, or rows say more of them."""
        if isinstance(columns, Columns) or len(columns) > _FEW:
            return None
        position, known, products = self._names.position, len(duals), []
        for column in columns:
            if column.rows or self._stated.speaks_of(column):
                return None
            product = 0.0
            for key, amount in column.coefficients.items():
                row = position.get(key)
                if row is None:  # refused elsewhere, in words
                    return None
                if row < known:  # rows younger than the dual values count as zero
                    product += amount * duals.item(row)
            if not math.isfinite(product):
                return None
            products.append(product)
        return products

    def of(self, columns: Sequence[Column]) -> LookedUp:
        """Columns as a batch over the rows that are there, remembered: a round asks for the same ones several times."""
        if isinstance(columns, Columns):
            known = self._looked_up.get(id(columns))
            if known is not None:
                return known
        else:
            found = [self._singles.get(id(column)) for column in columns]
            if found[0] is not None and all(one is not None and one[0] is found[0][0] for one in found):
                known = found[0][0]
                numbers = [one[1] for one in found if one is not None]
                return known if numbers == list(range(len(known.batch))) else known.take(np.array(numbers))
        known = self.once(columns)
        if len(self._singles) > _REMEMBERED or len(self._looked_up) > _REMEMBERED:
            self.forget()  # who never adds columns asks on and on
        if isinstance(columns, Columns):
            self._looked_up[id(columns)] = known
        else:
            self._remember(columns, known)
        return known

    def once(self, columns: Sequence[Column]) -> LookedUp:
        """The same for columns that nobody will ask of again."""
        batch = self.batch(columns)
        stated = self._stated.of_batch(batch)
        if stated is not None:
            _check_stated(batch, stated)
        return LookedUp(columns if isinstance(columns, Columns) else tuple(columns), batch, stated)

    def remember(self, known: LookedUp) -> LookedUp:
        """Remember a batch that was made of one."""
        self._looked_up[id(known.batch)] = known
        return known

    def remember_singles(self, known: LookedUp) -> None:
        """Remember a batch that was made of single columns, one by one."""
        self._remember(known.batch, known)

    def _remember(self, columns: Sequence[Column], known: LookedUp) -> None:
        self._singles.update((id(column), (known, k)) for k, column in enumerate(columns))

    def forget(self) -> None:
        """Forget all of it: there are other rows now, or nobody will ask again."""
        self._looked_up.clear()
        self._singles.clear()

    def batch(self, columns: Sequence[Column]) -> Columns:
        """Columns as a batch over the rows that are there."""
        keys, position = self._names.keys, self._names.position
        try:
            if isinstance(columns, Columns) and not columns.brings_rows:
                return columns.over(keys, position)
            batch = Columns.of([self._known_part(column) for column in columns], keys, position)
            batch.meanings = Meanings(given=list(columns))  # whole: another master has none of the rows that they bring
            return batch
        except KeyError as missing:
            key = missing.args[0]
        raise self._unknown_row(next(column for column in columns if key in column.coefficients), key)

    def _known_part(self, column: Column) -> Column:
        """The column without its coefficients in rows that it brings and that are not in the master."""
        if not column.rows:
            return column
        given, position = column.coefficients, self._names.position
        own = {key: a for key, a in given.items() if key in position}
        if len(own) < len(given):
            brought = {row.key for row in column.rows}
            if any(key not in own and key not in brought for key in given):
                return column
        # Columns of parts come by the thousand: replacing fields of one costs three times as much.
        return Column(column.cost, own, column.structure, column.key, column.lower, column.upper, column.integer)


def bring_rows(columns: Sequence[Column]) -> bool:
    """Whether some column brings rows along."""
    return columns.brings_rows if isinstance(columns, Columns) else any(column.rows for column in columns)


def _check_stated(batch: Columns, stated: Entries) -> None:
    bad = np.flatnonzero(~np.isfinite(stated[2]))
    if len(bad):
        raise FormulationError(
            f"the column of {batch.meanings.of(int(stated[0][bad[0]]))!r} has a coefficient that is not a finite number"
        )
