"""The columns of a linear master as growing arrays, and which of them are in the linear program."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from colgen.core.column_batch import Columns, Mask, picked
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
"""Origin of columns that the problem gave at the start; other origins are the numbers of pricing problems."""

IDLE = -1
"""Place in the linear program of a column that is not there."""


class ColumnTable(ColumnPool):
    """All columns of a linear master (of the template, artificial, generated), one array a property.

    A column keeps its position for ever.  Those that the linear program does without for the time being are idle: the
    table is the pool that they wait in.

    Attributes
    ----------
    artificial
        Which columns are artificial variables.
    lower_now, upper_now
        Bounds at the present node and phase.
    exchange
        Positions of the exchanges among the artificial variables.
    exchanging
        Whether these are free in phase 2 at present.
    weights
        What they cost in phase 1: zero, but for artificial variables.
    ages
        For how many solves in a row a column's reduced cost has kept it out of the basis.
    active
        Positions of the columns in the linear program, in its order.
    place
        Of each column in the linear program; :data:`IDLE` if it is not there.
    is_in_order
        Whether the linear program has all columns, in the order of their positions: none has ever been idle.
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
        matrix = sparse.csc_array(f.matrix)
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
        """Begin to keep book of the youngest columns, which enter the linear program."""
        first, active = len(self) - count, len(self._active)
        places = np.arange(active, active + count)
        self._here.extend(count, artificial, self.lower[first:], self.upper[first:], 0, places, 0.0)
        self._active.extend(places if first == active else np.arange(first, first + count), count)
        self._refresh_now()

    def _refresh_now(self) -> None:
        self.artificial, self.lower_now, self.upper_now, self.ages, self.place, self.weights = self._here.arrays
        self.active = self._active.array

    def keys(self) -> list[Key]:
        """A name for every column: its own, or a number in the block ``column`` or ``artificial``."""
        kinds = ("column", "artificial")
        flags = self.artificial.tolist()
        return [self._keys.get(k) or (kinds[flags[k]], k) for k in range(len(self))]

    # --- growing -----------------------------------------------------------------------------------------------------

    def append(self, batch: Columns, origin: int | Ints) -> Ints:
        where = super().append(batch, origin)
        self._track(len(where), False)
        return where

    def append_artificial(self, rows: Ints, values: Floats, phase: int) -> Ints:
        """Append artificial variables, one in each row: free in phase 1, fixed at zero in phase 2."""
        count = len(rows)
        self._firsts.append(len(self))
        self._meanings.append(None)
        where = self._grow(0.0, 0.0, 0.0, False, np.arange(count + 1), rows, values, TEMPLATE)
        self._track(count, True)
        self.weights[where] = 1.0
        self.upper_now[where] = math.inf if phase == 1 else 0.0
        return where

    def add_entries(self, columns: Ints, rows: Ints, values: Floats) -> None:
        """Append entries that rows state of columns, and the columns do not state themselves."""
        if len(values):
            self._brought.append((columns, rows, values))

    # --- the linear program ------------------------------------------------------------------------------------------

    @property
    def num_idle(self) -> int:
        """How many columns the linear program does without."""
        return len(self) - len(self.active)

    def activate(self, positions: Ints) -> None:
        """Put idle columns at the end of the linear program."""
        self.place[positions] = np.arange(len(self.active), len(self.active) + len(positions))
        self.ages[positions] = 0
        self._active.extend(positions, len(positions))
        self._refresh_now()

    def retire(self, gone: Mask) -> None:
        """Make columns idle, given as a mask over the linear program's."""
        self.is_in_order = False
        self.place[self.active[gone]] = IDLE
        self._active = Growing(self.active[~gone])
        self._refresh_now()
        self.place[self.active] = np.arange(len(self.active))

    def update_ages(self, reduced_costs: Floats, sign: float, least: float) -> None:
        """Count one more solve for those of the linear program's columns that are out, and begin anew for others.

        Out are those that worsen the objective by more than ``least``; ``reduced_costs`` are in the program's order.
        """
        update_ages(self.ages, self.active, reduced_costs, sign, least)

    # --- the matrix --------------------------------------------------------------------------------------------------

    def _stated(self) -> tuple[Ints, Ints, Floats] | None:
        """Column, row and value of the entries that rows state."""
        if len(self._brought) > 1:
            columns, rows, values = (np.concatenate(part) for part in zip(*self._brought, strict=True))
            self._brought = [(columns, rows, values)]
        return self._brought[0] if self._brought else None

    def compressed(self, positions: Ints) -> tuple[Ints, Ints, Floats]:
        """Starts, rows and values of some columns, those that rows state included."""
        starts, rows, values = picked(self.starts, self.rows, self.values, positions)
        stated = self._stated()
        if stated is None:
            return starts.astype(np.int64), rows.astype(np.int64), values
        number = np.full(len(self), -1)
        number[positions] = np.arange(len(positions))
        mine = number[stated[0]] >= 0
        owners = np.repeat(np.arange(len(positions)), np.diff(starts))
        return merged(len(positions), owners, rows, values, number[stated[0][mine]], stated[1][mine], stated[2][mine])

    def matrix(self, columns: Ints | None, num_rows: int) -> sparse.csc_array:
        """The matrix of some columns, or of all."""
        starts, rows, values = self.compressed(np.arange(len(self)) if columns is None else columns)
        return sparse.csc_array((values, rows, starts), shape=(num_rows, len(starts) - 1))

    def entries_of(self, count: int) -> tuple[Ints, Ints, Floats]:
        """Column, row and value of every entry of the first columns."""
        end = int(self.starts[count])
        columns = np.repeat(np.arange(count), np.diff(self.starts[: count + 1]))
        rows, values = self.rows[:end].astype(np.int64), self.values[:end]
        stated = self._stated()
        if stated is None:
            return columns, rows, values
        mine = stated[0] < count
        parts = zip((columns, rows, values), (part[mine] for part in stated), strict=True)
        columns, rows, values = (np.concatenate(both) for both in parts)
        return columns, rows, values

    def entry_lists(self) -> tuple[list[int], list[int], list[float]]:
        """Column, row and value of every entry."""
        columns, rows, values = self.entries_of(len(self))
        return columns.tolist(), rows.tolist(), values.tolist()

    def row_products(self, duals: Floats) -> Floats:
        """πᵀa_j for every column; rows younger than the duals count as zero."""
        found: Floats = products(self.starts, self.rows, self.values, duals)
        stated = self._stated()
        if stated is not None:
            columns, rows, values = stated
            found += np.bincount(columns, values * self._padded(duals)[rows], minlength=len(self))
        return found

    def _padded(self, duals: Floats) -> Floats:
        missing = len(self.row_keys) - len(duals)
        return np.concatenate([duals, np.zeros(missing)]) if missing else duals

    def activities(self, values: Floats, num_rows: int) -> Floats:
        """Σ_j a_ij x_j for every row."""
        sums: Floats = activities(self.starts, self.rows, self.values, values, num_rows)
        stated = self._stated()
        if stated is not None:
            columns, rows, entries = stated
            sums += np.bincount(rows, entries * values[columns], minlength=num_rows)
        return sums

    def within(self, limits: Floats) -> Mask:
        """Which generated columns have no entry above its row's limit; variables of the template always pass."""
        columns, rows, values = self.entries_of(len(self))
        over = np.bincount(columns, values > limits[rows], minlength=len(self)) > 0
        fits: Mask = ~over | (self.origins == TEMPLATE)
        return fits

    # --- solutions ---------------------------------------------------------------------------------------------------

    def solution(self, objective: float, values: Floats) -> Solution:
        """The columns and template variables that are not zero."""
        # Bounds hold to the last bit, whatever tolerance a solver has for them.
        places, amounts = find_used(values, self.lower_now, self.upper_now, self.integer, TOLERANCES.pruning)
        columns: list[tuple[Column, float]] = []
        variables: dict[Key, float] = {}
        for place, amount in zip(places.tolist(), amounts.tolist(), strict=True):
            column = self.column(place)
            if column is not None:
                columns.append((column, amount))
            elif place in self._keys:
                variables[self._keys[place]] = amount
        integer = frozenset(key for key in variables if self.integer[self.position[key]])
        return Solution(objective, tuple(columns), variables, integer)

    def point(self, solution: Solution) -> Floats | None:
        """A solution as one value a column; None if it uses a column that is not here."""
        values = np.zeros(len(self))
        pairs = [(c.identity, x) for c, x in solution.columns]
        for identity, value in [*pairs, *solution.variables.items()]:
            where = self.where(identity)
            if where is None:
                return None
            values[where] = value
        return values


def merged(
    count: int, owners: Ints, rows: Ints, values: Floats, more_owners: Ints, more_rows: Ints, more_values: Floats
) -> tuple[Ints, Ints, Floats]:
    """Entries of ``count`` columns, and more of them, in compressed form."""
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
    """A column that a master holds.

    Attributes
    ----------
    column
        As it came.
    origin
        The number of the pricing problem that it came from; None if that is not known.
    is_open
        Whether its value can still grow at the present node.
    """

    column: Column
    origin: int | None = None
    is_open: bool = True


class Generated:
    """Finds columns of oracles, and given ones, in a table; none may be taken for a variable of the template."""

    def __init__(self, table: ColumnTable, lookup: LookUp) -> None:
        self._table, self._lookup = table, lookup

    def find(self, columns: Sequence[Column]) -> Ints:
        """Positions of columns; :data:`~colgen.master.column_pool.NOWHERE` for those that are not there."""
        batch = columns if isinstance(columns, Columns) else Columns.of(columns)
        there = self._lookup.over(batch, strict=False)
        where = self.positions(there)
        if len(there.rows) < len(batch.rows):  # some of their rows are not there
            where[np.diff(there.starts) < np.diff(batch.starts)] = NOWHERE
        return where

    def positions(self, batch: Columns) -> Ints:
        """The same of a batch over the master's rows."""
        where = self._table.find(batch)
        if batch.keys is not None:
            present = np.flatnonzero(where != NOWHERE)
            for k in present[~self._table.is_generated(where[present])].tolist():
                raise FormulationError(
                    f"the column of {batch.meanings.of(k)!r} has the key {batch.keys[k]!r}, which is a variable of the "
                    "template: give it another, or it would be taken for that variable"
                )
        return where

    def at(self, position: int) -> Held:
        """The column at a position."""
        column, table = self._table.column(position), self._table
        assert column is not None
        origin = int(table.origins[position])
        return Held(column, None if origin < 0 else origin, math.isinf(table.upper_now[position]))

    def named(self, identity: Hashable) -> Column:
        """The column of an identity."""
        position = self._table.where(identity)
        column = None if position is None else self._table.column(position)
        if column is None:
            raise UnknownRowError(f"the master has no generated column {identity!r}")
        return column

    @property
    def columns(self) -> Columns:
        """All of them, in the order in which they came; those that are idle are among them."""
        every = np.arange(len(self._table))
        return self._table.batch(every[self._table.is_generated(every)])

    @property
    def origins(self) -> Ints:
        """Which pricing problem each of them came from."""
        every: Ints = self._table.origins[: len(self._table)]
        return every[self._table.is_generated(np.arange(len(self._table)))]

    def overuse(self, values: Floats, pricing: Sequence[Pricing]) -> bool:
        """Whether values use more columns of some pricing problem than its multiplicity."""
        origins = self._table.origins[: len(values)]
        used = np.bincount(origins - TEMPLATE, values, len(pricing) - TEMPLATE)[GIVEN - TEMPLATE :].tolist()
        given = used[0]  # columns that were given may be anybody's
        return any(
            given + mine > oracle.multiplicity * (1.0 + TOLERANCES.diagnostic)
            for oracle, mine in zip(pricing, used[1:], strict=False)
        )
