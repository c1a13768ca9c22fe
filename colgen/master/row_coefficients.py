"""Coefficients that rows compute themselves: by a column's key, by a function, or by a family."""

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
"""Positions of the rows that a column enters, and its coefficients there."""

_NOTHING: Mapping[int, float] = {}


@dataclass
class _Members:
    family: RowFamily
    positions: list[int] = field(default_factory=list)
    indices: list[object] = field(default_factory=list)


class RowsByFunction:
    """The rows of a master that know their coefficients by function, with their positions."""

    def __init__(self) -> None:
        self._single: list[tuple[int, Row]] = []
        self._families: dict[int, _Members] = {}

    def __len__(self) -> int:
        return len(self._single) + sum(len(members.positions) for members in self._families.values())

    def __bool__(self) -> bool:
        return bool(self._single or self._families)  # asked for each column that is priced: nothing is counted

    def append(self, position: int, row: Row) -> None:
        """Add a row; one that knows nothing by function is passed over."""
        if row.family is not None:
            members = self._families.setdefault(id(row.family), _Members(row.family))
            members.positions.append(position)
            members.indices.append(row.key[1])
        elif row.coefficient is not None:
            self._single.append((position, row))

    def entries(self, columns: Sequence[Column]) -> list[ColumnEntries]:
        """Where the columns enter these rows, one pair of lists a column."""
        found: list[ColumnEntries] = [([], []) for _ in columns]
        if not found:
            return found
        each = list(columns) if self._single else columns  # those of a batch are made once
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
    """Coefficients of columns in each of some rows, by the number of the column: families are asked once."""
    if not columns:
        return [_NOTHING] * len(rows)  # rows come by the thousand, and most of them state what they have by key
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
