"""Batches of rows: arrays over a master's column numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.column_batch import select_columns
from colgen.core.columns import Key
from colgen.core.errors import FormulationError


class RowBatch:
    """A batch of rows in compressed form, for many rows at once without an object per row.

    Row i has coefficients ``values[starts[i]:starts[i + 1]]`` in the master's columns number
    ``columns[starts[i]:starts[i + 1]]``. Its coefficient in a later column is zero, unless that column has one of these
    keys. ``lower`` and ``upper`` have one entry per row, or one for all. FormulationError is raised if lengths differ,
    or a value is not allowed in a row.
    """

    __slots__ = ("columns", "keys", "lower", "starts", "upper", "values")

    def __init__(
        self,
        keys: Sequence[Key],
        starts: ArrayLike,
        columns: ArrayLike,
        values: ArrayLike,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
    ) -> None:
        self.keys = list(keys)
        self.starts, self.columns = np.asarray(starts, dtype=np.int32), np.asarray(columns, dtype=np.int32)
        self.values = np.array(values, dtype=np.float64)
        fits = self.starts.shape == (len(self) + 1,) and self.columns.shape == self.values.shape == (self.starts[-1],)
        if not fits or self.starts[0] != 0 or (self.starts[1:] < self.starts[:-1]).any():
            raise FormulationError(
                f"a batch of {len(self)} rows has {len(self.starts)} starts, {len(self.columns)} columns and "
                f"{len(self.values)} values: expected {len(self) + 1} starts that rise from 0 to the number of columns "
                "and values"
            )
        self.lower = np.broadcast_to(np.asarray(lower, dtype=np.float64), len(self.keys))
        self.upper = np.broadcast_to(np.asarray(upper, dtype=np.float64), len(self.keys))
        bad = ~((self.lower <= self.upper) & (self.lower < np.inf) & (self.upper > -np.inf))
        for k in np.flatnonzero(bad).tolist():
            raise FormulationError(
                f"row {self.keys[k]!r} has the sides {self.lower[k]} and {self.upper[k]}, expected lower ≤ upper"
            )
        for entry in np.flatnonzero(~np.isfinite(self.values)).tolist():
            key = self.keys[int(np.searchsorted(self.starts, entry, side="right")) - 1]
            raise FormulationError(f"row {key!r} has a coefficient that is not a finite number")

    def __len__(self) -> int:
        return len(self.keys)

    def take(self, chosen: NDArray[np.integer]) -> RowBatch:
        """Return some of the rows, by number."""
        starts, columns, values = select_columns(self.starts, self.columns, self.values, chosen)
        keys = [self.keys[k] for k in chosen.tolist()]
        return RowBatch(keys, starts, columns, values, self.lower[chosen], self.upper[chosen])
