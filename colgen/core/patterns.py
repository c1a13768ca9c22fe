"""Sparse patterns in compressed form: brought in order, picked from, and told apart by a number of 64 bits."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints32: TypeAlias = NDArray[np.int32]
Compressed: TypeAlias = tuple[Ints32, Ints32, Floats]
"""Starts, row numbers, values."""

_ROW, _VALUE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_FEW = 32
"""So many entries, or fewer, are mixed one by one."""

_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


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


def signatures(
    costs: Floats, starts: NDArray[np.integer], rows: NDArray[np.integer], values: Floats
) -> NDArray[np.uint64]:
    """A number for each column's cost and pattern; equal columns have equal numbers, others hardly ever.

    A sum over the entries of a mixing function of 64 bits (splitmix64's), so that no order of them matters.
    """
    if len(rows) <= _FEW and len(costs) <= _FEW:
        return _signatures_of_few(costs, starts, rows, values)
    mixed = _mix(rows.astype(np.uint64) * _ROW ^ _bits(values) * _VALUE)
    sums = np.zeros(len(mixed) + 1, dtype=np.uint64)
    np.cumsum(mixed, out=sums[1:])
    ends = sums[starts]
    return _mix(_mix(_bits(costs)) + ends[1:] - ends[:-1])  # arrays wrap around and do not warn


def _signatures_of_few(
    costs: Floats, starts: NDArray[np.integer], rows: NDArray[np.integer], values: Floats
) -> NDArray[np.uint64]:
    """The same number by number: of a few, calls of numpy take longer than all the arithmetic."""
    row, value, last = int(_ROW), int(_VALUE), 2**64 - 1
    bits = zip(rows.tolist(), _bits(values).tolist(), strict=True)
    mixed = [_mix_one((i * row & last) ^ (v * value & last)) for i, v in bits]
    ends = starts.tolist()
    sums = (sum(mixed[begin:end]) for begin, end in pairwise(ends))
    pairs = zip(_bits(costs).tolist(), sums, strict=True)
    return np.array([_mix_one(_mix_one(cost) + total & last) for cost, total in pairs], dtype=np.uint64)


def _mix_one(x: int) -> int:
    last = 2**64 - 1
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & last
    x = (x ^ x >> 27) * 0x94D049BB133111EB & last
    return x ^ x >> 31


def _bits(numbers: Floats) -> NDArray[np.uint64]:
    return (numbers + 0.0).view(np.uint64)  # without the sign of zero


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix new numbers, in place: they are nobody else's."""
    x ^= x >> 30
    x *= _FIRST
    x ^= x >> 27
    x *= _SECOND
    x ^= x >> 31
    return x


def equal(
    first: Compressed,
    costs: Floats,
    these: NDArray[np.integer],
    second: Compressed,
    others: Floats,
    those: NDArray[np.integer],
) -> NDArray[np.bool_]:
    """Which columns ``these`` of one batch are those of another, number by number."""
    same: NDArray[np.bool_] = (costs[these] == others[those]) & (
        first[0][1:][these] - first[0][:-1][these] == second[0][1:][those] - second[0][:-1][those]
    )
    at = np.flatnonzero(same)
    starts, rows, values = picked(*first, these[at])
    _, other_rows, other_values = picked(*second, those[at])
    differs = (rows != other_rows) | (values != other_values)
    same[at] = np.bincount(np.repeat(np.arange(len(at)), np.diff(starts)), differs, minlength=len(at)) == 0
    return same
