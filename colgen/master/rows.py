"""The rows of a linear master: names, sides, sizes, dual values, and which are out of the linear program."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

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
    """Which rows may be taken out, for how long they have been slack, and which of them are out."""

    def __init__(self) -> None:
        self._positions = np.empty(0, dtype=np.int64)
        self._limits = np.empty(0, dtype=np.int64)
        self._ages = np.empty(0, dtype=np.int64)
        self._out = np.empty(0, dtype=np.bool_)

    def __len__(self) -> int:
        return len(self._positions)

    def append(self, position: int, limit: int) -> None:
        """A row that may be taken out once it has been slack for ``limit`` solves in a row."""
        self._positions = np.append(self._positions, position)
        self._limits = np.append(self._limits, limit)
        self._ages = np.append(self._ages, 0)
        self._out = np.append(self._out, False)

    @property
    def out(self) -> Ints:
        """Positions of the rows that are out."""
        return self._positions[self._out]

    def taken_out(self, activity: Floats, lower: Floats, upper: Floats, sizes: Floats) -> Ints:
        """Count one more solve, of these activities and sides of all rows; positions of the rows that go out."""
        mine = self._positions
        room = TOLERANCES.feasibility * sizes[mine]
        slack = (activity[mine] > lower[mine] + room) & (activity[mine] < upper[mine] - room)
        self._ages = np.where(slack, self._ages + 1, 0)
        going = ~self._out & (self._ages >= self._limits)
        self._out |= going
        return mine[going]

    def put_back(self, activity: Floats | None, lower: Floats, upper: Floats, sizes: Floats) -> Ints:
        """Positions of the rows that come back: those that these activities violate; all if there are none."""
        mine = self._positions
        coming = self._out.copy()
        if activity is not None:
            room = TOLERANCES.pruning * sizes[mine]
            coming &= (activity[mine] < lower[mine] - room) | (activity[mine] > upper[mine] + room)
        self._out &= ~coming
        self._ages[coming] = 0
        return mine[coming]


_ROUNDING = 1e-13
"""What rounding leaves of a reduced cost, relative to the largest of the terms that it is made of."""


class MasterRows:
    """All rows of a linear master, one array a property; they only ever join.

    Attributes
    ----------
    names
        Keys of the rows and their positions.
    lower, upper
        Sides at the present node.
    sizes
        Powers of two: what a violation is relative to.
    unsized
        Which rows have neither a side nor an entry that tells their size yet; it counts as one.
    of_decisions
        Keys of the rows that the decisions of the present node impose.
    idle
        Which of them have been slack for long.
    """

    def __init__(self, formulation: Rows) -> None:
        f = formulation
        for k in np.flatnonzero(f.row_lower > f.row_upper).tolist():
            raise FormulationError(
                f"row {f.row_keys[k]!r} asks for at least {f.row_lower[k]} and at most {f.row_upper[k]}"
            )
        self.names = RowNames()
        self.names.extend(f.row_keys)
        self.names.declare(f.row_blocks)
        self.lower, self.upper = f.row_lower.copy(), f.row_upper.copy()
        made_up = f.artificial if f.exchange is None else f.artificial & ~f.exchange
        real = np.where(made_up[_entry_owners(f)], 0.0, f.matrix.data)
        sizes = sizes_of_rows(f.matrix.indices, real, f.row_lower, f.row_upper)
        self.unsized: Mask = sizes == 0.0
        self.sizes: Floats = np.where(self.unsized, 1.0, sizes)
        self.of_decisions: set[Key] = set()
        self.idle = IdleRows()

    def __len__(self) -> int:
        return len(self.names.keys)

    def extend(self, lower: Floats, upper: Floats, sizes: Floats) -> None:
        """Append sides and sizes of rows whose names are there already; a size of zero is not known yet."""
        self.lower, self.upper = np.append(self.lower, lower), np.append(self.upper, upper)
        self.unsized = np.append(self.unsized, sizes == 0.0)
        self.sizes = np.append(self.sizes, np.where(sizes > 0.0, sizes, 1.0))

    def sides(self, block: str) -> Mapping[Key, tuple[float, float]]:
        """Sides of the rows of a block."""
        rows = self.names.block(block).tolist()
        return {self.names.keys[r]: (float(self.lower[r]), float(self.upper[r])) for r in rows}

    def packing_sides(self, block: str, formulation: Rows) -> Mapping[Key, float | None]:
        """The upper side of each row of a block; None where the template's variables may make room for more."""
        f = formulation
        owners = _entry_owners(f)
        bad = ((f.matrix.data < 0.0) | (f.lower[owners] < 0.0)) & ~f.artificial[owners]
        loose = np.isposinf(self.upper)
        loose[f.matrix.indices[bad]] = True
        rows = self.names.block(block).tolist()
        return {self.names.keys[r]: None if loose[r] else float(self.upper[r]) for r in rows}

    # --- dual values -------------------------------------------------------------------------------------------------

    def signed(self, duals: Floats, sense: Sense) -> Floats:
        """Duals without the wrong signs that a solver's tolerance leaves: no lower side, no pull upwards."""
        signed: Floats = signed_duals(duals, self.lower, self.upper, sense.sign)
        return signed

    def padded(self, duals: Floats) -> Floats:
        """Dual values of all rows: those that are younger than the values count as zero."""
        return np.append(duals, np.zeros(len(self) - len(duals)))

    def guessed(self, duals: OwnDuals, sense: Sense) -> Floats:
        """Dual values of all rows, given as they are or by blocks and rows; rows that are not here are passed over."""
        if isinstance(duals, Duals):
            return self.signed(self.padded(duals.values), sense)
        values = np.zeros(len(self))
        for name, given in duals.items():
            if isinstance(name, str):
                values[self.names.block(name)] = given
            elif name in self.names.position:
                values[self.names.position[name]] = given
        return self.signed(values, sense)

    def rounding_at(self, duals: Floats) -> float:
        """What rounding may leave of a reduced cost at dual values."""
        return _ROUNDING * self.largest(duals)

    def largest(self, duals: Floats) -> float:
        """The largest of dual values, each times its row's size."""
        return float(largest_product(duals, self.sizes))


def template_weights(formulation: Rows, sizes: Floats) -> Floats:
    """What the template's variables would cost in phase 1: as much as they move their rows, by those rows' sizes."""
    f = formulation
    moves = np.zeros(len(f.costs))
    np.maximum.at(moves, _entry_owners(f), np.abs(f.matrix.data) / sizes[f.matrix.indices])
    return powers_of_two(moves)


def _entry_owners(formulation: Rows) -> Ints:
    """The variable of each entry of a template's matrix."""
    return np.repeat(np.arange(len(formulation.costs)), np.diff(formulation.matrix.indptr))
