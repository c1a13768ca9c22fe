"""Floating-point numbers as whole numbers over a power of two, so that nothing is rounded."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

_EXACT = 62
"""Bits of whole numbers that an array holds."""

_LARGEST = 1_000
"""Bits of whole numbers below the largest of double precision."""


def places(array: NDArray[np.floating[Any]]) -> int:
    """How many binary places the finite numbers of an array need."""
    finite = array[np.isfinite(array) & (array != 0.0)]
    if not len(finite):
        return 0
    parts, exponents = np.frexp(finite.astype(np.float64))
    whole = np.ldexp(parts, 53).astype(np.int64)
    lowest = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)
    return max(int((53 - exponents - lowest).max()), 0)


def whole_numbers(array: NDArray[np.floating[Any]], shift: int, room: int = 0) -> NDArray[Any]:
    """An array times a power of two, cut to whole numbers; 0 where a score is not finite.

    They have 64 bits where sums of 2^``room`` of them fit into these, else as many as they need.
    """
    values = np.where(np.isfinite(array), array, 0.0).astype(np.float64)
    top = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    if top + shift + room <= _EXACT:
        return np.ldexp(values, shift).astype(np.int64)
    if top + shift < _LARGEST:
        whole = list(map(int, np.ldexp(values, shift).ravel().tolist()))
    else:
        whole = [int(Fraction(x) * 2**shift) for x in values.ravel().tolist()]
    return np.array(whole, dtype=object).reshape(values.shape)


def as_whole(array: NDArray[np.floating[Any]], shift: int) -> Any:
    """An array times a power of two, as whole numbers in lists; None where a score is not finite."""
    return listed(whole_numbers(array, shift), np.isfinite(array))


def listed(whole: NDArray[Any], there: NDArray[np.bool_]) -> Any:
    """Whole numbers in lists; None where there is none."""
    if there.all():
        return whole.tolist()
    mixed = whole.astype(object)
    mixed[~there] = None
    return mixed.tolist()
