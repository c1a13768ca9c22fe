"""How the kernels are compiled: without counting references, and without doors that nobody uses.

They are given their arrays in tuples of dozens.  Taking one out would count a reference each time, and a door for
callers from Python takes a second to compile for two such tuples.  So kernels that allocate nothing count nothing, and
those that only kernels call have no door.  The options are numba's own, but for its signatures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])

_compile: Any = njit


def kernel(function: Function) -> Function:
    """Compile what Python calls, and what allocates nothing."""
    return _compile(cache=True, nogil=True, _nrt=False, no_cfunc_wrapper=True)(function)  # type: ignore[no-any-return]


def inner(function: Function) -> Function:
    """Compile what kernels alone call, and what allocates nothing."""
    options = {"cache": True, "nogil": True, "_nrt": False, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
    return _compile(**options)(function)  # type: ignore[no-any-return]
