"""Rows that know their coefficients by function: of one column at a time, or as families of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from colgen.core.columns import Column, Row, RowFamily

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

Entries = tuple[list[int], list[float]]
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

    def entries(self, columns: Sequence[Column]) -> list[Entries]:
        """Where the columns enter these rows, one pair of lists a column."""
        found: list[Entries] = [([], []) for _ in columns]
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
