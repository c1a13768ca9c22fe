"""Heuristic pricing of subsets by chains of flips (Kernighan and Lin, 1970)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats, as_indices
from colgen.solvers.clusters.subsets import LEAST, Subsets, largest_of
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import int64
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_FLIPS = 1 << 24
"""Number of items visited between two checks of the clock."""

_PATIENCE = 25
"""A chain ends after this many flips without a new best value."""


def ascend(
    scores: Floats, profits: Floats, items: Ints, *, least: float | None = None, expired: Expired = never
) -> Subsets:
    """For each given item, return a good subset that contains it, found by chains of flips (Kernighan and Lin, 1970).

    A chain flips one item after the other, each at most once, always the one that gains most or loses least.  It passes
    through losses, because a cluster may only gain once half of it is included.  Each of ``items`` has one search,
    which keeps it included so that the subsets differ.  Subsets of at most ``least`` are not returned, by default the
    possible size of rounding errors.  ``expired`` is checked between searches; True skips the remaining ones.
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    profits = as_floats(profits, "profits", shape=(len(scores),))
    items = as_indices(items, "items", upper=len(scores), shape=("items",))
    scores, profits = np.ascontiguousarray(scores), np.ascontiguousarray(profits)
    items = items.astype(np.int64)
    largest = largest_of(scores, profits)
    if least is None:
        least = LEAST * largest
    chunk = max(1, _FLIPS // (1 + len(profits) * len(profits)))
    parts = []
    for begin in range(0, len(items), chunk):
        # gains from rounding errors must not start another chain
        parts.append(_ascend(scores, profits, items[begin : begin + chunk], 1e-11 * largest))
        if expired():
            break
    return select_best(parts, len(profits), least)


def select_best(parts: Sequence[tuple[Mask, Floats]], n: int, least: float) -> Subsets:
    """Return the distinct subsets worth more than ``least``, best first."""
    if not parts:
        return Subsets(np.zeros((0, n), dtype=np.bool_), np.empty(0), np.inf, np.inf, 0, False)
    members, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    better = np.flatnonzero(values > least)
    _, different = np.unique(np.packbits(members[better], axis=1), axis=0, return_index=True)
    chosen = better[different]
    chosen = chosen[np.argsort(-values[chosen], kind="stable")]
    return Subsets(members[chosen], values[chosen], np.inf, np.inf, 0, False)


@njit(cache=True)
def _ascend(scores: Floats, profits: Floats, items: Ints, rounding: float) -> tuple[Mask, Floats]:
    rows, n = len(items), len(profits)
    members = np.zeros((rows, n), dtype=np.bool_)
    values = np.empty(rows)
    gains = np.empty(n)  # gain of including each item
    flipped = np.empty(n, dtype=np.int64)
    free = np.empty(n, dtype=np.bool_)
    for r in range(rows):
        chosen = members[r]
        stays = items[r]
        chosen[stays] = True
        value = profits[stays]
        for i in range(n):
            gains[i] = profits[i] + scores[stays, i]
        improved = True
        while improved:
            # Flip a chain of items, each at most once.  Then undo all flips after the best value.
            free[:] = True
            free[stays] = False
            best, best_length, length, fallow = value, 0, 0, 0
            while length < n - 1 and fallow < _PATIENCE:
                flip, most = int64(-1), -np.inf
                for i in range(n):
                    if free[i]:
                        gain = -gains[i] if chosen[i] else gains[i]
                        if gain > most:
                            flip, most = i, gain
                free[flip] = False
                value += most
                flip_item(scores, chosen, gains, flip)
                flipped[length] = flip
                length += 1
                fallow += 1
                if value > best + rounding:
                    best, best_length, fallow = value, length, 0
            improved = best_length > 0
            for k in range(length - 1, best_length - 1, -1):
                flip_item(scores, chosen, gains, flipped[k])
            value = best
        values[r] = value
    return members, values


@njit(cache=True, no_cpython_wrapper=True)
def flip_item(scores: Floats, chosen: Mask, gains: Floats, item: int) -> None:
    """Include an item or remove it, and update ``gains`` of including each item."""
    if chosen[item]:
        gains -= scores[item]
    else:
        gains += scores[item]
    chosen[item] = not chosen[item]
