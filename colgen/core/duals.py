"""Dual values by the names of their rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import numpy as np
from numpy.typing import NDArray

from colgen.core.columns import Key
from colgen.core.errors import UnknownRowError

Floats = NDArray[np.float64]


class RowNames:
    """The names of a master's rows in order, growing as rows are added; shared by all dual vectors of the master."""

    def __init__(self) -> None:
        self.keys: list[Key] = []
        self.position: dict[Key, int] = {}
        self._blocks: dict[str, list[int]] = {}
        self._arrays: dict[str, NDArray[np.int64]] = {}

    def append(self, key: Key) -> int:
        """Add a row's name and return its position."""
        position = self.position[key] = len(self.keys)
        self.keys.append(key)
        self._blocks.setdefault(key[0], []).append(position)
        self._arrays.pop(key[0], None)
        return position

    def block(self, name: str) -> NDArray[np.int64]:
        """Positions of the rows of one block, in the order in which they were added."""
        array = self._arrays.get(name)
        if array is None:
            array = self._arrays[name] = np.array(self._blocks.get(name, ()), dtype=np.int64)
        return array

    def is_scalar(self, name: str) -> bool:
        positions = self._blocks.get(name, ())
        return len(positions) == 1 and self.keys[positions[0]][1] is None


class Duals:
    """Dual values π, one a row, so that a column's reduced cost is c_j - πᵀa_j in the problem's own sense.

    ``duals["demand"]`` is the block's array in the order of its index set (a plain float for a scalar constraint),
    ``duals["demand", i]`` one value.  Objects are immutable; ``values`` holds all of them in the order of the master's
    rows.
    """

    __slots__ = ("_names", "values")

    def __init__(self, values: Floats, names: RowNames) -> None:
        self.values = values
        self._names = names
        values.setflags(write=False)

    @property
    def keys(self) -> list[Key]:
        """The rows' keys, in the order of ``values``."""
        return self._names.keys[: len(self.values)]

    def __getitem__(self, key: str | Key) -> Floats | float:
        if isinstance(key, str):
            positions = self._names.block(key)
            if not len(positions):
                raise UnknownRowError(f"the master has no rows named {key!r}; it has {self._known()}")
            if self._names.is_scalar(key):
                return float(self.values[positions[0]])
            return self.values[positions[positions < len(self.values)]]
        position = self._names.position.get(key)
        if position is None:
            raise UnknownRowError(f"the master has no row {key!r}; it has {self._known()}")
        return float(self.values[position]) if position < len(self.values) else 0.0

    def get(self, key: Key, default: float = 0.0) -> float:
        """The dual value of a row, ``default`` where the master has no such row."""
        position = self._names.position.get(key)
        if position is None or position >= len(self.values):
            return default
        return float(self.values[position])

    def items(self, block: str) -> Iterator[tuple[Hashable, float]]:
        """``(index, dual value)`` for each row of a block, none if there is no such block: for passing rows."""
        for position in self._names.block(block):
            if position < len(self.values):
                yield self._names.keys[position][1], float(self.values[position])

    def has_names(self, names: RowNames) -> bool:
        """Whether these are the dual values of a master with these rows."""
        return self._names is names

    def replace(self, values: Floats) -> Duals:
        """Dual values of the same rows with other numbers."""
        return Duals(values, self._names)

    def _known(self) -> str:
        return ", ".join(sorted({key[0] for key in self._names.keys})) or "none"
