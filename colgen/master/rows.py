"""The rows of a linear master: names, sides, scales and dual values."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from colgen.core.column_batch import Mask
from colgen.core.columns import Key
from colgen.core.duals import Duals, OwnDuals, RowNames
from colgen.core.errors import FormulationError
from colgen.core.sense import Sense
from colgen.core.tolerances import TOLERANCES
from colgen.master.column_pool import Floats, Ints
from colgen.model.rows import Rows
from colgen.solvers.columns.compressed import largest_product, signed_duals
from colgen.solvers.linear.scaling import sizes_of_rows
from colgen.solvers.scaling import powers_of_two


class IdleRows:
    """Rows that may leave the linear program, with the number of slack solves."""

    def __init__(self) -> None:
        self._positions = np.empty(0, dtype=np.int64)
        self._limits = np.empty(0, dtype=np.int64)
        self._ages = np.empty(0, dtype=np.int64)
        self._out = np.empty(0, dtype=np.bool_)

    def __len__(self) -> int:
        return len(self._positions)

    def append(self, position: int, limit: int) -> None:
        """Add a row that may leave after it has been slack for ``limit`` consecutive solves."""
        self._positions = np.append(self._positions, position)
        self._limits = np.append(self._limits, limit)
        self._ages = np.append(self._ages, 0)
        self._out = np.append(self._out, False)

    @property
    def positions(self) -> NDArray[np.int64]:
        """Positions of all these rows."""
        return self._positions

    @property
    def out(self) -> Ints:
        """Positions of the rows that are out."""
        return self._positions[self._out]

    def take_out(self, activity: Floats, lower: Floats, upper: Floats, sizes: Floats) -> Ints:
        """Count one more solve with these activities and sides.  Return positions of rows that leave."""
        positions = self._positions
        tolerance = TOLERANCES.feasibility * sizes[positions]
        slack = (activity[positions] > lower[positions] + tolerance) & (
            activity[positions] < upper[positions] - tolerance
        )
        self._ages = np.where(slack, self._ages + 1, 0)
        leaving = ~self._out & (self._ages >= self._limits)
        self._out |= leaving
        return positions[leaving]

    def put_back(self, activity: Floats | None, lower: Floats, upper: Floats, sizes: Floats) -> Ints:
        """Return positions of rows to put back: those violated, by default all."""
        positions = self._positions
        returning = self._out.copy()
        if activity is not None:
            tolerance = TOLERANCES.pruning * sizes[positions]
            returning &= (activity[positions] < lower[positions] - tolerance) | (
                activity[positions] > upper[positions] + tolerance
            )
        self._out &= ~returning
        self._ages[returning] = 0
        return positions[returning]


_ROUNDING = 1e-13
"""Rounding error of a reduced cost relative to its largest term."""


class MasterRows:
    """All rows of a linear master as arrays.  Rows are only ever added.

    ``lower`` and ``upper`` are the sides at the present node.  Violations are relative to ``sizes``, powers of two.
    The size of rows in ``unsized``, which have neither a side nor an entry, counts as 1; ``has_unsized`` is true if
    there may be any.  ``of_decisions`` has the keys
    of the rows of the present node's decisions.
    """

    def __init__(self, formulation: Rows) -> None:
        f = formulation
        for k in np.flatnonzero(f.row_lower > f.row_upper).tolist():
            raise FormulationError(
                f"row {f.row_keys[k]!r}: expected lower ≤ upper, got lower {f.row_lower[k]} and upper {f.row_upper[k]}"
            )
        self.names = RowNames()
        self.names.extend(f.row_keys)
        self.names.declare(f.row_blocks)
        self.lower, self.upper = f.row_lower.copy(), f.row_upper.copy()
        artificial = f.artificial if f.exchange is None else f.artificial & ~f.exchange
        real = np.where(artificial[_entry_owners(f)], 0.0, f.matrix.data)
        sizes = sizes_of_rows(f.matrix.indices, real, f.row_lower, f.row_upper)
        self.unsized: Mask = sizes == 0.0
        self.has_unsized = bool(self.unsized.any())
        self.sizes: Floats = np.where(self.unsized, 1.0, sizes)
        self.of_decisions: set[Key] = set()
        self.idle = IdleRows()

    def __len__(self) -> int:
        return len(self.names.keys)

    def extend(self, lower: Floats, upper: Floats, sizes: Floats) -> None:
        """Append sides and sizes of rows whose names were added before.  Zero stands for an unknown size."""
        self.lower, self.upper = np.append(self.lower, lower), np.append(self.upper, upper)
        self.unsized = np.append(self.unsized, sizes == 0.0)
        self.has_unsized = bool(self.unsized.any())
        self.sizes = np.append(self.sizes, np.where(sizes > 0.0, sizes, 1.0))

    def sides(self, block: str) -> Mapping[Key, tuple[float, float]]:
        rows = self.names.block(block).tolist()
        return {self.names.keys[r]: (float(self.lower[r]), float(self.upper[r])) for r in rows}

    def packing_sides(self, block: str, formulation: Rows) -> Mapping[Key, float | None]:
        """Return the upper side of each row, or None if variables may relax it."""
        f = formulation
        owners = _entry_owners(f)
        bad = ((f.matrix.data < 0.0) | (f.lower[owners] < 0.0)) & ~f.artificial[owners]
        loose = np.isposinf(self.upper)
        loose[f.matrix.indices[bad]] = True
        rows = self.names.block(block).tolist()
        return {self.names.keys[r]: None if loose[r] else float(self.upper[r]) for r in rows}

    # --- dual values -------------------------------------------------------------------------------------------------

    def signed(self, duals: Floats, sense: Sense) -> Floats:
        """Set dual values with a wrong sign to zero."""
        signed: Floats = signed_duals(duals, self.lower, self.upper, sense.sign)
        return signed

    def pad(self, duals: Floats) -> Floats:
        """Return dual values of all rows.  Rows added later have zeros."""
        return np.append(duals, np.zeros(len(self) - len(duals)))

    def guess(self, duals: OwnDuals, sense: Sense) -> Floats:
        """Return dual values of all rows from duals or values by block."""
        if isinstance(duals, Duals):
            return self.signed(self.pad(duals.values), sense)
        values = np.zeros(len(self))
        for name, given in duals.items():
            if isinstance(name, str):
                values[self.names.block(name)] = given
            elif name in self.names.position:
                values[self.names.position[name]] = given
        return self.signed(values, sense)

    def rounding_at(self, duals: Floats) -> float:
        """Return the rounding error of a reduced cost at dual values."""
        return _ROUNDING * self.largest(duals)

    def largest(self, duals: Floats) -> float:
        """Return the largest dual value times its row's size."""
        return float(largest_product(duals, self.sizes))


def template_weights(formulation: Rows, sizes: Floats) -> Floats:
    """Return phase 1 costs of template variables: their largest scaled entries."""
    f = formulation
    moves = np.zeros(len(f.costs))
    np.maximum.at(moves, _entry_owners(f), np.abs(f.matrix.data) / sizes[f.matrix.indices])
    return powers_of_two(moves)


def _entry_owners(formulation: Rows) -> Ints:
    """Return the variable of each entry of a template's matrix."""
    return np.repeat(np.arange(len(formulation.costs)), np.diff(formulation.matrix.indptr))
