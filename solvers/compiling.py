"""Whether kernels are compiled, and how long that has taken in this process: what their first calls take, no others.

Nothing is imported for it: who has no kernels has no numba.
"""

from __future__ import annotations

import sys
import time
from typing import Any

_EVENT = "numba:compiler_lock"
"""What numba announces when it begins to load or to compile a kernel, and when it is done."""

_STEPS_OF_ALL = 1_200_000
"""Of loops, half a second or so, that kernels are interpreted for in a process before all of them are compiled."""


class Interpreting:
    """How many steps are left of these; see :mod:`colgen.solvers.tiers`."""

    steps = _STEPS_OF_ALL


def compile_at_once() -> None:
    """Interpret no kernel from now on in this process: for whoever measures how fast they are."""
    Interpreting.steps = 0


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
