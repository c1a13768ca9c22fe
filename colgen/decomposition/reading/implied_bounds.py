"""Bounds of integer variables that rows imply: a knapsack without upper bounds becomes one with them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROUNDS = 10
"""Maximum number of passes; each may tighten bounds from those of the pass before."""

SLACK = 1e-9
"""Room for rounding errors, relative to the terms of a row: a bound is never tighter than the rows imply."""

_LARGEST = 1e9
"""Larger bounds are not used: nothing gains from them."""


def tighten_bounds(
    matrix: sparse.csr_array,
    row_lower: Floats,
    row_upper: Floats,
    lower: Floats,
    upper: Floats,
    integer: NDArray[np.bool_],
) -> tuple[Floats, Floats]:
    """Return bounds of the integer variables that hold for every point of the rows; others stay as they are.

    The rows and bounds have the same points afterwards.  If they exclude all points, the bounds are returned unchanged.
    """
    entries = sparse.coo_array(matrix)
    there = entries.data != 0.0
    rows, columns = entries.row[there].astype(np.int64), entries.col[there].astype(np.int64)
    a = entries.data[there]
    low, high = lower, upper
    for _ in range(_ROUNDS):
        least, most = _terms(a, low[columns], high[columns])
        # a·x is at most the upper side less the least of the other terms, and at least the lower side less their most.
        above, above_size = _others(row_upper, rows, least, -np.inf)
        below, below_size = _others(row_lower, rows, most, np.inf)
        room = SLACK * (1.0 + np.maximum(above_size, below_size) / np.abs(a))
        upper_bounds = np.where(a > 0.0, above, below) / a
        lower_bounds = np.where(a > 0.0, below, above) / a
        useful = integer[columns] & (room < 0.5)
        new_high, new_low = high.copy(), low.copy()
        better = useful & (np.abs(upper_bounds) <= _LARGEST)
        np.minimum.at(new_high, columns[better], np.floor(upper_bounds[better] + room[better]))
        better = useful & (np.abs(lower_bounds) <= _LARGEST)
        np.maximum.at(new_low, columns[better], np.ceil(lower_bounds[better] - room[better]))
        if (new_low > new_high).any():
            return lower, upper
        if (new_low == low).all() and (new_high == high).all():
            break
        low, high = new_low, new_high
    return low, high


def _terms(a: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return the least and the largest value of each term."""
    one, other = a * low, a * high
    return np.minimum(one, other), np.maximum(one, other)


def _others(sides: Floats, rows: Ints, terms: Floats, infinite: float) -> tuple[Floats, Floats]:
    """Return each row's side less its other terms, per entry, and the size of what was added.

    ``infinite`` if another term, or the side, is not finite.
    """
    endless = ~np.isfinite(terms)
    finite = np.where(endless, 0.0, terms)
    count = np.bincount(rows, endless, minlength=len(sides))
    total = np.bincount(rows, finite, minlength=len(sides))
    size = np.bincount(rows, np.abs(finite), minlength=len(sides))
    known = np.isfinite(sides[rows]) & (count[rows] - endless == 0)
    side = np.where(np.isfinite(sides), sides, 0.0)
    rest: Floats = np.where(known, side[rows] - (total[rows] - finite), -infinite)
    return rest, np.asarray(size[rows] + np.abs(side[rows]), dtype=np.float64)
