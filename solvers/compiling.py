"""The kernel that this process is compiling, and the time spent compiling and loading kernels.

Numba is not imported here, since a program without kernels does not need it.
"""

from __future__ import annotations

import sys
import time
from typing import Any

_LOCK, _COMPILE = "numba:compiler_lock", "numba:compile"
"""Numba's events: a kernel is loaded or compiled; a kernel is compiled."""

_LISTENERS: list[Any] = []


def compile_seconds() -> float:
    """Return the seconds spent compiling and loading kernels since the first call of a function of this module."""
    listener = _listener()
    return 0.0 if listener is None else float(listener.seconds)


def compiled_now() -> str:
    """Return the name of the kernel that is being compiled, without its package, or an empty string."""
    listener = _listener()
    names = [] if listener is None else [name for name in listener.kernels if not name.startswith("numba.")]
    return names[-1].partition(".")[2] if names else ""


def working_clock() -> float:
    """Return ``time.perf_counter()`` without the time spent compiling and loading kernels."""
    return time.perf_counter() - compile_seconds()


def _listener() -> Any:
    """Return the listener to Numba's events, registered once Numba is imported; None before that."""
    events = sys.modules.get("numba.core.event")
    if not _LISTENERS and events is not None and hasattr(events, "register"):
        _LISTENERS.append(_make_listener(events.Listener))
        for event in (_LOCK, _COMPILE):
            events.register(event, _LISTENERS[0])
    return _LISTENERS[0] if _LISTENERS else None


def _make_listener(kind: Any) -> Any:
    class Compiling(kind):  # type: ignore[misc]
        """Seconds between outermost starts and ends, and the names of the kernels in between, outermost first."""

        def __init__(self) -> None:
            self.seconds, self.depth, self.began = 0.0, 0, 0.0
            self.kernels: list[str] = []

        def on_start(self, event: Any) -> None:
            if event.kind == _COMPILE:
                function = event.data["dispatcher"].py_func
                self.kernels.append(f"{function.__module__}.{function.__name__}")
                return
            if not self.depth:
                self.began = time.perf_counter()
            self.depth += 1

        def on_end(self, event: Any) -> None:
            if event.kind == _COMPILE:
                del self.kernels[-1:]  # empty if the start came before the registration
                return
            self.depth -= 1
            if self.depth < 0:  # the start came before the registration
                self.depth = 0
            elif not self.depth:
                self.seconds += time.perf_counter() - self.began

    return Compiling()
