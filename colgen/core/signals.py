"""Ctrl-C and SIGTERM: recorded during a run, raised as exceptions elsewhere.

An exception at an arbitrary point could interrupt a compiled kernel or an unfinished update and lose the best answer.
A run sees the signal when it next checks its :class:`~colgen.core.budget.Budget`, and returns its best result.

This module imports nothing heavy, so that a command handles signals before slow imports.
"""

from __future__ import annotations

import contextlib
import functools
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import ParamSpec, TypeVar

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


class Signals:
    """The signals received so far, and whether to record or raise them.

    ``count`` is the number of signals and ``last`` the last of them. ``holding`` counts active calls that want signals
    recorded; ``seen`` is the value of ``count`` when the outermost of them began. ``handled`` is its value when a
    budget last ended a run. If ``is_command`` a command owns the process, and a signal means that it should end.
    """

    def __init__(self) -> None:
        self.count = self.seen = self.handled = self.holding = 0
        self.is_command = False
        self.last: int | None = None

    def handle(self, number: int, frame: FrameType | None) -> None:
        self.last = number
        self.count += 1
        if not self.holding or self.count - self.seen > _PATIENCE:
            self.handled = self.count
            raise KeyboardInterrupt

    def begin(self) -> None:
        """Begin to record signals.

        KeyboardInterrupt is raised for a signal that arrived at the end of the last run and was not handled. In a
        command it is raised for any earlier signal, since a loop over runs would otherwise continue.
        """
        if self.count > self.handled or (self.is_command and self.last is not None):
            self.handled = self.count
            raise KeyboardInterrupt
        self.seen = self.count
        if not self.is_command:
            self.last = None  # of an earlier run


SIGNALS = Signals()

_INTERRUPT = int(signal.SIGINT)

# The functions that ``signal`` wraps; the wrappers convert handlers to enum members, 10% of the time of a small solve.
_handler_of = signal._signal.getsignal  # type: ignore[attr-defined]
_handle = signal._signal.signal  # type: ignore[attr-defined]

BY_THE_USER, BY_SIGTERM = "Interrupted by the user.", "Terminated by SIGTERM."

_PATIENCE = 1
"""This many signals of a run are recorded; the next one is raised at once."""


def was_interrupted() -> bool:
    """Whether a signal was received since this process began to handle them."""
    return SIGNALS.last is not None


def ended_by() -> str:
    """Return a sentence about the last signal; Ctrl-C if none is recorded."""
    return BY_SIGTERM if SIGNALS.last == signal.SIGTERM else BY_THE_USER


def exit_code() -> int:
    """Return the exit code of a command that a signal ended: 128 plus the signal's number."""
    return 128 + (SIGNALS.last or signal.SIGINT)


@contextlib.contextmanager
def raising_signals() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` at once inside, where nothing can be lost, such as while waiting for input."""
    holding, SIGNALS.holding = SIGNALS.holding, 0
    try:
        if holding and SIGNALS.count > SIGNALS.seen:
            SIGNALS.handled = SIGNALS.count
            raise KeyboardInterrupt
        yield
    finally:
        SIGNALS.holding = holding


class holding_signals:  # noqa: N801  # called like a function; a generator would cost 10% of a small solve
    """Record Ctrl-C inside, for budgets to see, instead of raising ``KeyboardInterrupt``; a second one is raised.

    Only in the main thread, and only if Python's own handler is installed.
    """

    __slots__ = ("_holds", "_mine")

    def __enter__(self) -> None:
        self._mine = False
        self._holds = threading.current_thread() is threading.main_thread()
        if not self._holds:
            return
        if not SIGNALS.holding:
            SIGNALS.begin()
        self._mine = _handler_of(_INTERRUPT) is signal.default_int_handler
        SIGNALS.holding += 1
        if self._mine:
            _handle(_INTERRUPT, SIGNALS.handle)

    def __exit__(self, *raised: object) -> None:
        if self._holds:
            SIGNALS.holding -= 1
            if self._mine:
                _handle(_INTERRUPT, signal.default_int_handler)


def hold_signals(function: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
    """Decorate a function so that it records signals from its first line on."""

    @functools.wraps(function)
    def holding(*args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
        with holding_signals():
            return function(*args, **kwargs)

    return holding


@contextlib.contextmanager
def handling_signals() -> Iterator[None]:
    """Record Ctrl-C and SIGTERM for budgets; for a command, which owns its process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    SIGNALS.last, SIGNALS.handled, SIGNALS.is_command = None, SIGNALS.count, True
    before = {number: signal.signal(number, SIGNALS.handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        SIGNALS.is_command, SIGNALS.handled = False, SIGNALS.count  # the command has reported them
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


@contextlib.contextmanager
def holding_termination() -> Iterator[None]:
    """Also record SIGTERM inside, which would otherwise end the process before a last file is written."""
    here = threading.current_thread() is threading.main_thread()
    own = here and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if own:
        signal.signal(signal.SIGTERM, SIGNALS.handle)
    try:
        yield
    finally:
        if own:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
