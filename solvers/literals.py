"""Numbers and truth values in a call of one kernel by another.

For each literal in such a call, ``advance(state, True)``, numba compiles the kernel that is called once more, beside
the one for variables; ``advance(state, truth(True))`` is a call like any other.
"""

from __future__ import annotations

from typing import cast

import numpy as np

whole = cast("type[int]", np.int64)
truth = cast("type[bool]", np.bool_)
