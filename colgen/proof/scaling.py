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


def as_whole(array: NDArray[np.floating[Any]], shift: int) -> Any:
    """An array times a power of two, as whole numbers in lists; None where a score is not finite."""
    finite = np.isfinite(array)
    top = int(np.frexp(np.abs(array[finite]).max(initial=0.0))[1])
    if top + shift <= _EXACT and finite.all():
        return np.ldexp(array.astype(np.float64), shift).astype(np.int64).tolist()
    whole = np.full(array.shape, None, dtype=object)
    if top + shift < _LARGEST:
        whole[finite] = list(map(int, np.ldexp(array[finite].astype(np.float64), shift).tolist()))
    else:
        whole[finite] = [int(Fraction(x) * 2**shift) for x in array[finite].tolist()]
    return whole.tolist()
