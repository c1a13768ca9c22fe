"""The kinds of arrays that kernels of columns take: one kind an argument, so that each is compiled once.

Arrays that may not be written are taken like others: dual values are such.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numba import types

from solvers.kernel_cache import njit


def _read(kind: types.Type) -> types.Array:
    return types.Array(kind, 1, "C", readonly=True)


FLOATS, NUMBERS, SIGNATURES = _read(types.float64), _read(types.int32), _read(types.uint64)
POSITIONS, FLAGS = _read(types.int64), _read(types.boolean)
FLOAT, WHOLE = types.float64, types.int64


class _Typed:
    """A kernel for arguments of stated kinds, compiled or loaded when it is first called.

    numba itself would do so when the module is imported: several seconds for those who never solve a linear program.
    """

    def __init__(self, function: Callable[..., Any], signatures: tuple[Any, ...]) -> None:
        functools.update_wrapper(self, function)
        self._function, self._signatures = function, signatures
        self._kernel: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        if self._kernel is None:
            self._kernel = njit(list(self._signatures), cache=True, nogil=True)(self._function)
        return self._kernel(*arguments)


def typed(*signatures: Any) -> Callable[[Callable[..., Any]], _Typed]:
    """Compile for arguments of these kinds and no others, when they first come."""
    return lambda function: _Typed(function, signatures)
