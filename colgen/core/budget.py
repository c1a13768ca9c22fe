"""What a run may spend: time, memory, processors, and the patience of whoever presses Ctrl-C.

A :class:`Budget` exists before anything else of a run, and every call that can last looks at it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import math
import os
import sys
import time

from colgen.core.result import Termination
from colgen.core.signals import SIGNALS, ended_by
from colgen.core.workers import ALONE, Workers
from colgen.solvers.compiling import compile_seconds

_LATE_SHARE, _LATE = 0.05, 0.1
"""A limit of t seconds ends within t and this share of it, and so many seconds."""


def interruption() -> Termination:
    """The reason why a run ends that a signal has ended."""
    return Termination(ended_by())


class OutOfBudget(Exception):  # noqa: N818  (no error: how a run ends)
    """Time or memory is used up, or the user has interrupted; a run ends with the best that it has."""

    def __init__(self, reason: Termination) -> None:
        super().__init__(reason.value)
        self.reason = reason


class Budget:
    """Deadline, memory, workers and interrupts of one run.

    Parameters
    ----------
    seconds
        Of wall time, from now on.
    memory
        Bytes that the process may hold.
    started
        Value of ``time.monotonic()`` at which the run began, where that was before now.

    Attributes
    ----------
    workers
        Who does pieces of a long call side by side; by default whoever calls, alone.
    """

    workers: Workers = ALONE

    def __init__(self, seconds: float = math.inf, memory: float = math.inf, started: float | None = None) -> None:
        self.started = time.monotonic() if started is None else started
        self.deadline = self.started + seconds
        self.memory = memory
        self._compiled = compile_seconds()
        self._signals = SIGNALS.seen if SIGNALS.holding else SIGNALS.count
        self._late: dict[str, float] = {}

    @property
    def seconds(self) -> float:
        """Spent since the run began."""
        return time.monotonic() - self.started

    @property
    def compiling(self) -> float:
        """Of these, what compiling and loading kernels has taken."""
        return compile_seconds() - self._compiled

    @property
    def seconds_left(self) -> float:
        """Until the deadline, never negative; zero after an interrupt, infinite if there is no limit."""
        return 0.0 if self.interrupted else max(self.deadline - time.monotonic(), 0.0)

    @property
    def interrupted(self) -> bool:
        """Whether a signal has asked this run to end."""
        if SIGNALS.count > self._signals:
            SIGNALS.told = SIGNALS.count
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

    def outlived(self, call: str, began: float) -> None:
        """Take in that a call has ended after the deadline, which had begun at this ``time.monotonic()``.

        What runs of t seconds may take, 1.05 t + 0.1, is passed over, and what kernels have taken to compile.
        """
        late = time.monotonic() - self.deadline
        fair = _LATE_SHARE * (self.deadline - self.started) + _LATE
        if began < self.deadline and late > fair + self.compiling and not self.interrupted:
            self._late[call] = max(late, self._late.get(call, 0.0))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is to be said of calls that have outlived the deadline."""
        return tuple(
            f"{call} ended {late:.1f} s after the deadline: expected it to look at context.budget while it searches."
            for call, late in self._late.items()
        )

    def capped(self, seconds: float) -> Budget:
        """A budget for a part of the run: so many seconds at most, and what this one has left."""
        part = Budget(min(seconds, max(self.deadline - time.monotonic(), 0.0)), self.memory)
        part._signals, part.workers = self._signals, self.workers
        return part

    def late(self, share: float) -> Budget:
        """A budget for what ends a run: until a share of its time after the deadline."""
        part = Budget((1.0 + share) * (self.deadline - self.started), self.memory, self.started)
        part._signals, part.workers = self._signals, self.workers
        return part


# --- memory ----------------------------------------------------------------------------------------------------------


def resident_bytes() -> int:
    """Memory that the process holds now (where the system does not say, its peak so far)."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return peak_bytes()


def begin_peak() -> int:
    """What the process holds now, in bytes; on Linux, :func:`peak_bytes` speaks of what comes from now on.

    Memory that is free goes back to the system before: what comes would not be seen in it.
    """
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")
    return resident_bytes()


def peak_bytes() -> int:
    """The most memory that the process has held."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
