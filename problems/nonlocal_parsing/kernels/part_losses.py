"""Losses of local parts: by how much each scores less than the best of its kind for its word.

Every tree has one arc to each word m; with it one pair of m and its nearer sibling (or none), one outermost modifier of
m within the arc and one beyond it (or none), and one grandparent.  So what is best among the parts of one kind for m
is a constant of all trees, and what is left of the scores, zero or less, says how much a part costs against it.  A
number added to all of them is gone; and a sum of losses keeps its digits, whatever the scores are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit
from colgen.solvers.trees.eisner_items import Floats

Bools = NDArray[np.bool_]

SIBLINGS, OUTERMOST, GRANDCHILDREN = 0, 1, 2


@njit(cache=True)
def take_losses(kind: int, scores: Floats, allowed: Bools, single_root: bool, losses: Floats) -> tuple[float, float]:
    """Write what each part scores less than the best of its group, zero or less; zero where no tree has the part.

    Parameters
    ----------
    kind
        SIBLINGS, OUTERMOST or GRANDCHILDREN.
    scores
        Shape (N, N, N), as :class:`colgen.solvers.trees.eisner.Parts` has them.
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
