"""Losses of local parts: the score minus the best score of the same kind for the same word.

Every tree has, for each word m, one arc to it. With that arc it has one nearer sibling of m (or none), one outermost
modifier of m inside the arc and one outside (or none), and one grandparent. So the best score of each kind for m can be
subtracted as a constant of all trees. The remaining scores are at most zero and are the losses of the parts. A constant
added to all scores cancels, and a sum of losses keeps its digits for scores of any size.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit
from colgen.solvers.trees.eisner_items import Floats

Bools = NDArray[np.bool_]

SIBLINGS, OUTERMOST, GRANDCHILDREN = 0, 1, 2


@njit(cache=True)
def write_losses(kind: int, scores: Floats, allowed: Bools, single_root: bool, losses: Floats) -> tuple[float, float]:
    """Write the losses of parts, at most zero; zero for parts of no tree.

    ``kind`` is SIBLINGS, OUTERMOST or GRANDCHILDREN. ``scores`` and ``losses`` have shape (N, N, N), as in
    :class:`colgen.solvers.trees.eisner.Parts`; ``allowed`` excludes arcs to the root and from a word to itself. Return
    the sum of the groups' best scores, and the lowest loss.
    """
    size = len(allowed)
    top = np.full(2 * size, -np.inf)
    least = 0.0
    for writes in (False, True):
        if writes:
            losses[:] = 0.0
        for x in range(size):
            for y in range(size):
                if kind == GRANDCHILDREN and (y == 0) != (x == 0):  # the arc from x to y, or the root alone
                    if y == 0 or not allowed[x, y]:
                        continue
                elif (kind != GRANDCHILDREN or y > 0) and not allowed[x, y]:
                    continue
                row, out = scores[x, y], losses[x, y]
                near, far = min(x, y), max(x, y)
                for z in range(size):
                    inside = near < z < far
                    if kind == GRANDCHILDREN:
                        if not allowed[y, z] or z == x or min(y, z) < x < max(y, z):
                            continue
                        group = 2 * z
                    elif kind == SIBLINGS:
                        if z != x and not (inside and allowed[x, z] and (x > 0 or not single_root)):
                            continue
                        group = 2 * y
                    elif z == y:
                        group = 2 * y
                    elif z == x:
                        group = 2 * y + 1
                    elif not allowed[y, z] or not (inside or (z > y) == (y > x)):
                        continue
                    else:
                        group = 2 * y if inside else 2 * y + 1
                    if writes:
                        out[z] = row[z] - top[group]
                        least = min(least, out[z])
                    elif row[z] > top[group]:
                        top[group] = row[z]
    best = 0.0
    for group in range(2 * size):
        if top[group] > -np.inf:
            best += top[group]
    return best, least
