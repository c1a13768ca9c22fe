"""Result of a search for subsets: the subsets and the bounds on all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

LEAST = 1e-9
"""Subsets worth at most this, relative to the largest number, count as worthless."""


class Subsets(NamedTuple):
    """Subsets found by a search, and the bounds that it proves.

    Attributes
    ----------
    members : (subsets, n) array, one row per subset, best first
    values : value of each row
    best : upper bound, at least 0, on the value of any subset that satisfies facts 1 and 2; infinite for a heuristic
    total : upper bound on the value of any packing
    complete : whether the search is complete; ``best`` and ``total`` are valid bounds in any case
    """

    members: Mask
    values: Floats
    best: float
    total: float
    nodes: int
    complete: bool


def largest_of(scores: Floats, profits: Floats) -> float:
    """Return the largest absolute value of the scores and profits."""
    return max(float(np.abs(scores).max(initial=0.0)), float(np.abs(profits).max(initial=0.0)))
