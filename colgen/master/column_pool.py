"""The column pool: all columns of the master as growing arrays."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.column_batch import Columns, LazyColumns, Lookup, Meanings, make_batch, select_columns
from colgen.core.columns import Column, Key, Row
from colgen.master.growing_arrays import Growing, GrowingTogether, SignatureIndex

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.integer[Any]]

Origins: TypeAlias = int | Ints
"""Index of the pricing problem of each column, or one for all; -1 if unknown."""

_GIVEN = -1
"""The least origin of a generated column."""

NOWHERE = -1
"""Position of a column that is not in the pool."""


class ColumnPool:
    """Columns in compressed form over the rows of a master, identified by key, or by cost and coefficients.

    ``costs``, ``lower``, ``upper``, ``integer`` and ``origins`` have one entry per column, in order of addition.
    ``starts``, ``rows`` and ``values`` are the columns' own coefficients.  ``position`` maps keys to positions.
    """

    def __init__(self, row_keys: Sequence[Key], row_position: Mapping[Key, int]) -> None:
        self.row_keys, self.row_position = row_keys, row_position
        self._each = GrowingTogether(np.float64, np.float64, np.float64, np.bool_, np.int32)
        self._starts = Growing(np.zeros(1, dtype=np.int32))
        self._entries = GrowingTogether(np.int32, np.float64)
        self._signatures = Growing(np.empty(0, dtype=np.uint64))
        self._index = SignatureIndex(self._signatures)
        self.position: dict[Hashable, int] = {}
        self._found: dict[Hashable, int] = {}
        self._keys: dict[int, Key] = {}
        self._num_named = 0
        self._rows_brought: dict[int, Sequence[Row]] = {}
        self._firsts: list[int] = []
        self._meanings: list[Meanings | None] = []
        self._made: dict[int, Column] = {}
        self._refresh()

    def _refresh(self) -> None:
        self.costs, self.lower, self.upper, self.integer, self.origins = self._each.arrays
        self.starts = self._starts.array
        self.rows, self.values = self._entries.arrays

    def __len__(self) -> int:
        return len(self.costs)

    # --- growing -----------------------------------------------------------------------------------------------------

    def append(self, batch: Columns, origin: int | Ints) -> Ints:
        """Append the columns of a batch, all of them new.  Return their positions."""
        where = self._grow(
            batch.costs,
            batch.lower,
            batch.upper,
            batch.integer,
            batch.starts,
            batch.rows,
            batch.values,
            origin,
            batch.signatures,
        )
        if batch.keys is None:
            self._index.add(where)
        else:
            named = np.array([key is not None for key in batch.keys], dtype=np.bool_)
            self._index.add(where[~named])
            for position, key in zip(where.tolist(), batch.keys, strict=True):
                if key is not None:
                    self.position[key] = position
                    self._keys[position] = key
                    self._num_named += 1
        self._firsts.append(int(where[0]))
        self._meanings.append(batch.meanings)
        self._rows_brought.update({int(where[0]) + k: rows for k, rows in batch.meanings.brought.items()})
        return where

    def _grow(
        self,
        costs: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        integer: ArrayLike,
        starts: NDArray[np.integer],
        rows: NDArray[np.integer],
        values: Floats,
        origin: int | Ints,
        signatures: ArrayLike = 0,
    ) -> Ints:
        count, entries, before = len(starts) - 1, len(rows), len(self)
        self._each.extend(count, costs, lower, upper, integer, origin)
        self._signatures.extend(signatures, count)
        self._starts.extend(starts[1:] + len(self.rows), count)
        self._entries.extend(entries, rows, values)
        self._refresh()
        return np.arange(before, before + count)

    # --- finding -----------------------------------------------------------------------------------------------------

    def find(self, batch: Columns) -> Ints:
        """Return positions of the columns of a batch; :data:`NOWHERE` for those that are not in the pool."""
        mine = (self.costs, self.starts, self.rows, self.values)
        if batch.keys is None:
            return self._index.find((batch.costs, batch.starts, batch.rows, batch.values), batch.signatures, mine)
        named = np.array([key is not None for key in batch.keys], dtype=np.bool_)
        found = np.full(len(batch), NOWHERE, dtype=np.int64)
        rest = np.flatnonzero(~named)
        if len(rest):
            theirs = (batch.costs[rest], *select_columns(batch.starts, batch.rows, batch.values, rest))
            found[rest] = self._index.find(theirs, batch.signatures[rest], mine)
        for k in np.flatnonzero(named).tolist():
            found[k] = self.position.get(batch.keys[k], NOWHERE)
        return found

    def where(self, identity: Hashable) -> int | None:
        """Return the position of the column of this :attr:`Column.identity`, or None."""
        position = self.position.get(identity, self._found.get(identity))
        if position is not None or not (isinstance(identity, tuple) and isinstance(identity[-1], frozenset)):
            return position
        cost, pattern = identity
        try:
            batch = Columns.of([Column(cost, dict(pattern))]).over(self.row_keys, self.row_position)
        except KeyError:
            return None
        found = int(self.find(batch)[0])
        if found == NOWHERE:
            return None
        self._found[identity] = found  # positions are final, and dives ask for the same columns at every step
        return found

    def _meaning(self, position: int) -> tuple[Meanings | None, int]:
        """Return the meanings of a column's batch, and its index there."""
        batch = bisect_right(self._firsts, position) - 1
        return (None, 0) if batch < 0 else (self._meanings[batch], position - self._firsts[batch])

    def structure(self, position: int) -> Any:
        meanings, k = self._meaning(position)
        return None if meanings is None else meanings.of(k)

    def structures(self, positions: Sequence[int]) -> list[Any]:
        """Return the structures of the columns at several positions.  Contiguous ones are looked up together."""
        places = np.asarray(positions, dtype=np.int64)
        batches = np.searchsorted(self._firsts, places, side="right") - 1
        ends = [*(np.flatnonzero(np.diff(batches)) + 1).tolist(), len(places)]
        found: list[Any] = []
        for end in ends if len(places) else ():
            run = slice(len(found), end)
            batch = int(batches[end - 1])
            meanings = None if batch < 0 else self._meanings[batch]
            if meanings is None:
                found += [None] * (end - len(found))
            else:
                found += meanings.each((places[run] - self._firsts[batch]).tolist())
        return found

    def keys_of(self, positions: Ints) -> list[Key | None]:
        return list(map(self._keys.get, positions.tolist()))

    def is_generated(self, positions: Ints) -> NDArray[np.bool_]:
        """Return which positions hold columns of oracles, or given ones."""
        return np.asarray(self.origins[positions] >= _GIVEN)

    def column(self, position: int) -> Column | None:
        """Return the column of an oracle at a position, built once, or None."""
        column = self._made.get(position)
        if column is None:
            column = self._make(position)
            if column is not None:
                self._made[position] = column
        return column

    def _generated(self, position: int) -> Column:
        column = self.column(position)
        assert column is not None
        return column

    def _make(self, position: int) -> Column | None:
        meanings, k = self._meaning(position)
        if meanings is None:
            return None
        if meanings.given is not None:
            return meanings.given[k]
        begin, end = int(self.starts[position]), int(self.starts[position + 1])
        rows, values = self.rows[begin:end].tolist(), self.values[begin:end].tolist()
        return Column(
            float(self.costs[position]),
            {self.row_keys[row]: value for row, value in zip(rows, values, strict=True)},
            meanings.of(k),
            self._keys.get(position),
            float(self.lower[position]),
            float(self.upper[position]),
            bool(self.integer[position]),
        )

    def generated(self, first: int = 0) -> Iterator[tuple[int, Column]]:
        """Yield positions and columns of oracles from a position on, without storing them."""
        for position in (first + np.flatnonzero(self.origins[first : len(self)] >= _GIVEN)).tolist():
            column = self.column(position) if position in self._made else self._make(position)
            if column is not None:
                yield position, column

    def batch(self, positions: Ints) -> Columns:
        """Return the columns at some positions as a batch."""
        chosen: slice | Ints = positions
        places: Sequence[int]
        if len(positions) and (positions[1:] - positions[:-1] == 1).all():  # contiguous: views suffice
            first = int(positions[0])
            chosen, places = slice(first, first + len(positions)), range(first, first + len(positions))
        else:
            places = positions.tolist()
        named = self._num_named and any(position in self._keys for position in places)
        return make_batch(
            self.costs[chosen],
            select_columns(self.starts, self.rows, self.values, chosen),
            Meanings(
                Lookup(self.structure, self.structures, places),
                None,
                LazyColumns(self._generated, places),
                {k: self._rows_brought[place] for k, place in enumerate(places) if place in self._rows_brought}
                if self._rows_brought
                else {},
            ),
            [self._keys.get(position) for position in places] if named else None,
            self.upper[chosen],
            self.lower[chosen],
            self.integer[chosen],
            self.row_keys,
            self.row_position,
            self._signatures.array[chosen],
        )
