"""Retries of a failed solve: by the other method, from a fresh start, at a looser tolerance."""

from __future__ import annotations

import time

from colgen.solvers.linear.backends.protocol import LPBackend
from colgen.solvers.linear.highs import LOOSER, LPStatus, Stopped


def run_or_retry(
    backend: LPBackend, tolerance: float, by_dual: bool, deadline: float, stopped: Stopped | None
) -> LPStatus | None:
    """Solve from the current basis; if no optimum is found, retry from a fresh start.

    ``tolerance`` is that of the program, restored after a retry.  ``by_dual`` tries the dual simplex method first.
    ``deadline`` limits all attempts together, by :func:`time.monotonic`.
    """
    status = _run(backend, by_dual, deadline, stopped)
    if status in (LPStatus.OPTIMAL, LPStatus.LIMIT):
        return status
    # Confirm by the other method from a fresh start: with sides of 1e8 the primal simplex method has reported a
    # program with nonnegative costs as unbounded.
    backend.forget()
    status = _run(backend, True, deadline, stopped)
    return _last_try(backend, tolerance, deadline, stopped) if status is None else status


def _last_try(backend: LPBackend, tolerance: float, deadline: float, stopped: Stopped | None) -> LPStatus | None:
    """Solve from a fresh start at a looser tolerance."""
    try:
        backend.set_tolerance(LOOSER)
        for by_dual in (False, True):
            backend.forget()
            status = _run(backend, by_dual, deadline, stopped)
            if status is not None:
                return status
    finally:
        backend.set_tolerance(tolerance)
    return None


def _run(backend: LPBackend, by_dual: bool, deadline: float, stopped: Stopped | None) -> LPStatus | None:
    return backend.run(by_dual, max(deadline - time.monotonic(), 0.0), stopped)
