"""How long kernels have been compiled, or loaded, in this process: what the first call of each takes, and no other.

Nothing is imported for it: who has no kernels has no numba.
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
    if not _LISTENERS:
        events = sys.modules.get("numba.core.event")
        if events is None:
            return 0.0
        _LISTENERS.append(events.TimingListener())  # it counts kernels that others need once
        events.register(_EVENT, _LISTENERS[0])
    listener = _LISTENERS[0]
    return float(listener.duration) if listener.done else 0.0


def working_clock() -> float:
    """``time.perf_counter()`` that stands still while kernels are compiled or loaded."""
    return time.perf_counter() - compile_seconds()
