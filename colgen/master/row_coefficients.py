"""Coefficients that rows define: by a column's key, by a function, or by a family."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from colgen.core.column_batch import Columns, Entries
from colgen.core.columns import Column, Row, RowFamily

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ColumnEntries = tuple[list[int], list[float]]
"""Positions of the rows in which a column has coefficients, and the coefficients."""

_NOTHING: Mapping[int, float] = {}


@dataclass
class _Members:
    family: RowFamily
    positions: list[int] = field(default_factory=list)
    indices: list[object] = field(default_factory=list)


class RowsByFunction:
    """Rows with coefficients defined by a function, with their positions."""

    def __init__(self) -> None:
        self._single: list[tuple[int, Row]] = []
        self._families: dict[int, _Members] = {}

    def __bool__(self) -> bool:
        return bool(self._single or self._families)  # called for each priced column, so it must be fast

    def append(self, position: int, row: Row) -> None:
        """Add a row if it has a function."""
        if row.family is not None:
            members = self._families.setdefault(id(row.family), _Members(row.family))
            members.positions.append(position)
            members.indices.append(row.key[1])
        elif row.coefficient is not None:
            self._single.append((position, row))

    def entries(self, columns: Sequence[Column]) -> list[ColumnEntries]:
        """Return the entries of the columns in these rows, one pair of lists per column."""
        found: list[ColumnEntries] = [([], []) for _ in columns]
        if not found:
            return found
        each = list(columns) if self._single else columns  # builds the columns of a batch only once
        for position, row in self._single:
            for column, (rows, values) in zip(each, found, strict=True):
                value = row.coefficient_in(column)
                if value:
                    rows.append(position)
                    values.append(value)
        for members in self._families.values():
            owners, which, amounts = members.family.entries(columns, members.indices)
            for owner, k, amount in zip(owners.tolist(), which.tolist(), amounts.tolist(), strict=True):
                found[owner][0].append(members.positions[k])
                found[owner][1].append(amount)
        return found


def entries_of_rows(rows: Sequence[Row], columns: Sequence[Column]) -> Sequence[Mapping[int, float]]:
    """Return the coefficients in each row by index of the column.  Each family is called once."""
    if not columns:
        return [_NOTHING] * len(rows)  # fast path: rows may be many, most of them with coefficients by key
    found: list[dict[int, float]] = [{} for _ in rows]
    families: dict[int, tuple[RowFamily, list[int]]] = {}
    for number, row in enumerate(rows):
        if row.family is not None:
            families.setdefault(id(row.family), (row.family, []))[1].append(number)
        elif row.coefficient is not None:
            for k, column in enumerate(columns):
                value = row.coefficient_in(column)
                if value:
                    found[number][k] = value
    for family, numbers in families.values():
        owners, which, amounts = family.entries(columns, [rows[number].key[1] for number in numbers])
        for owner, k, amount in zip(owners.tolist(), which.tolist(), amounts.tolist(), strict=True):
            found[numbers[k]][owner] = amount
    return found


class StatedByRows:
    """Entries of columns that rows define, also for columns that are added later.

    A column's own coefficient takes precedence, then the row's coefficient by key, then that by function.
    """

    def __init__(self) -> None:
        self._by_key: dict[Hashable, list[tuple[int, float]]] = {}
        self._by_function = RowsByFunction()

    def store_row(self, row: Row, position: int) -> None:
        """Store a row's coefficients, also those in present columns, since others may have the same key."""
        for key, value in row.coefficients.items():
            self._by_key.setdefault(key, []).append((position, float(value)))
        if row.family is not None or row.coefficient is not None:
            self._by_function.append(position, row)

    def store_entries(self, keys: Sequence[Hashable], rows: Sequence[int], values: Sequence[float]) -> None:
        """Store entries of rows in the columns of these keys.  A key of None is ignored."""
        known = self._by_key
        for key, entry in zip(keys, zip(rows, values, strict=True), strict=True):
            if key in known:
                known[key].append(entry)
            elif key is not None:
                known[key] = [entry]

    def may_extend(self, column: Column) -> bool:
        """Return whether rows may define entries of a column."""
        return bool(self._by_function) or (column.key is not None and column.key in self._by_key)

    def _merge(self, key: Hashable, own: set[int], rows: list[int], values: list[float]) -> dict[int, float]:
        found: dict[int, float] = {}
        by_key = () if key is None else self._by_key.get(key, ())
        for row, value in [*by_key, *zip(rows, values, strict=True)]:
            if row not in own:
                found.setdefault(row, value)
        return found

    def entries_of_batch(self, batch: Columns) -> Entries | None:
        """Return the entries of a batch that rows define, if any."""
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
                found = self._merge(key, own, *more)
                columns += [k] * len(found)
                rows += found.keys()
                values += found.values()
        if not values:
            return None
        return np.array(columns, dtype=np.int64), np.array(rows, dtype=np.int64), np.array(values, dtype=np.float64)
