"""How many examples the tests take: few in ``make test``, many in ``make test-all``, which sets COLGEN_TESTS."""

import os

THOROUGH = os.environ.get("COLGEN_TESTS") == "thorough"


def examples(few: int, many: int) -> int:
    """How many seeds or examples to try."""
    return many if THOROUGH else few
