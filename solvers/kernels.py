"""How kernels that allocate nothing are compiled: without counting references, and without doors that nobody uses.

Arrays come to a kernel by the dozen, most of them in tuples.  To take one out counts a reference, which takes longer
than a row of some dozens of numbers; and a door for callers from Python takes a second to compile for two large tuples.
So kernels that allocate nothing count nothing, and those that only kernels call have no door.  The options are numba's
own, but for its signatures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from colgen.solvers.kernel_cache import njit

Function = TypeVar("Function", bound=Callable[..., Any])

_compile: Any = njit

_NO_DOOR = {"cache": True, "nogil": True, "_nrt": False, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}


def kernel(function: Function) -> Function:
    """Compile what Python calls, and what allocates nothing."""
    return _compile(cache=True, nogil=True, _nrt=False, no_cfunc_wrapper=True)(function)  # type: ignore[no-any-return]


def inner(function: Function) -> Function:
    """Compile what kernels alone call, and what allocates nothing."""
    return _compile(**_NO_DOOR)(function)  # type: ignore[no-any-return]


def folded(function: Function) -> Function:
    """The same for steps of an innermost loop: taken into whoever calls, for tuples of arrays are slow to hand over."""
    return _compile(forceinline=True, **_NO_DOOR)(function)  # type: ignore[no-any-return]


def quick(function: Function) -> Function:
    """The same for sums and maxima of numbers that are finite: taken in whatever order is fastest."""
    return _compile(fastmath=True, **_NO_DOOR)(function)  # type: ignore[no-any-return]
