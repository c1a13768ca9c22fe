"""What a run may spend: time, memory, and the patience of whoever presses Ctrl-C.

A :class:`Budget` exists before anything else of a run, and every call that can last looks at it.  Signals are
remembered, not raised: an exception out of nowhere can land inside a compiled kernel or a half-finished update, and an
answer that was found would be lost with it.  Every run that is under way sees the signal at its next look, ends, and
returns what it has.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import ParamSpec, TypeVar

from colgen.core.result import Termination
from solvers.compiling import compile_seconds

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")

_LATE_SHARE, _LATE = 0.05, 0.1
"""A limit of t seconds ends within t and this share of it, and so many seconds."""


class OutOfBudget(Exception):  # noqa: N818  (no error: how a run ends)
    """Time or memory is used up, or the user has interrupted; a run ends with the best that it has."""

    def __init__(self, reason: Termination) -> None:
        super().__init__(reason.value)
        self.reason = reason


class Budget:
    """Deadline, memory and interrupts of one run.

    Parameters
    ----------
    seconds
        Of wall time, from now on.
    memory
        Bytes that the process may hold.
    started
        Value of ``time.monotonic()`` at which the run began, where that was before now.
    """

    def __init__(self, seconds: float = math.inf, memory: float = math.inf, started: float | None = None) -> None:
        self.started = time.monotonic() if started is None else started
        self.deadline = self.started + seconds
        self.memory = memory
        self._compiled = compile_seconds()
        self._signals = _SIGNALS.seen if _SIGNALS.holding else _SIGNALS.count
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
        return _SIGNALS.count > self._signals

    @property
    def reason(self) -> Termination | None:
        """Why the run must end now; None while there is budget left."""
        if _SIGNALS.count > self._signals:
            return Termination.INTERRUPTED
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
        part._signals = self._signals
        return part

    def late(self, share: float) -> Budget:
        """A budget for what ends a run: until a share of its time after the deadline."""
        part = Budget((1.0 + share) * (self.deadline - self.started), self.memory, self.started)
        part._signals = self._signals
        return part


# --- signals ---------------------------------------------------------------------------------------------------------


class _Signals:
    """The signals that have come, and whether they are to be remembered or raised.

    Attributes
    ----------
    count, last
        How many have come, and which came last.
    holding
        How many calls want them remembered.
    seen
        How many had come when the first of these began.
    """

    def __init__(self) -> None:
        self.count = self.seen = self.holding = 0
        self.last: int | None = None

    def handle(self, number: int, frame: FrameType | None) -> None:
        self.last = number
        self.count += 1
        if not self.holding or self.count - self.seen > _PATIENCE:
            raise KeyboardInterrupt


_SIGNALS = _Signals()

_INTERRUPT = int(signal.SIGINT)

# What the functions of ``signal`` call, once they have looked for each handler among the members of an enumeration,
# which takes a tenth of a small solve.
_handler_of = signal._signal.getsignal  # type: ignore[attr-defined]
_handle = signal._signal.signal  # type: ignore[attr-defined]

_PATIENCE = 1
"""So many signals of one run are remembered; the next one is raised, wherever the run is."""


def was_interrupted() -> bool:
    """Whether a signal has come since this process began to handle them."""
    return _SIGNALS.last is not None


def exit_code() -> int:
    """What a command that a signal has ended exits with: 128 and the signal's number."""
    return 128 + (_SIGNALS.last or signal.SIGINT)


@contextlib.contextmanager
def raising_signals() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` at once inside, where nothing can be lost: waiting for input, say."""
    holding, _SIGNALS.holding = _SIGNALS.holding, 0
    try:
        if holding and _SIGNALS.count > _SIGNALS.seen:
            raise KeyboardInterrupt
        yield
    finally:
        _SIGNALS.holding = holding


class holding_signals:  # noqa: N801  # it is called as a function; a generator would cost a small solve a tenth
    """Remember Ctrl-C inside, so that budgets see it, instead of raising ``KeyboardInterrupt``.

    It holds in the main thread, where Python would handle the signal itself; a handler that somebody else has installed
    stays.  A second Ctrl-C is raised.
    """

    __slots__ = ("_holds", "_mine")

    def __enter__(self) -> None:
        self._mine = False
        self._holds = threading.current_thread() is threading.main_thread()
        if not self._holds:
            return
        self._mine = _handler_of(_INTERRUPT) is signal.default_int_handler
        if not _SIGNALS.holding:
            _SIGNALS.seen = _SIGNALS.count
        _SIGNALS.holding += 1
        if self._mine:
            _handle(_INTERRUPT, _SIGNALS.handle)

    def __exit__(self, *raised: object) -> None:
        if self._holds:
            _SIGNALS.holding -= 1
            if self._mine:
                _handle(_INTERRUPT, signal.default_int_handler)


def held(function: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
    """The same function, which holds signals from its first line on."""

    @functools.wraps(function)
    def holding(*args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
        with holding_signals():
            return function(*args, **kwargs)

    return holding


@contextlib.contextmanager
def handling_signals() -> Iterator[None]:
    """Handle Ctrl-C and SIGTERM as budgets understand them: for a command, which owns its process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _SIGNALS.last = None
    before = {number: signal.signal(number, _SIGNALS.handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


# --- memory ----------------------------------------------------------------------------------------------------------


def resident_bytes() -> int:
    """Memory that the process holds now (where the system does not say, its peak so far)."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
