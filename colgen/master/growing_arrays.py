"""Arrays that grow at their end, and an index of 64-bit signatures."""

from __future__ import annotations

from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from colgen.solvers.columns.identity import claim, find

Kind = TypeVar("Kind", bound=np.generic)

_GROWTH = 1.125
"""Growth factor of a full array, which leaves 1/16 unused on average."""

_LEAST = 128
"""Minimum growth, so that small arrays are not copied in most of the first rounds."""

Patterns: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]
"""Costs of columns; starts, row positions and values of their entries."""


class Growing(Generic[Kind]):
    """A one-dimensional array that grows at its end.  ``array`` is a view of its contents."""

    __slots__ = ("_buffer", "array")

    def __init__(self, array: NDArray[Kind]) -> None:
        self._buffer = self.array = array.copy()

    def __len__(self) -> int:
        return len(self.array)

    def extend(self, more: ArrayLike, count: int) -> None:
        """Append ``count`` numbers, or one number ``count`` times."""
        before = self.array.size
        after = before + count
        if after > self._buffer.size:
            buffer = np.empty(max(after, int(_GROWTH * before) + _LEAST), dtype=self._buffer.dtype)
            buffer[:before] = self.array
            self._buffer = buffer
        self.array = self._buffer[:after]
        self.array[before:] = more


class GrowingTogether:
    """Several arrays of equal length, of the given types, that grow at their end together."""

    __slots__ = ("_buffers", "arrays")

    def __init__(self, *kinds: DTypeLike) -> None:
        self._buffers: list[NDArray[Any]] = [np.empty(0, dtype=kind) for kind in kinds]
        self.arrays = self._buffers

    def extend(self, count: int, *more: ArrayLike) -> None:
        """Append ``count`` numbers to each array, or one number ``count`` times."""
        before = self.arrays[0].size
        after = before + count
        if after > self._buffers[0].size:
            self._enlarge(max(after, int(_GROWTH * before) + _LEAST))
        for buffer, new in zip(self._buffers, more, strict=True):
            buffer[before:after] = new
        self.arrays = [buffer[:after] for buffer in self._buffers]

    def _enlarge(self, size: int) -> None:
        buffers = [np.empty(size, dtype=buffer.dtype) for buffer in self._buffers]
        for buffer, array in zip(buffers, self.arrays, strict=True):
            buffer[: array.size] = array
        self._buffers = buffers


class SignatureIndex:
    """Maps 64-bit signatures of columns to positions, many at a time: open addressing with linear probing.

    The signatures by position are shared with the column pool.
    """

    def __init__(self, signatures: Growing[np.uint64]) -> None:
        self._signatures = signatures
        self._slots = np.full(64, -1, dtype=np.int32)
        self._held = 0

    def find(self, batch: Patterns, wanted: NDArray[np.uint64], held: Patterns) -> NDArray[np.int64]:
        """Return positions of columns with the signatures ``wanted``, -1 for missing ones.

        Columns of equal signatures are compared by entries with ``held``, the columns that positions refer to.
        """
        if not self._held:
            return np.full(len(wanted), -1, dtype=np.int64)
        found: NDArray[np.int64] = find(batch, wanted, self._slots, self._signatures.array, held)
        return found

    def add(self, positions: NDArray[np.integer[Any]]) -> None:
        """Add positions whose signatures have been stored."""
        self._held += len(positions)
        if 2 * self._held > len(self._slots):
            old = self._slots[self._slots >= 0].astype(np.int64)
            self._slots = np.full(1 << (4 * self._held - 1).bit_length(), -1, dtype=np.int32)
            claim(self._slots, self._signatures.array, np.sort(old))
        claim(self._slots, self._signatures.array, positions.astype(np.int64, copy=False))
