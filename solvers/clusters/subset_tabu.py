"""Heuristic pricing of subsets by tabu search: slower than chains of flips, but usually optimal (Glover and Hao, 2010).

Source: F. Glover, Z. Lü, J.-K. Hao, *Diversification-driven tabu search for unconstrained binary quadratic problems*,
4OR 8 (2010), for tabu search by single flips.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats, as_indices, as_integer
from colgen.solvers.clusters.subset_ascent import flip_item, select_best
from colgen.solvers.clusters.subsets import LEAST, Subsets, largest_of
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import int64
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_WORK = 1 << 24
"""Number of items visited between two checks of the clock."""

_TENURE = 5
"""A flipped item stays for this many flips, plus a random number up to the same."""


def tabu(
    scores: Floats,
    profits: Floats,
    items: Ints,
    *,
    flips: int = 500,
    least: float | None = None,
    expired: Expired = never,
) -> Subsets:
    """For each given item, return the best subset that a tabu search visits, with the item always included.

    A search has ``flips`` flips.  Each is the best among items not flipped lately, or flips that reach a new best
    value.  O(items · flips · n).  ``least`` and ``expired`` are as for
    :func:`colgen.solvers.clusters.subset_ascent.ascend`.
    """
    scores = np.ascontiguousarray(as_floats(scores, "scores", shape=("n", "n")))
    profits = np.ascontiguousarray(as_floats(profits, "profits", shape=(len(scores),)))
    items = as_indices(items, "items", upper=len(scores), shape=("items",)).astype(np.int64)
    flips = as_integer(flips, "flips", low=0)
    largest = largest_of(scores, profits)
    least = LEAST * largest if least is None else least
    at_once = max(1, _WORK // (1 + flips * len(profits)))
    parts = []
    for begin in range(0, len(items), at_once):
        parts.append(_tabu(scores, profits, items[begin : begin + at_once], flips, 1e-11 * largest))
        if expired():
            break
    return select_best(parts, len(profits), least)


@njit(cache=True)
def _tabu(scores: Floats, profits: Floats, items: Ints, flips: int, rounding: float) -> tuple[Mask, Floats]:
    n = len(profits)
    members, values = np.zeros((len(items), n), dtype=np.bool_), np.empty(len(items))
    gains, chosen, until = np.empty(n), np.empty(n, dtype=np.bool_), np.empty(n, dtype=np.int64)
    drawn = 1
    for r in range(len(items)):
        stays = items[r]
        for i in range(n):
            chosen[i] = i == stays
            gains[i] = profits[i] + scores[stays, i]
            until[i] = 0
        members[r, stays] = True
        value = best = profits[stays]
        for flip in range(1, flips + 1):
            item, most = int64(-1), -np.inf
            for i in range(n):
                gain = -gains[i] if chosen[i] else gains[i]
                if gain > most and i != stays and (until[i] < flip or value + gain > best + rounding):
                    item, most = i, gain
            if item < 0:
                continue
            value += most
            flip_item(scores, chosen, gains, item)
            drawn = (drawn * 1103515245 + 12345) % 2147483648
            until[item] = flip + _TENURE + drawn // 65536 % (_TENURE + 1)
            if value > best + rounding:
                best = value
                for i in range(n):
                    members[r, i] = chosen[i]
        values[r] = best
    return members, values
