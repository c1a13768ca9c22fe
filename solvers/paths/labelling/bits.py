"""Operations on 64-bit words, and addresses of array entries, for kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from colgen.solvers.kernels import inner

ONE, _TWO, _FOUR, _FIFTY_SIX = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
_PAIRS, _FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_EIGHTS, _BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)

NOTHING = np.uint64(0)


@inner
def count(word: np.uint64) -> int:
    """Return the number of set bits."""
    word = word - ((word >> ONE) & _PAIRS)
    word = (word & _FOURS) + ((word >> _TWO) & _FOURS)
    word = (word + (word >> _FOUR)) & _EIGHTS
    return np.int64((word * _BYTES) >> _FIFTY_SIX)  # type: ignore[return-value]


@inner
def lowest(word: np.uint64) -> int:
    """Return the position of the lowest set bit; 64 for the word 0."""
    return count((word & (~word + ONE)) - ONE)


def _address(typing_context: Any, array: Any, row: Any, column: Any) -> Any:
    """Return the address of an entry of a contiguous two-dimensional float array, for user functions."""
    signature = types.CPointer(types.float64)(array, types.intp, types.intp)

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values = context.make_array(array)(context, builder, arguments[0])
        length = builder.extract_value(values.shape, 1)
        return builder.gep(values.data, [builder.add(builder.mul(arguments[1], length), arguments[2])])

    return signature, code


address: Any = intrinsic(_address)
