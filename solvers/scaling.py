"""Powers of two as scales: multiplying and dividing by them is exact unless numbers underflow."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_CLIPPED = 1000
"""Largest absolute exponent."""

_EXPONENT = np.int64(0x7FF0000000000000)
"""Bit mask of the exponent of a float."""

_LEAST = 2.0**-_CLIPPED
"""Smallest power of two; the largest is its inverse."""


def power_of_two(values: ArrayLike) -> float:
    """Return the largest power of two that is at most the largest finite magnitude; 1 if that is zero.

    Dividing by it is exact (except for numbers below 1e-307 of it) and leaves numbers between -2 and 2.
    """
    if isinstance(values, float):
        largest = abs(values) if math.isfinite(values) else 0.0
    else:
        magnitudes = np.abs(np.asarray(values, dtype=float))
        largest = float(np.max(magnitudes, where=np.isfinite(magnitudes), initial=0.0))
    if not largest > 0.0:
        return 1.0
    return math.ldexp(1.0, min(max(math.frexp(largest)[1] - 1, -_CLIPPED), _CLIPPED))


def powers_of_two(sizes: Floats) -> Floats:
    """Return the largest power of two up to each size (non-negative numbers), or 1 for zero."""
    bits = np.asarray(sizes, dtype=np.float64).view(np.int64)
    below = (bits & _EXPONENT).view(np.float64)  # the number with its mantissa cleared
    powers: Floats = np.where(sizes > 0.0, np.minimum(np.maximum(below, _LEAST), 1.0 / _LEAST), 1.0)
    return powers


def integer_scale(largest: float, bits: int) -> float:
    """Return the power of two that scales numbers up to ``largest`` > 0 below 2^bits, before they are rounded."""
    return math.ldexp(1.0, min(bits - math.frexp(largest)[1], _CLIPPED))
