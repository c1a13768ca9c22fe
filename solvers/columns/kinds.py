"""The kinds of arrays that kernels of columns take: one kind an argument, so that each is compiled once.

Arrays that may not be written are taken like others: dual values are such.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from solvers.kernel_cache import njit
from solvers.tiers import Tiered


def _read(kind: types.Type) -> types.Array:
    return types.Array(kind, 1, "C", readonly=True)


FLOATS, NUMBERS, SIGNATURES = _read(types.float64), _read(types.int32), _read(types.uint64)
POSITIONS, FLAGS = _read(types.int64), _read(types.boolean)
FLOAT, WHOLE = types.float64, types.int64


def typed(*signatures: Any) -> Callable[[Callable[..., Any]], Tiered]:
    """Compile for arguments of these kinds and no others, when they first come and are no longer few.

    numba itself would do so when the module is imported: several seconds for those who never solve a linear program.
    """
    return lambda function: Tiered(
        function, lambda: njit(list(signatures), cache=True, nogil=True)(function), narrow=True, soon=lambda: True
    )
