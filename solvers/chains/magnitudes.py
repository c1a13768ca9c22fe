"""How large the numbers of an array are: what sums of them can overflow, and what rounding is relative to."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


def largest(array: NDArray[Any]) -> float:
    """The largest magnitude of an array's finite numbers, -inf left out of account.

    Parameters
    ----------
    array
        Of float32 or float64, in C order.

    Returns
    -------
    float
        0 if there is no number; inf if one is +inf, NaN if one is NaN.
    """
    # Magnitudes are in the order of their bits: maxima of integers become vector instructions.
    kind = np.uint32 if array.dtype == np.float32 else np.uint64
    infinity = array.dtype.type(np.inf).view(kind)
    bits = _largest(array.reshape(-1).view(kind), infinity, ~kind(0) >> kind(1), array.dtype.type(-np.inf).view(kind))
    return math.nan if bits > infinity else float(kind(bits).view(array.dtype))


@njit(cache=True)
def _largest(bits: NDArray[Any], infinity: Any, magnitude: Any, forbidden: Any) -> Any:
    most = infinity ^ infinity
    for k in range(len(bits)):
        most = max(most, most if bits[k] == forbidden else bits[k] & magnitude)
    return most
