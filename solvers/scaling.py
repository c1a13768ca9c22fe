"""Powers of two as scales: multiplying and dividing by them loses nothing, short of numbers that are far smaller."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_CLIPPED = 1000
"""Exponents are between this and its negative."""

_EXPONENT = np.int64(0x7FF0000000000000)
"""The bits of a number that hold its exponent."""

_LEAST = 2.0**-_CLIPPED
"""The least power of two; the largest is one over it."""


def power_of_two(values: ArrayLike) -> float:
    """Return the power of two next below the largest finite magnitude of some values; 1 if there is none above zero.

    Dividing by it is exact (short of numbers below 1e-307 of it) and leaves numbers between -2 and 2.
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
    """Return the power of two next below each size; 1 where it is zero.

    Parameters
    ----------
    sizes
        Nonnegative numbers.
    """
    bits = np.asarray(sizes, dtype=np.float64).view(np.int64)
    below = (bits & _EXPONENT).view(np.float64)  # what is left without the digits of a number
    powers: Floats = np.where(sizes > 0.0, np.minimum(np.maximum(below, _LEAST), 1.0 / _LEAST), 1.0)
    return powers


def integer_scale(largest: float, bits: int) -> float:
    """Return the power of two by which numbers up to ``largest`` > 0 are less than 2^bits: then they are rounded."""
    return math.ldexp(1.0, min(bits - math.frexp(largest)[1], _CLIPPED))
