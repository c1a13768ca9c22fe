"""Arrays that grow at their end, and an index of 64-bit numbers that grows with them."""

from __future__ import annotations

from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from colgen.solvers.columns.identity import claim, find

Kind = TypeVar("Kind", bound=np.generic)

_ROOM = 1.125
"""An array that is full grows by this factor: its mean slack is a sixteenth."""

_LEAST = 128
"""At least so much more room: masters begin small, and arrays would be copied at most of their first rounds."""

Patterns: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]
"""Costs of columns; starts, row numbers and values of their entries."""


class Growing(Generic[Kind]):
    """An array of one dimension that grows at its end; ``array`` is a view of what it holds."""

    __slots__ = ("_room", "array")

    def __init__(self, array: NDArray[Kind]) -> None:
        self._room = self.array = array.copy()

    def __len__(self) -> int:
        return len(self.array)

    def extend(self, more: ArrayLike, count: int) -> None:
        """Append ``count`` numbers, or one of them so many times."""
        before = self.array.size
        after = before + count
        if after > self._room.size:
            room = np.empty(max(after, int(_ROOM * before) + _LEAST), dtype=self._room.dtype)
            room[:before] = self.array
            self._room = room
        self.array = self._room[:after]
        self.array[before:] = more


class GrowingTogether:
    """Arrays of one length that grow at their end, a row at a time for all of them.

    Parameters
    ----------
    kinds
        Of their numbers.
    """

    __slots__ = ("_rooms", "arrays")

    def __init__(self, *kinds: DTypeLike) -> None:
        self._rooms: list[NDArray[Any]] = [np.empty(0, dtype=kind) for kind in kinds]
        self.arrays = self._rooms

    def extend(self, count: int, *more: ArrayLike) -> None:
        """Append ``count`` numbers to each array, or one of them so many times."""
        before = self.arrays[0].size
        after = before + count
        if after > self._rooms[0].size:
            self._make_room(max(after, int(_ROOM * before) + _LEAST))
        for room, new in zip(self._rooms, more, strict=True):
            room[before:after] = new
        self.arrays = [room[:after] for room in self._rooms]

    def _make_room(self, size: int) -> None:
        rooms = [np.empty(size, dtype=room.dtype) for room in self._rooms]
        for room, array in zip(rooms, self.arrays, strict=True):
            room[: array.size] = array
        self._rooms = rooms


class SignatureIndex:
    """From columns' 64-bit numbers to positions, many at a time: open addressing with linear probing.

    Parameters
    ----------
    signatures
        The numbers by position, shared with who keeps them.
    """

    def __init__(self, signatures: Growing[np.uint64]) -> None:
        self._signatures = signatures
        self._slots = np.full(64, -1, dtype=np.int32)
        self._held = 0

    def find(self, batch: Patterns, wanted: NDArray[np.uint64], held: Patterns) -> NDArray[np.int64]:
        """Positions of columns, -1 for those that are not there; equal numbers are compared entry by entry.

        Parameters
        ----------
        batch, wanted
            The columns, and their numbers.
        held
            All that positions speak of.
        """
        if not self._held:
            return np.full(len(wanted), -1, dtype=np.int64)
        found: NDArray[np.int64] = find(batch, wanted, self._slots, self._signatures.array, held)
        return found

    def add(self, positions: NDArray[np.integer[Any]]) -> None:
        """Take in positions whose numbers are there by now."""
        self._held += len(positions)
        if 2 * self._held > len(self._slots):
            old = self._slots[self._slots >= 0].astype(np.int64)
            self._slots = np.full(1 << (4 * self._held - 1).bit_length(), -1, dtype=np.int32)
            claim(self._slots, self._signatures.array, np.sort(old))
        claim(self._slots, self._signatures.array, positions.astype(np.int64, copy=False))
