"""Decorators and helpers for kernels that compile quickly and run without overhead.

A kernel often receives dozens of arrays, most of them in tuples.  Taking an array out of a tuple counts a reference.
This takes longer than a row of some dozens of numbers.  A wrapper for calls from Python takes up to a second to
compile.  So kernels that allocate nothing count no references, and kernels called only by kernels have no wrapper.

Numba compiles a kernel again for each literal in a call by another kernel, ``advance(state, True)``.  With
``advance(state, boolean(True))`` it does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from colgen.solvers.kernel_cache import njit

_Returned = TypeVar("_Returned")

_compile: Any = njit

_INNER = {"cache": True, "borrows": True, "no_cpython_wrapper": True}

int64 = cast("type[int]", np.int64)
boolean = cast("type[bool]", np.bool_)


def kernel(function: Callable[..., _Returned]) -> Callable[..., _Returned]:
    """Compile a kernel that Python calls and that allocates nothing."""
    return _compile(cache=True, nogil=True, borrows=True)(function)  # type: ignore[no-any-return]


def inner(function: Callable[..., _Returned]) -> Callable[..., _Returned]:
    """Compile a kernel that only kernels call and that allocates nothing."""
    return _compile(**_INNER)(function)  # type: ignore[no-any-return]


def folded(function: Callable[..., _Returned]) -> Callable[..., _Returned]:
    """Compile a step of an innermost loop into its caller, since passing tuples of arrays is slow."""
    return _compile(forceinline=True, **_INNER)(function)  # type: ignore[no-any-return]


def quick(function: Callable[..., _Returned]) -> Callable[..., _Returned]:
    """Compile sums and maxima of finite numbers with ``fastmath``, in any order of evaluation."""
    return _compile(fastmath=True, **_INNER)(function)  # type: ignore[no-any-return]


@inner
def overwrite(target, source):  # type: ignore[no-untyped-def]
    """Copy ``source`` to ``target``, arrays of one axis and equal length.

    Numba's own ``target[:] = source`` formats error messages.  It takes four seconds to compile in the first kernel
    that uses it, and half a second in each further one.
    """
    for i in range(len(target)):
        target[i] = source[i]
