"""Work of searches: about nanoseconds, and the same on any machine.

Searches add their work where it is done.  The sums are kept per thread and are integers, so that a difference of two
sums does not depend on what other threads do, nor on what was done before.
"""

from __future__ import annotations

import threading

SECOND = 10**9
"""Work of about one second."""

STEP = 20
"""Work of an extension or a comparison of labels."""

LABEL = 2_000
"""Work of a label that is kept until all are listed, in addition to its steps: such labels fill the memory."""

ENTRY = 2
"""Work of an entry that a depth-first search over sets examines."""

NODE = 1_000
"""Work of a node of a search over stable sets."""

VERTEX = 10
"""Work of a node of a search over colourings, per vertex."""

_DONE = threading.local()


def work() -> int:
    """Return the work that this thread has done so far."""
    return getattr(_DONE, "sum", 0)


def add_work(amount: float) -> None:
    """Add work, rounded to an integer."""
    _DONE.sum = work() + round(amount)
