"""What rows say of columns that do not name them: coefficients by the column's key, by a function, by a family."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen.core.batches import Columns
from colgen.core.columns import Column, Row
from colgen.master.by_function import RowsByFunction

Entries: TypeAlias = tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]], NDArray[np.float64]]
"""Column, row and value of each entry."""


class StatedByRows:
    """The rows that state coefficients of columns, those that are still to come included.

    A column's own coefficient comes first in rank, then what the row states of it by key, then what it knows by
    function.
    """

    def __init__(self) -> None:
        self._by_key: dict[Hashable, list[tuple[int, float]]] = {}
        self._by_function = RowsByFunction()

    def learn(self, row: Row, position: int) -> None:
        """Remember what a row says, of columns that are here as well: others may come with the same key."""
        for key, value in row.coefficients.items():
            self._by_key.setdefault(key, []).append((position, float(value)))
        if row.family is not None or row.coefficient is not None:
            self._by_function.append(position, row)

    def learn_entries(self, keys: Sequence[Hashable], rows: Sequence[int], values: Sequence[float]) -> None:
        """Remember what rows say of the columns of these keys, one entry each; None is no key."""
        known = self._by_key
        for key, entry in zip(keys, zip(rows, values, strict=True), strict=True):
            if key in known:
                known[key].append(entry)
            elif key is not None:
                known[key] = [entry]

    def speaks_of(self, column: Column) -> bool:
        """Whether rows may state entries of a column."""
        return bool(self._by_function) or (column.key is not None and column.key in self._by_key)

    def of_column(self, column: Column, own: list[int]) -> tuple[list[int], list[float]]:
        """Rows and coefficients of one column besides those of the rows that it names itself."""
        by_function = self._by_function.entries([column])[0] if self._by_function else ([], [])
        found = self._ranked(column.key, set(own), *by_function)
        return list(found), list(found.values())

    def _ranked(self, key: Hashable, own: set[int], rows: list[int], values: list[float]) -> dict[int, float]:
        found: dict[int, float] = {}
        by_key = () if key is None else self._by_key.get(key, ())
        for row, value in [*by_key, *zip(rows, values, strict=True)]:
            if row not in own:
                found.setdefault(row, value)
        return found

    def of_batch(self, batch: Columns) -> Entries | None:
        """The entries of a batch besides its own; None if there are none."""
        if not self._by_function and (batch.keys is None or not self._by_key):
            return None
        by_function = self._by_function.entries(batch) if self._by_function else None
        columns: list[int] = []
        rows: list[int] = []
        values: list[float] = []
        for k in range(len(batch)):
            key = None if batch.keys is None else batch.keys[k]
            more = ([], []) if by_function is None else by_function[k]
            if more[0] or (key is not None and key in self._by_key):
                own = set(batch.rows[batch.starts[k] : batch.starts[k + 1]].tolist())
                found = self._ranked(key, own, *more)
                columns += [k] * len(found)
                rows += found.keys()
                values += found.values()
        if not values:
            return None
        return np.array(columns, dtype=np.int64), np.array(rows, dtype=np.int64), np.array(values, dtype=np.float64)
