"""Kernels that allocate nothing, and what their calls of each other need to compile quickly.

A kernel often receives dozens of arrays, most of them in tuples.  Taking one out of a tuple counts a reference, which
takes longer than a row of some dozens of numbers, and a wrapper for calls from Python takes up to a second to compile.
Kernels that allocate nothing therefore count no references, and those that only kernels call have no wrapper.

For each literal in a call of a kernel by another, ``advance(state, True)``, Numba compiles the kernel once more;
``advance(state, truth(True))`` is a call like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from colgen.solvers.kernel_cache import njit

_Returned = TypeVar("_Returned")

_compile: Any = njit

_INNER = {"cache": True, "borrows": True, "no_cpython_wrapper": True}

whole = cast("type[int]", np.int64)
truth = cast("type[bool]", np.bool_)


def kernel(function: Callable[..., _Returned]) -> Callable[..., _Returned]:
    """Compile a kernel that Python calls and that allocates nothing."""
    return _compile(cache=True, nogil=True, borrows=True)(function)  # type: ignore[no-any-return]


def inner(function: Callable[..., _Returned]) -> Callable[..., _Returned]:
    """Compile a kernel that only kernels call and that allocates nothing."""
    return _compile(**_INNER)(function)  # type: ignore[no-any-return]


def folded(function: Callable[..., _Returned]) -> Callable[..., _Returned]:
    """Compile a step of an innermost loop into its caller, as passing tuples of arrays is slow."""
    return _compile(forceinline=True, **_INNER)(function)  # type: ignore[no-any-return]


def quick(function: Callable[..., _Returned]) -> Callable[..., _Returned]:
    """Compile sums and maxima of finite numbers, computed in whichever order is fastest."""
    return _compile(fastmath=True, **_INNER)(function)  # type: ignore[no-any-return]


@inner
def overwrite(target, source):  # type: ignore[no-untyped-def]
    """``target[:] = source`` of arrays of one axis and one length.

    Numba's own assignment formats error messages, which takes four seconds to compile in the first kernel that has
    one, and half a second in each further kernel.
    """
    for i in range(len(target)):
        target[i] = source[i]
