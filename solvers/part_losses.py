"""Losses of local parts: by how much each scores less than the best of its kind for its word.

Every tree has one arc to each word m; with it one pair of m and its nearer sibling (or none), one outermost modifier of
m within the arc and one beyond it (or none), and one grandparent.  So what is best among the parts of one kind for m
is a constant of all trees, and what is left of the scores, zero or less, says how much a part costs against it.  A
number added to all of them is gone; and a sum of losses keeps its digits, whatever the scores are.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.eisner_first import Floats

Bools = NDArray[np.bool_]

SIBLINGS, OUTERMOST, GRANDCHILDREN = 0, 1, 2


@njit(cache=True)
def _group(kind: int, x: int, y: int, z: int, allowed: Bools, single_root: bool) -> int:
    """Which constant a part belongs to, -1 if no tree has the part: twice its modifier, one more beyond the arc."""
    if kind == GRANDCHILDREN:
        if not allowed[y, z] or x == z:
            return -1
        if y == 0:
            return 2 * z if x == 0 else -1
        return 2 * z if allowed[x, y] and not min(y, z) < x < max(y, z) else -1
    if not allowed[x, y]:
        return -1
    between = min(x, y) < z < max(x, y)
    if kind == SIBLINGS:
        if z == x:
            return 2 * y
        return 2 * y if between and allowed[x, z] and (x > 0 or not single_root) else -1
    if z == y:
        return 2 * y
    if z == x:
        return 2 * y + 1
    if not allowed[y, z]:
        return -1
    if between:
        return 2 * y
    return 2 * y + 1 if (z > y) == (y > x) else -1


@njit(cache=True)
def take_losses(kind: int, scores: Floats, allowed: Bools, single_root: bool, losses: Floats) -> tuple[float, float]:
    """Write what each part scores less than the best of its group, zero or less; zero where no tree has the part.

    Parameters
    ----------
    kind
        SIBLINGS, OUTERMOST or GRANDCHILDREN.
    scores
        Shape (N, N, N), as :class:`solvers.eisner.Parts` has them.
    allowed
        Shape (N, N), without arcs to the root and from a word to itself.
    losses
        Shape of the scores, overwritten.

    Returns
    -------
    best, least
        The sum of the groups' best scores, and the least number written.
    """
    size = len(allowed)
    top = np.full(2 * size, -np.inf)
    for x in range(size):
        for y in range(size):
            for z in range(size):
                group = _group(kind, x, y, z, allowed, single_root)
                if group >= 0 and scores[x, y, z] > top[group]:
                    top[group] = scores[x, y, z]
    least = 0.0
    for x in range(size):
        for y in range(size):
            for z in range(size):
                group = _group(kind, x, y, z, allowed, single_root)
                losses[x, y, z] = scores[x, y, z] - top[group] if group >= 0 else 0.0
                if losses[x, y, z] < least:
                    least = losses[x, y, z]
    best = 0.0
    for group in range(2 * size):
        if top[group] > -np.inf:
            best += top[group]
    return best, least
