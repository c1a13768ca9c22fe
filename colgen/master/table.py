"""The columns of a linear master as arrays that grow."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.columns import Column, Key
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.model.formulation import Formulation

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TEMPLATE = -2
"""Origin of template and artificial variables."""

GIVEN = -1
"""Origin of columns that the problem gave at the start; other origins are the numbers of pricing problems."""


class ColumnTable:
    """All columns of a linear master (of the template, artificial, generated), one array a property.

    Entries of the matrix are kept as triples, because rows added later put new entries into old columns.

    Attributes
    ----------
    columns
        The generated column, or None for variables of the template and artificial ones.
    costs, lower, upper, integer, artificial, origins
        As they were added.
    lower_now, upper_now
        Bounds at the present node and phase.
    ages
        For how many solves in a row a column's reduced cost has kept it out of the basis.
    deletions
        How often columns were deleted: positions are comparable only while it stays the same.
    """

    def __init__(self, formulation: Formulation) -> None:
        f = formulation
        n = len(f.costs)
        self.columns: list[Column | None] = [None] * n
        self.position: dict[Hashable, int] = {key: k for k, key in enumerate(f.column_keys)}
        self._keys: list[Key | None] = list(f.column_keys)
        self.costs, self.lower, self.upper = f.costs.copy(), f.lower.copy(), f.upper.copy()
        self.lower_now, self.upper_now = f.lower.copy(), f.upper.copy()
        self.upper_now[f.artificial] = 0.0
        self.integer, self.artificial = f.integer.copy(), f.artificial.copy()
        self.origins = np.full(n, TEMPLATE)
        self.ages = np.zeros(n, dtype=np.int64)
        self.deletions = 0
        triples = sparse.coo_array(f.matrix)
        self._entries = [
            (
                triples.col.astype(np.int64),
                triples.row.astype(np.int64),
                triples.data.astype(float),
            )
        ]

    def __len__(self) -> int:
        return len(self.columns)

    def generated(self) -> Iterator[tuple[int, Column]]:
        """Position and column of every generated column."""
        return ((k, column) for k, column in enumerate(self.columns) if column is not None)

    def keys(self) -> list[Key]:
        """A name for every column: its own, or a number in the block ``column`` or ``artificial``."""
        names: list[Key] = []
        for k, key in enumerate(self._keys):
            kind = "artificial" if self.columns[k] is None else "column"
            names.append(key if key is not None else (kind, k))
        return names

    def append(self, identified: Mapping[Hashable, Column], origin: int) -> None:
        """Append generated columns, by their identities."""
        columns = list(identified.values())
        for identity, column in identified.items():
            self.position[identity] = len(self.columns)
            self.columns.append(column)
            self._keys.append(column.key)
        self._extend(
            np.array([c.cost for c in columns], dtype=float),
            np.array([c.lower for c in columns], dtype=float),
            np.array([c.upper for c in columns], dtype=float),
            np.array([c.integer for c in columns], dtype=bool),
            artificial=False,
            origin=origin,
        )

    def append_artificial(self, count: int, phase: int) -> None:
        """Append artificial variables: free in phase 1, fixed at zero in phase 2."""
        self.columns += [None] * count
        self._keys += [None] * count
        zero = np.zeros(count)
        self._extend(zero, zero, zero, np.zeros(count, dtype=bool), artificial=True, origin=TEMPLATE)
        self.upper_now[-count:] = math.inf if phase == 1 else 0.0

    def _extend(
        self,
        costs: Floats,
        lower: Floats,
        upper: Floats,
        integer: NDArray[np.bool_],
        artificial: bool,
        origin: int,
    ) -> None:
        count = len(costs)
        self.costs = np.append(self.costs, costs)
        self.lower, self.lower_now = np.append(self.lower, lower), np.append(self.lower_now, lower)
        self.upper, self.upper_now = np.append(self.upper, upper), np.append(self.upper_now, upper)
        self.integer = np.append(self.integer, integer)
        self.artificial = np.append(self.artificial, np.full(count, artificial))
        self.origins = np.append(self.origins, np.full(count, origin))
        self.ages = np.append(self.ages, np.zeros(count, dtype=np.int64))

    def add_entries(self, columns: Ints, rows: Ints, values: Floats) -> None:
        """Append entries of the matrix."""
        if len(values):
            self._entries.append((columns, rows, values))

    def _triples(self) -> tuple[Ints, Ints, Floats]:
        if len(self._entries) > 1:
            parts = zip(*self._entries, strict=True)
            columns, rows, values = (np.concatenate(part) for part in parts)
            self._entries = [(columns, rows, values)]
        return self._entries[0]

    def matrix(self, columns: Ints, num_rows: int) -> sparse.csc_array:
        """The matrix of some columns."""
        entry_columns, rows, values = self._triples()
        whole = sparse.csc_array((values, (rows, entry_columns)), shape=(num_rows, len(self)))
        return whole[:, columns]

    def entries_of(self, count: int) -> tuple[Ints, Ints, Floats]:
        """Column, row and value of every entry of the first columns."""
        columns, rows, values = self._triples()
        mine = columns < count
        return columns[mine], rows[mine], values[mine]

    def entry_lists(self) -> tuple[list[int], list[int], list[float]]:
        """Column, row and value of every entry."""
        columns, rows, values = self._triples()
        return columns.tolist(), rows.tolist(), values.tolist()

    def row_products(self, duals: Floats) -> Floats:
        """πᵀa_j for every column; rows younger than the duals count as zero."""
        columns, rows, values = self._triples()
        if len(duals) and len(rows) and rows.max() >= len(duals):
            duals = np.append(duals, np.zeros(int(rows.max()) + 1 - len(duals)))
        products: Floats = np.bincount(columns, values * duals[rows], minlength=len(self)).astype(float)
        return products

    def activities(self, values: Floats, num_rows: int) -> Floats:
        """Σ_j a_ij x_j for every row."""
        columns, rows, entries = self._triples()
        sums: Floats = np.bincount(rows, entries * values[columns], minlength=num_rows).astype(float)
        return sums

    def within(self, limits: Floats) -> NDArray[np.bool_]:
        """Which generated columns have no entry above its row's limit; variables of the template always pass."""
        columns, rows, values = self._triples()
        over = np.bincount(columns, values > limits[rows], minlength=len(self)) > 0
        fits: NDArray[np.bool_] = ~over | (self.origins == TEMPLATE)
        return fits

    def grow_older(self, sense: Sense, reduced_costs: Floats, tolerance: float) -> None:
        """Count one more solve for the columns whose reduced cost keeps them out of the basis."""
        out = sense.sign * reduced_costs > tolerance
        self.ages = np.where(out, self.ages + 1, 0)

    def keep(self, mask: NDArray[np.bool_]) -> None:
        """Forget the columns outside the mask."""
        columns, rows, values = self._triples()
        new_position = np.cumsum(mask) - 1
        alive = mask[columns]
        self._entries = [(new_position[columns[alive]], rows[alive], values[alive])]
        self.columns = [c for c, stays in zip(self.columns, mask, strict=True) if stays]
        self._keys = [key for key, stays in zip(self._keys, mask, strict=True) if stays]
        self.position = {identity: int(new_position[p]) for identity, p in self.position.items() if mask[p]}
        for name in ("costs", "lower", "upper", "lower_now", "upper_now", "integer", "artificial", "origins", "ages"):
            setattr(self, name, getattr(self, name)[mask])
        self.deletions += 1

    def solution(self, objective: float, values: Floats) -> Solution:
        """The columns and template variables that are not zero."""
        # Bounds hold to the last bit, whatever tolerance a solver has for them.
        values = np.clip(
            values, self.lower_now[: len(values)], np.maximum(self.lower_now, self.upper_now)[: len(values)]
        )
        sizes = np.abs(values)
        # Whole columns are counted; other variables have the size of their own numbers, and of nothing else.
        least = np.where(self.integer[: len(values)], 1.0, sizes.max(initial=0.0, where=~self.integer[: len(values)]))
        used = np.flatnonzero(sizes > TOLERANCES.pruning * least)
        columns = []
        variables: dict[Key, float] = {}
        for k in used.tolist():
            column, key = self.columns[k], self._keys[k]
            if column is not None:
                columns.append((column, float(values[k])))
            elif key is not None:
                variables[key] = float(values[k])
        integer = frozenset(key for key in variables if self.integer[self.position[key]])
        return Solution(objective, tuple(columns), variables, integer)

    def point(self, solution: Solution) -> Floats | None:
        """A solution as one value a column; None if it uses a column that is not here."""
        values = np.zeros(len(self))
        pairs = [(c.identity, x) for c, x in solution.columns]
        for identity, value in [*pairs, *solution.variables.items()]:
            where = self.position.get(identity)
            if where is None:
                return None
            values[where] = value
        return values
