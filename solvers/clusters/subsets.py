"""Subsets that were found, and what is proved of all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

LEAST = 1e-9
"""Subsets that are worth no more than this, relative to the largest number, are worth nothing."""


class Subsets(NamedTuple):
    """What a search found, and what it proves.

    Attributes
    ----------
    members
        One row a subset, best first; shape (subsets, n).
    values
        Of the rows.
    best
        No subset that satisfies 1 and 2 is worth more than this, or than zero; infinite for a heuristic.
    total
        No packing is worth more than this.
    nodes
        Of the search.
    complete
        Whether the search came to its end; if not, ``best`` and ``total`` are bounds all the same.
    """

    members: Mask
    values: Floats
    best: float
    total: float
    nodes: int
    complete: bool


def largest_of(scores: Floats, profits: Floats) -> float:
    """The largest magnitude of some scores and profits."""
    return max(float(np.abs(scores).max(initial=0.0)), float(np.abs(profits).max(initial=0.0)))
