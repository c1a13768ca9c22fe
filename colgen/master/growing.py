"""Arrays that grow at their end, and an index of 64-bit numbers that grows with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Kind = TypeVar("Kind", bound=np.generic)

_ROOM = 1.125
"""An array that is full grows by this factor: its mean slack is a sixteenth."""

_FEW = 8
"""So few numbers are looked up one by one: a call of numpy costs more than a step of Python."""


class Growing(Generic[Kind]):
    """An array of one dimension that grows at its end; ``array`` is a view of what it holds."""

    __slots__ = ("_room", "array")

    def __init__(self, array: NDArray[Kind]) -> None:
        self._room = self.array = array.copy()

    def __len__(self) -> int:
        return len(self.array)

    def extend(self, more: Any, count: int) -> None:
        """Append ``count`` numbers, or one of them so many times."""
        before = len(self.array)
        after = before + count
        if after > len(self._room):
            room = np.empty(max(after, int(_ROOM * before) + 16), dtype=self._room.dtype)
            room[:before] = self.array
            self._room = room
        self.array = self._room[:after]
        self.array[before:] = more


class SignatureIndex:
    """From 64-bit numbers to positions, many at a time: open addressing with linear probing.

    Parameters
    ----------
    signatures
        The numbers by position, shared with who keeps them.
    """

    def __init__(self, signatures: Growing[np.uint64]) -> None:
        self._signatures = signatures
        self._slots = np.full(64, -1, dtype=np.int32)
        self._held = 0

    def find(
        self, wanted: NDArray[np.uint64], same: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]
    ) -> NDArray[np.int64]:
        """Positions of numbers, -1 for those that are not there.

        Parameters
        ----------
        same
            Given which of the wanted numbers, and positions that have equal ones: whether they mean the same thing.
        """
        found = np.full(len(wanted), -1, dtype=np.int64)
        if not self._held:
            return found
        slots, signatures, mask = self._slots, self._signatures.array, len(self._slots) - 1
        if len(wanted) <= _FEW:
            for k, number in enumerate(wanted.tolist()):
                at = number & mask
                while (position := int(slots[at])) >= 0:
                    if int(signatures[position]) == number and same(np.array([k]), np.array([position]))[0]:
                        found[k] = position
                        break
                    at = (at + 1) & mask
            return found
        left = np.arange(len(wanted))
        at = (wanted & np.uint64(mask)).astype(np.int64)
        while len(left):
            positions = slots[at]
            used = positions >= 0
            left, at, positions = left[used], at[used], positions[used]
            equal = signatures[positions] == wanted[left]
            if equal.any():
                hits = np.flatnonzero(equal)
                hits = hits[same(left[hits], positions[hits].astype(np.int64))]
                found[left[hits]] = positions[hits]
                open_ = np.ones(len(left), dtype=np.bool_)
                open_[hits] = False
                left, at = left[open_], at[open_]
            at = (at + 1) & mask
        return found

    def add(self, positions: NDArray[np.integer[Any]]) -> None:
        """Take in positions whose numbers are there by now."""
        self._held += len(positions)
        if 2 * self._held > len(self._slots):
            old = self._slots[self._slots >= 0].astype(np.int64)
            self._slots = np.full(1 << (4 * self._held - 1).bit_length(), -1, dtype=np.int32)
            self._claim(np.sort(old))
        self._claim(positions)

    def _claim(self, positions: NDArray[np.integer[Any]]) -> None:
        slots, mask = self._slots, len(self._slots) - 1
        numbers = self._signatures.array[positions]
        if len(positions) <= _FEW:
            for position, number in zip(positions.tolist(), numbers.tolist(), strict=True):
                at = number & mask
                while slots[at] >= 0:
                    at = (at + 1) & mask
                slots[at] = position
            return
        at = (numbers & np.uint64(mask)).astype(np.int64)
        while len(positions):
            free = slots[at] < 0
            slots[at[free]] = positions[free]  # the last of several that claim one slot gets it
            lost = slots[at] != positions
            positions, at = positions[lost], (at[lost] + 1) & mask
