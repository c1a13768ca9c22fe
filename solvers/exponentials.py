"""Exponentials that compile to vector instructions in loops of kernels.

Numba calls a function of the C library for each ``np.exp`` of a loop.  Here an exponential is a polynomial and a shift
of bits, without branches.  So LLVM computes several at once, in a quarter of the time or less.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

_LEAST = -708.0
"""Smallest argument whose exponential is a normal number."""

_ROUND = 1.5 * 2.0**52
"""Adding it rounds to an integer, which is then in the lowest bits."""

_LOG2_E, _LN2_HIGH, _LN2_LOW = 1.4426950408889634, 6.93147180369123816490e-01, 1.90821492927058770002e-10


def exponential(x: Any) -> Any:
    """Return exp(x) for 64-bit x ≤ 708 with a relative error of at most 3e-16; 0 below -708.  Complex x are allowed."""
    return np.exp(x)


def _emit_bits(context: Any, x: types.Float) -> Any:
    return types.int64(types.float64), lambda _, builder, __, given: builder.bitcast(given[0], ir.IntType(64))


def _emit_number(context: Any, bits: types.Integer) -> Any:
    return types.float64(types.int64), lambda _, builder, __, given: builder.bitcast(given[0], ir.DoubleType())


_bits: Any = intrinsic(_emit_bits)
_number: Any = intrinsic(_emit_number)


@overload(exponential, inline="always")
def _compile_exponential(x: Any) -> Any:
    if isinstance(x, types.Complex):

        def compiled_complex(x: Any) -> Any:
            return np.exp(x)

        return compiled_complex

    def compiled(x: Any) -> Any:
        y = x if x > _LEAST else _LEAST
        shifted = y * _LOG2_E + _ROUND
        n = shifted - _ROUND
        r = (y - n * _LN2_HIGH) - n * _LN2_LOW  # between -0.35 and 0.35
        p = 1.0 / 6227020800.0
        p = p * r + 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        value = (p * r * r + r + 1.0) * _number((_bits(shifted) << 52) + (1023 << 52))
        return value if x >= _LEAST else 0.0

    return compiled
