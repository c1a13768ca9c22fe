"""Limits of a run: time, memory, processors, interrupts, and the work of its parts.

A :class:`Budget` is created before anything else of a run, and every long call checks it.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import gc
import math
import os
import sys
import time

from colgen.core.allotment import Allotment
from colgen.core.result import Termination
from colgen.core.signals import SIGNALS, ended_by
from colgen.core.workers import SERIAL, Workers
from colgen.solvers.compiling import compile_seconds

_LATE_SHARE, _LATE = 0.05, 0.1
"""A run with limit t may exceed it by this share of t and this many seconds."""


def interruption() -> Termination:
    """Return the reason of a run that a signal ended."""
    return Termination(ended_by())


class OutOfBudget(Exception):  # noqa: N818  (no error: how a run ends)
    """Time or memory is used up, or the user interrupted; the run ends with its best result."""

    def __init__(self, reason: Termination) -> None:
        super().__init__(reason.value)
        self.reason = reason


class Budget:
    """Deadline, memory, workers and interrupts of one run.

    ``seconds`` of wall time count from now, or from ``started``, an earlier ``time.monotonic()``. ``memory`` limits the
    memory of the process, in bytes. ``workers`` run parts of a long call in parallel; by default the caller runs all.
    ``allotment`` limits the work of parts such as heuristics, in units that do not depend on the machine.
    """

    workers: Workers = SERIAL

    def __init__(self, seconds: float = math.inf, memory: float = math.inf, started: float | None = None) -> None:
        self.started = time.monotonic() if started is None else started
        self._processor = time.process_time()
        self.deadline = self.started + seconds
        self.memory = memory
        self._compiled = compile_seconds()
        self._signals = SIGNALS.seen if SIGNALS.holding else SIGNALS.count
        self._late: dict[str, float] = {}
        self.allotment = Allotment()

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self.started

    @property
    def processor_seconds(self) -> float:
        """Processor seconds of this process, with all its threads, since this budget was made."""
        return time.process_time() - self._processor

    @property
    def compiling(self) -> float:
        """Seconds since the run began that went into compiling and loading kernels."""
        return compile_seconds() - self._compiled

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline: at least 0, 0 after an interrupt, infinite without a limit."""
        return 0.0 if self.interrupted else max(self.deadline - time.monotonic(), 0.0)

    @property
    def interrupted(self) -> bool:
        """Whether a signal requires this run to end."""
        if SIGNALS.count > self._signals:
            SIGNALS.handled = SIGNALS.count
            return True
        return False

    @property
    def reason(self) -> Termination | None:
        """Why the run must end now; None while there is budget left."""
        if self.interrupted:
            return interruption()
        if time.monotonic() >= self.deadline:
            return Termination.TIME_LIMIT
        if self.memory < math.inf and resident_bytes() > self.memory:
            return Termination.MEMORY_LIMIT
        return None

    @property
    def expired(self) -> bool:
        """Whether the run must end now."""
        return self.reason is not None

    def require(self) -> None:
        """Raise :class:`OutOfBudget` if the run must end now."""
        reason = self.reason
        if reason is not None:
            raise OutOfBudget(reason)

    def record_overrun(self, call: str, began: float) -> None:
        """Record a call that began at this ``time.monotonic()`` and ended after the deadline.

        It counts only if a run of t seconds then exceeds 1.05 t + 0.1 seconds and the time for compiling kernels.
        """
        late = time.monotonic() - self.deadline
        fair = _LATE_SHARE * (self.deadline - self.started) + _LATE
        if began < self.deadline and late > fair + self.compiling and not self.interrupted:
            self._late[call] = max(late, self._late.get(call, 0.0))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about calls that ended after the deadline."""
        return tuple(
            f"{call} ended {late:.1f} s after the deadline: long calls must check context.budget."
            for call, late in self._late.items()
        )

    def cap(self, seconds: float) -> Budget:
        """Return a budget for a part of the run: at most ``seconds``, and at most the rest of this one."""
        part = Budget(min(seconds, max(self.deadline - time.monotonic(), 0.0)), self.memory)
        part._signals, part.workers, part.allotment = self._signals, self.workers, self.allotment
        return part

    def apart(self) -> Budget:
        """Return the same limits with an allotment of its own, for a search beside another one."""
        other = copy.copy(self)
        other.allotment = Allotment(self.allotment.rule)
        return other

    def extend(self, share: float) -> Budget:
        """Return a budget for the end of a run, whose deadline is later by a share of its time."""
        part = Budget((1.0 + share) * (self.deadline - self.started), self.memory, self.started)
        part._signals, part.workers, part.allotment = self._signals, self.workers, self.allotment
        return part


# --- memory ----------------------------------------------------------------------------------------------------------


def resident_bytes() -> int:
    """Return the memory of the process now, or its peak if the system does not report that."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return peak_bytes()


def begin_peak() -> int:
    """Reset :func:`peak_bytes` (on Linux) and return the memory of the process now, in bytes.

    Free memory is first returned to the system; otherwise its reuse would not be measured.
    """
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")
    return resident_bytes()


def peak_bytes() -> int:
    """Return the peak memory of the process, in bytes."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
