"""The columns of a linear master as growing arrays."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from colgen.core.column_batch import Columns, Mask, select_columns
from colgen.core.columns import Column, Key
from colgen.core.errors import FormulationError, UnknownRowError
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.master.column_pool import NOWHERE, ColumnPool, Floats, Ints
from colgen.master.growing_arrays import Growing, GrowingTogether
from colgen.master.lookup import LookUp
from colgen.model.rows import Rows
from colgen.pricing.oracles import Pricing
from colgen.solvers.columns.compressed import activities, find_used, products, update_ages

TEMPLATE = -2
"""Origin of template and artificial variables."""

GIVEN = -1
"""Origin of columns that the problem gave at the start; other origins are indices of pricing problems."""

IDLE = -1
"""Place of a column that is not in the linear program."""

_NOTHING: Ints = np.empty(0, dtype=np.int64)


class ColumnTable(ColumnPool):
    """All columns of a linear master (template, artificial and generated variables) as arrays.

    A column's position never changes.  Columns that are temporarily out of the linear program are idle.  ``active``
    has the positions of the others in the program's order, and ``place`` the inverse (:data:`IDLE` for idle ones).
    ``is_in_order`` is true if the program has all columns in the order of their positions.

    ``lower_now`` and ``upper_now`` are the bounds at the present node and phase.  ``weights`` are the phase 1 costs,
    zero except for artificial variables.  ``ages`` count the consecutive solves in which the reduced cost has kept a
    column nonbasic.  ``exchange`` has the positions of the exchanges among the artificial variables.  They are free in
    phase 2 while ``exchanging`` is true.
    """

    def __init__(
        self, formulation: Rows, weights: Floats, row_keys: Sequence[Key], row_position: Mapping[Key, int]
    ) -> None:
        super().__init__(row_keys, row_position)
        f = formulation
        n = len(f.costs)
        self._here = GrowingTogether(np.bool_, np.float64, np.float64, np.int16, np.int32, np.float64)
        self._active = Growing(np.empty(0, dtype=np.int32))
        self._brought: list[tuple[Ints, Ints, Floats]] = []
        self.is_in_order = True
        matrix = f.matrix
        self._firsts.append(0)
        self._meanings.append(None)
        self._grow(f.costs, f.lower, f.upper, f.integer, matrix.indptr, matrix.indices, matrix.data, TEMPLATE)
        self._track(n, f.artificial)
        self.exchange: Ints = np.flatnonzero(f.exchange) if f.exchange is not None else np.empty(0, dtype=np.int64)
        self.exchanging = len(self.exchange) > 0
        self.upper_now[f.artificial] = 0.0
        self.upper_now[self.exchange] = math.inf
        self.weights[f.artificial] = weights[f.artificial]
        self.position.update({key: k for k, key in enumerate(f.column_keys)})
        self._keys.update(enumerate(f.column_keys))

    def _track(self, count: int, artificial: Mask | bool) -> None:
        """Initialise the arrays of the last ``count`` columns, which enter the linear program."""
        first, active = len(self) - count, len(self._active)
        places = np.arange(active, active + count)
        self._here.extend(count, artificial, self.lower[first:], self.upper[first:], 0, places, 0.0)
        self._active.extend(places if first == active else np.arange(first, first + count), count)
        self._refresh_now()

    def _refresh_now(self) -> None:
        self.artificial, self.lower_now, self.upper_now, self.ages, self.place, self.weights = self._here.arrays
        self.active = self._active.array

    def keys(self) -> list[Key]:
        """Return a name for every column: its own, or a number in the block ``column`` or ``artificial``."""
        kinds = ("column", "artificial")
        flags = self.artificial.tolist()
        return [self._keys.get(k) or (kinds[flags[k]], k) for k in range(len(self))]

    # --- growing -----------------------------------------------------------------------------------------------------

    def append(self, batch: Columns, origin: int | Ints) -> Ints:
        where = super().append(batch, origin)
        self._track(len(where), False)
        return where

    def append_artificial(self, rows: Ints, values: Floats, phase: int) -> Ints:
        """Append one artificial variable per row: free in phase 1, zero in phase 2."""
        count = len(rows)
        self._firsts.append(len(self))
        self._meanings.append(None)
        where = self._grow(0.0, 0.0, 0.0, False, np.arange(count + 1), rows, values, TEMPLATE)
        self._track(count, True)
        self.weights[where] = 1.0
        self.upper_now[where] = math.inf if phase == 1 else 0.0
        return where

    def add_entries(self, columns: Ints, rows: Ints, values: Floats) -> None:
        """Append entries that rows define for columns."""
        if len(values):
            self._brought.append((columns, rows, values))

    # --- the linear program ------------------------------------------------------------------------------------------

    @property
    def num_idle(self) -> int:
        """Number of columns that are not in the linear program."""
        return len(self) - len(self.active)

    def activate(self, positions: Ints) -> None:
        """Append idle columns to the linear program."""
        self.place[positions] = np.arange(len(self.active), len(self.active) + len(positions))
        self.ages[positions] = 0
        self._active.extend(positions, len(positions))
        self._refresh_now()

    def retire(self, gone: Mask) -> None:
        """Make columns idle.  ``gone`` is a mask over the linear program's columns."""
        self.is_in_order = False
        self.place[self.active[gone]] = IDLE
        self._active = Growing(self.active[~gone])
        self._refresh_now()
        self.place[self.active] = np.arange(len(self.active))

    def update_ages(self, reduced_costs: Floats, sign: float, least: float) -> None:
        """Increase the age of active columns that worsen the objective by more than ``least``.  Reset other ages."""
        update_ages(self.ages, self.active, reduced_costs, sign, least)

    # --- the matrix --------------------------------------------------------------------------------------------------

    def _row_entries(self) -> tuple[Ints, Ints, Floats] | None:
        """Return column, row and value of the entries that rows define, if any."""
        if len(self._brought) > 1:
            columns, rows, values = (np.concatenate(part) for part in zip(*self._brought, strict=True))
            self._brought = [(columns, rows, values)]
        return self._brought[0] if self._brought else None

    def compressed(self, positions: Ints) -> tuple[Ints, Ints, Floats]:
        """Return starts, rows and values of some columns, including entries that rows define."""
        starts, rows, values = select_columns(self.starts, self.rows, self.values, positions)
        extra = self._row_entries()
        if extra is None:
            return starts.astype(np.int64), rows.astype(np.int64), values
        number = np.full(len(self), -1)
        number[positions] = np.arange(len(positions))
        mine = number[extra[0]] >= 0
        owners = np.repeat(np.arange(len(positions)), np.diff(starts))
        return merge_entries(
            len(positions), owners, rows, values, number[extra[0][mine]], extra[1][mine], extra[2][mine]
        )

    def matrix(self, columns: Ints | None, num_rows: int) -> sparse.csc_array:
        """Return the matrix of some columns, or of all."""
        starts, rows, values = self.compressed(np.arange(len(self)) if columns is None else columns)
        return sparse.csc_array((values, rows, starts), shape=(num_rows, len(starts) - 1))

    def entries_of(self, count: int) -> tuple[Ints, Ints, Floats]:
        """Return column, row and value of every entry of the first ``count`` columns."""
        end = int(self.starts[count])
        columns = np.repeat(np.arange(count), np.diff(self.starts[: count + 1]))
        rows, values = self.rows[:end].astype(np.int64), self.values[:end]
        extra = self._row_entries()
        if extra is None:
            return columns, rows, values
        mine = extra[0] < count
        parts = zip((columns, rows, values), (part[mine] for part in extra), strict=True)
        columns, rows, values = (np.concatenate(both) for both in parts)
        return columns, rows, values

    def entry_lists(self) -> tuple[list[int], list[int], list[float]]:
        """Return column, row and value of every entry."""
        columns, rows, values = self.entries_of(len(self))
        return columns.tolist(), rows.tolist(), values.tolist()

    def row_products(self, duals: Floats) -> Floats:
        """Return πᵀa_j for every column.  Rows added after the duals count as zero."""
        found: Floats = products(self.starts, self.rows, self.values, duals)
        extra = self._row_entries()
        if extra is not None:
            columns, rows, values = extra
            found += np.bincount(columns, values * self._pad(duals)[rows], minlength=len(self))
        return found

    def _pad(self, duals: Floats) -> Floats:
        missing = len(self.row_keys) - len(duals)
        return np.concatenate([duals, np.zeros(missing)]) if missing else duals

    def activities(self, values: Floats, num_rows: int) -> Floats:
        """Return Σ_j a_ij x_j for every row."""
        sums: Floats = activities(self.starts, self.rows, self.values, values, num_rows)
        extra = self._row_entries()
        if extra is not None:
            columns, rows, entries = extra
            sums += np.bincount(rows, entries * values[columns], minlength=num_rows)
        return sums

    def within(self, limits: Floats) -> Mask:
        """Return which columns have no entry above its row's limit.  Variables of the template always pass."""
        columns, rows, values = self.entries_of(len(self))
        over = np.bincount(columns, values > limits[rows], minlength=len(self)) > 0
        fits: Mask = ~over | (self.origins == TEMPLATE)
        return fits

    # --- solutions ---------------------------------------------------------------------------------------------------

    def solution(self, objective: float, values: Floats) -> Solution:
        """Return the nonzero columns and template variables as a solution."""
        # Values are clipped to their bounds, which solvers violate within tolerances.
        places, amounts = find_used(values, self.lower_now, self.upper_now, self.integer, TOLERANCES.pruning)
        columns: list[tuple[Column, float]] = []
        variables: dict[Key, float] = {}
        for place, amount in zip(places.tolist(), amounts.tolist(), strict=True):
            column = self._made.get(place) or self.column(place)
            if column is not None:
                columns.append((column, amount))
            elif place in self._keys:
                variables[self._keys[place]] = amount
        integer = frozenset(key for key in variables if self.integer[self.position[key]])
        return Solution(objective, tuple(columns), variables, integer)

    def point(self, solution: Solution) -> Floats | None:
        """Return a solution as one value per column, or None if a column is missing."""
        values = np.zeros(len(self))
        pairs = [(c.identity, x) for c, x in solution.columns]
        for identity, value in [*pairs, *solution.variables.items()]:
            where = self.where(identity)
            if where is None:
                return None
            values[where] = value
        return values


def merge_entries(
    count: int, owners: Ints, rows: Ints, values: Floats, more_owners: Ints, more_rows: Ints, more_values: Floats
) -> tuple[Ints, Ints, Floats]:
    """Merge entries of ``count`` columns with further ones in compressed form."""
    every = np.concatenate([owners, more_owners])
    order = np.argsort(every, kind="stable")
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(every, minlength=count), out=starts[1:])
    return (
        starts,
        np.concatenate([rows, more_rows])[order].astype(np.int64),
        np.concatenate([values, more_values])[order],
    )


class Held(NamedTuple):
    """A column that a master holds, and the index of its pricing problem, None if unknown.

    ``is_open`` is true if its value has no upper bound at the present node.
    """

    column: Column
    origin: int | None = None
    is_open: bool = True


class Generated:
    """Finds given columns and columns of oracles in a table."""

    def __init__(self, table: ColumnTable, lookup: LookUp) -> None:
        self._table, self._lookup = table, lookup
        self._last: tuple[Columns | None, int, Ints] = (None, 0, _NOTHING)

    def find(self, columns: Sequence[Column]) -> Ints:
        """Return positions of columns; :data:`~colgen.master.column_pool.NOWHERE` for those that are not there."""
        batch = self._lookup.batch(columns)
        there = self._lookup.over(batch, strict=False)
        where = self.positions(there)
        if len(there.rows) < len(batch.rows):  # some of their rows are missing
            where = where.copy()
            where[np.diff(there.starts) < np.diff(batch.starts)] = NOWHERE
        return where

    def forget(self) -> None:
        """Release the last batch, which has joined."""
        self._last = None, 0, _NOTHING

    def positions(self, batch: Columns) -> Ints:
        """Return the positions of a batch that is defined over the master's rows.

        Those of the last batch are kept until :meth:`forget`, because columns are found first and then added.
        """
        last, size, found = self._last
        if last is batch and size == len(self._table):
            return found
        where = self._table.find(batch)
        if batch.keys is not None:
            present = np.flatnonzero(where != NOWHERE)
            for k in present[~self._table.is_generated(where[present])].tolist():
                raise FormulationError(
                    f"the column of {batch.meanings.of(k)!r} has the key {batch.keys[k]!r}, which is a variable of the "
                    "template: give the column another key"
                )
        self._last = batch, len(self._table), where
        return where

    def at(self, position: int) -> Held:
        column, table = self._table.column(position), self._table
        assert column is not None
        origin = int(table.origins[position])
        return Held(column, None if origin < 0 else origin, math.isinf(table.upper_now[position]))

    def column_of(self, identity: Hashable) -> Column:
        """Return the column of an identity."""
        position = self._table.where(identity)
        column = None if position is None else self._table.column(position)
        if column is None:
            raise UnknownRowError(f"the master has no generated column {identity!r}")
        return column

    @property
    def columns(self) -> Columns:
        """All generated columns in order of their addition, including idle ones."""
        every = np.arange(len(self._table))
        return self._table.batch(every[self._table.is_generated(every)])

    @property
    def origins(self) -> Ints:
        """Indices of their pricing problems."""
        every: Ints = self._table.origins[: len(self._table)]
        return every[self._table.is_generated(np.arange(len(self._table)))]

    def overuse(self, values: Floats, pricing: Sequence[Pricing]) -> bool:
        """Return whether values use more columns of a pricing problem than its multiplicity."""
        origins = self._table.origins[: len(values)]
        used = np.bincount(origins - TEMPLATE, values, len(pricing) - TEMPLATE)[GIVEN - TEMPLATE :].tolist()
        given = used[0]  # columns given at the start may belong to any pricing problem
        return any(
            given + mine > oracle.multiplicity * (1.0 + TOLERANCES.diagnostic)
            for oracle, mine in zip(pricing, used[1:], strict=False)
        )
