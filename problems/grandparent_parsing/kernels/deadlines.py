"""Kernels that can run long look up now and then, so that a deadline or Ctrl-C is seen inside of them.

Whoever calls such a kernel says around the call how to find out::

    with watching(lambda: budget.expired):
        bound, heads = kernel(...)

and the kernel asks :func:`expired` every :data:`STEPS` elementary steps or so, which costs a few microseconds::

    steps += work
    if steps > STEPS:
        steps = 0
        if expired():
            return what it has

Python's handlers of signals run while it asks.  Without :func:`watching` around it nothing ever expires.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from numba import objmode

from colgen.solvers.kernel_cache import njit

STEPS = 1_000_000
"""Additions and comparisons between two looks: some thousandths of a second."""

_here = sys.modules[__name__]  # what compiled code can name: functions and modules


def _never() -> bool:
    return False


LOOK: ContextVar[Callable[[], bool]] = ContextVar("look", default=_never)
"""What :func:`expired` asks: in each thread its own."""


@njit(cache=True)
def expired() -> bool:
    """Whether the kernel must end with what it has; for kernels."""
    with objmode(answer="boolean"):
        answer = _here.LOOK.get()()
    return answer  # type: ignore[no-any-return]


@contextmanager
def watching(look: Callable[[], bool]) -> Iterator[None]:
    """Let kernels inside ask ``look`` whether they must end.

    Raises
    ------
    KeyboardInterrupt
        If that is what a signal's handler has raised while a kernel asked: what it returned is no result then.
    """
    token = LOOK.set(look)
    try:
        yield
    except SystemError as error:  # how numba's dispatcher tells of an exception out of a kernel
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise error.__cause__ from None
        raise
    finally:
        LOOK.reset(token)
