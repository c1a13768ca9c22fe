"""Numbers of examples: few in ``make test``, many in ``make test-all`` (COLGEN_TESTS); tolerance of limits."""

import os
from typing import TypeVar

THOROUGH = os.environ.get("COLGEN_TESTS") == "thorough"


BUSY = 10.0
"""Seconds that a busy machine may exceed a limit.

Tests only detect ignored limits; ``colgen bench truth`` measures the excess on an idle machine.
"""


Amount = TypeVar("Amount", int, float)


def examples(few: Amount, many: Amount) -> Amount:
    """Return the number of seeds or examples, or the seconds of a search for mistakes."""
    return many if THOROUGH else few
