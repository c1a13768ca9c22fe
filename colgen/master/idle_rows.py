"""Rows that have been slack for long: out of the linear program until a solution violates them.

What is out is still a row of the master: every optimum is held against it, and every answer.  So a row that comes back
changes nothing but the time that the solves in between have taken.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.core.tolerances import TOLERANCES

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
