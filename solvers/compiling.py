"""The time that this process has spent compiling and loading kernels.

Numba is not imported here, as a program without kernels does not need it.
"""

from __future__ import annotations

import sys
import time
from typing import Any

_EVENT = "numba:compiler_lock"
"""What numba announces when it begins to load or to compile a kernel, and when it is done."""

_LISTENERS: list[Any] = []


def compile_seconds() -> float:
    """Seconds that kernels have taken to be compiled or loaded, counted from the first look on."""
    for listener in _LISTENERS:
        seconds: float = listener.seconds
        return seconds
    events = sys.modules.get("numba.core.event")
    if events is not None:
        _LISTENERS.append(_listener(events.Listener))
        events.register(_EVENT, _LISTENERS[0])
    return 0.0


def _listener(kind: Any) -> Any:
    """A listener of numba's that adds seconds up; kernels that others need count once."""

    class Compiling(kind):  # type: ignore[misc]
        seconds, depth, began = 0.0, 0, 0.0

        def on_start(self, event: Any) -> None:
            if not self.depth:
                self.began = time.perf_counter()
            self.depth += 1

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if not self.depth:
                self.seconds += time.perf_counter() - self.began

    return Compiling()


def working_clock() -> float:
    """``time.perf_counter()`` that stands still while kernels are compiled or loaded."""
    return time.perf_counter() - compile_seconds()
