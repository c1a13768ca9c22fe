"""Sparse patterns in compressed form: brought in order, and picked from."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints32: TypeAlias = NDArray[np.int32]
Compressed: TypeAlias = tuple[Ints32, Ints32, Floats]
"""Starts, row numbers, values."""


def in_order(starts: NDArray[Any], rows: NDArray[Any], values: Floats) -> Compressed:
    """Entries of each column by rising row number.

    Raises
    ------
    ValueError
        If a column states a row twice; the message says which.
    """
    begins, numbers = starts.astype(np.int32), rows.astype(np.int32)
    if len(numbers) < 2:
        return begins, numbers, values
    falls = (numbers[1:] <= numbers[:-1]).nonzero()[0] + 1
    if len(falls):
        is_begin = np.zeros(len(numbers) + 1, dtype=np.bool_)
        is_begin[begins] = True
    if not len(falls) or is_begin[falls].all():  # from one column to the next
        return begins, numbers, values
    owners = np.repeat(np.arange(len(begins) - 1), begins[1:] - begins[:-1])
    order = np.lexsort((numbers, owners))
    numbers = numbers[order]
    twice = np.flatnonzero((numbers[1:] == numbers[:-1]) & (np.diff(owners) == 0))
    if len(twice):
        entry = int(twice[0])
        raise ValueError(f"column {owners[entry]} of a batch states the row number {numbers[entry]} twice")
    return begins, numbers, values[order]


def picked(
    starts: NDArray[np.integer], rows: Ints32, values: Floats, chosen: NDArray[np.integer] | slice
) -> Compressed:
    """The columns of these numbers, in this order; of a slice of them, views."""
    if isinstance(chosen, slice):
        begin, end = int(starts[chosen.start]), int(starts[chosen.stop])
        return starts[chosen.start : chosen.stop + 1] - starts.dtype.type(begin), rows[begin:end], values[begin:end]
    lengths = starts[1:][chosen] - starts[:-1][chosen]
    begins = np.zeros(len(chosen) + 1, dtype=np.int32)
    np.cumsum(lengths, out=begins[1:])
    entries = np.arange(begins[-1]) + np.repeat(starts[:-1][chosen] - begins[:-1], lengths)
    return begins, rows[entries], values[entries]
