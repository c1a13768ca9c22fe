"""Exact conversion of floating-point numbers to integers over a power of two."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

_EXACT = 62
"""Bits of integers that fit into an array."""

_LARGEST = 1_000
"""Bits of integers below the largest double."""


def places(array: NDArray[np.floating[Any]]) -> int:
    """Return the number of binary places that the finite numbers of an array need."""
    finite = array[np.isfinite(array) & (array != 0.0)]
    if not len(finite):
        return 0
    parts, exponents = np.frexp(finite.astype(np.float64))
    integers = np.ldexp(parts, 53).astype(np.int64)
    lowest = np.log2((integers & -integers).astype(np.float64)).astype(np.int64)
    return max(int((53 - exponents - lowest).max()), 0)


def to_integers(array: NDArray[np.floating[Any]], shift: int, room: int = 0) -> NDArray[Any]:
    """Return an array times 2^``shift``, truncated to integers, with 0 for infinite numbers.

    Integers have 64 bits if sums of 2^``room`` of them fit, otherwise any size.
    """
    values = np.where(np.isfinite(array), array, 0.0).astype(np.float64)
    top = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    if top + shift + room <= _EXACT:
        return np.ldexp(values, shift).astype(np.int64)
    if top + shift < _LARGEST:
        integers = list(map(int, np.ldexp(values, shift).ravel().tolist()))
    else:
        integers = [int(Fraction(x) * 2**shift) for x in values.ravel().tolist()]
    return np.array(integers, dtype=object).reshape(values.shape)


def to_integer_lists(array: NDArray[np.floating[Any]], shift: int) -> Any:
    """Return an array times 2^``shift`` as lists of integers, with None for infinite numbers."""
    return to_lists(to_integers(array, shift), np.isfinite(array))


def to_lists(integers: NDArray[Any], is_finite: NDArray[np.bool_]) -> Any:
    """Return integers as lists, with None where ``is_finite`` is False."""
    if is_finite.all():
        return integers.tolist()
    mixed = integers.astype(object)
    mixed[~is_finite] = None
    return mixed.tolist()
