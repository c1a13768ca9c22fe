"""When a long computation is to end: a question that it asks some ten times a second.

Kernels cannot ask; whoever calls them gives each call a tenth of a second's work, and asks in between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Expired: TypeAlias = Callable[[], bool]
"""Whether to end now, with what there is."""


def never() -> bool:
    """The answer of somebody who has all the time in the world."""
    return False
