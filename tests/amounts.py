"""How many examples the tests take (few in ``make test``, many in ``make test-all``, which sets COLGEN_TESTS), and how
long a limit may be outlived.
"""

import os
from typing import TypeVar

THOROUGH = os.environ.get("COLGEN_TESTS") == "thorough"


BUSY = 10.0
"""Seconds that a machine with other work may take beyond a limit.

A test tells a limit that is overlooked; by how much one is overrun the bench of truth measures, alone on the machine.
"""


Amount = TypeVar("Amount", int, float)


def examples(few: Amount, many: Amount) -> Amount:
    """How many seeds or examples to try; or how many seconds, where a search for mistakes goes on until stopped."""
    return many if THOROUGH else few
