"""The generated columns of a linear master's table: which of them are there, and whose they are."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from colgen.core.batches import Columns
from colgen.core.columns import Column
from colgen.core.errors import FormulationError, UnknownRowError
from colgen.core.tolerances import TOLERANCES
from colgen.master.pool import NOWHERE, Floats, Ints
from colgen.master.table import GIVEN, TEMPLATE, ColumnTable
from colgen.pricing.oracles import Pricing


class Generated:
    """Finds columns of oracles, and given ones, in a table; none may be taken for a variable of the template."""

    def __init__(self, table: ColumnTable) -> None:
        self._table = table

    def where(self, column: Column) -> int | None:
        """The position of a column; None if it is not there."""
        position = self._table.where(column.identity)
        if position is not None and not self._table.is_generated(np.array([position]))[0]:
            raise FormulationError(
                f"the column of {column.structure!r} has the key {column.key!r}, which is a variable of the template: "
                "give it another, or it would be taken for that variable"
            )
        return position

    def positions(self, batch: Columns) -> Ints:
        """Positions of the columns of a batch; :data:`~colgen.master.pool.NOWHERE` for those that are not there."""
        where = self._table.find(batch)
        if batch.keys is not None:
            present = np.flatnonzero(where != NOWHERE)
            for k in present[~self._table.is_generated(where[present])].tolist():
                self.where(batch[k])
        return where

    def find(self, identity: Hashable) -> Column:
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

    def is_open(self, column: Column) -> bool:
        """Whether the value of a column can still grow at the present node."""
        return math.isinf(self._table.upper_now[self.where(column)])

    def origin(self, column: Column) -> int | None:
        """The number of the pricing problem that a column came from; None if that is not known."""
        where = self.where(column)
        origin = GIVEN if where is None else int(self._table.origins[where])
        return None if origin < 0 else origin

    def overuse(self, values: Floats, pricing: Sequence[Pricing]) -> bool:
        """Whether values use more columns of some pricing problem than its multiplicity."""
        origins = self._table.origins[: len(values)]
        used = np.bincount(origins - TEMPLATE, values, len(pricing) - TEMPLATE)[GIVEN - TEMPLATE :].tolist()
        given = used[0]  # columns that were given may be anybody's
        return any(
            given + mine > oracle.multiplicity * (1.0 + TOLERANCES.diagnostic)
            for oracle, mine in zip(pricing, used[1:], strict=False)
        )
