"""Ctrl-C and its like: remembered where something could be lost, raised elsewhere.

An exception out of nowhere can land inside a compiled kernel or a half-finished update, and an answer that was found
would be lost with it.  Every run that is under way sees the signal at its next look at its
:class:`~colgen.core.budget.Budget`, ends, and returns what it has.

Nothing heavy is imported here: a command handles signals before it imports anything that takes long.
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
    """The signals that have come, and whether they are to be remembered or raised.

    Attributes
    ----------
    count, last
        How many have come, and which came last.
    holding
        How many calls want them remembered.
    is_command
        Whether a command owns the process, which a signal asks to end.
    seen
        How many had come when the first of these began.
    told
        How many had come when a budget last told a run to end for them: up to these, somebody knows.
    """

    def __init__(self) -> None:
        self.count = self.seen = self.told = self.holding = 0
        self.is_command = False
        self.last: int | None = None

    def handle(self, number: int, frame: FrameType | None) -> None:
        self.last = number
        self.count += 1
        if not self.holding or self.count - self.seen > _PATIENCE:
            self.told = self.count
            raise KeyboardInterrupt

    def begin(self) -> None:
        """Begin to remember signals.

        Raises
        ------
        KeyboardInterrupt
            For one that came when the last run was about to end, and that nobody has seen; in a command for any that
            has come, since what runs one solve after the other would go on for ever.
        """
        if self.count > self.told or (self.is_command and self.last is not None):
            self.told = self.count
            raise KeyboardInterrupt
        self.seen = self.count
        if not self.is_command:
            self.last = None  # of a run before


SIGNALS = Signals()

_INTERRUPT = int(signal.SIGINT)

# What the functions of ``signal`` call, once they have looked for each handler among the members of an enumeration,
# which takes a tenth of a small solve.
_handler_of = signal._signal.getsignal  # type: ignore[attr-defined]
_handle = signal._signal.signal  # type: ignore[attr-defined]

BY_THE_USER, BY_SIGTERM = "Interrupted by the user.", "Terminated by SIGTERM."

_PATIENCE = 1
"""So many signals of one run are remembered; the next one is raised, wherever the run is."""


def was_interrupted() -> bool:
    """Whether a signal has come since this process began to handle them."""
    return SIGNALS.last is not None


def ended_by() -> str:
    """A sentence that says which signal came last; Ctrl-C where none is known."""
    return BY_SIGTERM if SIGNALS.last == signal.SIGTERM else BY_THE_USER


def exit_code() -> int:
    """What a command that a signal has ended exits with: 128 and the signal's number."""
    return 128 + (SIGNALS.last or signal.SIGINT)


@contextlib.contextmanager
def raising_signals() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` at once inside, where nothing can be lost: waiting for input, say."""
    holding, SIGNALS.holding = SIGNALS.holding, 0
    try:
        if holding and SIGNALS.count > SIGNALS.seen:
            SIGNALS.told = SIGNALS.count
            raise KeyboardInterrupt
        yield
    finally:
        SIGNALS.holding = holding


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
    SIGNALS.last, SIGNALS.told, SIGNALS.is_command = None, SIGNALS.count, True
    before = {number: signal.signal(number, SIGNALS.handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        SIGNALS.is_command, SIGNALS.told = False, SIGNALS.count  # the command has said so
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


@contextlib.contextmanager
def holding_termination() -> Iterator[None]:
    """Remember SIGTERM inside as well, where it would end the process on the spot: for who has a last file to write."""
    here = threading.current_thread() is threading.main_thread()
    mine = here and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if mine:
        signal.signal(signal.SIGTERM, SIGNALS.handle)
    try:
        yield
    finally:
        if mine:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
