"""The kinds of arrays that kernels of columns take: one kind an argument, so that each is compiled once.

Arrays that may not be written are taken like others: dual values are such.
"""

from __future__ import annotations

from numba import types


def _read(kind: types.Type) -> types.Array:
    return types.Array(kind, 1, "C", readonly=True)


FLOATS, NUMBERS, SIGNATURES = _read(types.float64), _read(types.int32), _read(types.uint64)
POSITIONS, FLAGS = _read(types.int64), _read(types.boolean)
FLOAT, WHOLE = types.float64, types.int64
