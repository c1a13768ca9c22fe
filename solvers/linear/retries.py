"""A solve that fails, once more: by the other method, from a fresh start, at a looser tolerance."""

from __future__ import annotations

import time

from colgen.solvers.linear.backends.protocol import LPBackend
from colgen.solvers.linear.highs import LOOSER, LPStatus, Stopped


def run_or_retry(
    backend: LPBackend, tolerance: float, by_dual: bool, deadline: float, stopped: Stopped | None
) -> LPStatus | None:
    """Solve from the present basis; where that has no optimum, afresh and otherwise.

    Parameters
    ----------
    tolerance
        The program's own, to come back to.
    by_dual
        Whether the dual simplex method is tried first.
    deadline
        Of all tries together, by :func:`time.monotonic`.
    """
    status = _run(backend, by_dual, deadline, stopped)
    if status in (LPStatus.OPTIMAL, LPStatus.LIMIT):
        return status
    # A second opinion, by the other method and from a fresh start: beside sides of 1e8 the primal simplex method
    # has called a program of nonnegative costs unbounded.
    backend.forget()
    status = _run(backend, True, deadline, stopped)
    return _last_try(backend, tolerance, deadline, stopped) if status is None else status


def _last_try(backend: LPBackend, tolerance: float, deadline: float, stopped: Stopped | None) -> LPStatus | None:
    """From a fresh start, at a tolerance that is easier to meet."""
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
