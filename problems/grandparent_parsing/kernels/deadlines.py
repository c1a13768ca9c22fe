"""Deadlines and Ctrl-C inside long-running kernels.

The caller of such a kernel provides a function that returns whether time is up::

    with watching(lambda: budget.expired):
        bound, heads = kernel(...)

The kernel calls :func:`expired` about every :data:`STEPS` elementary steps, which costs a few microseconds, and returns
a partial result if it is True.  Python's signal handlers run during the call.  Outside of :func:`watching` kernels
never expire.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from numba import objmode

from colgen.solvers.kernel_cache import njit

STEPS = 1_000_000
"""Additions and comparisons between two checks: some thousandths of a second."""

_here = sys.modules[__name__]  # compiled code can refer to functions and modules only


def _never() -> bool:
    return False


LOOK: ContextVar[Callable[[], bool]] = ContextVar("look", default=_never)
"""The function that :func:`expired` calls, separate in each thread."""


@njit(cache=True)
def expired() -> bool:
    """Return whether the kernel must stop and return a partial result; for use in kernels."""
    with objmode(answer="boolean"):
        answer = _here.LOOK.get()()
    return answer  # type: ignore[no-any-return]


@contextmanager
def watching(look: Callable[[], bool]) -> Iterator[None]:
    """Let kernels called inside stop once ``look()`` returns True.

    Raises
    ------
    KeyboardInterrupt
        If a signal handler raised it during a kernel's check; the kernel's result is invalid then.
    """
    token = LOOK.set(look)
    try:
        yield
    except SystemError as error:  # numba's dispatcher wraps exceptions from a kernel in this type
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise error.__cause__ from None
        raise
    finally:
        LOOK.reset(token)
