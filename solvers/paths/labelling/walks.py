"""Lower bounds on completions, from walks that may return to any vertex but the previous one.

A table over buckets of the critical resource and vertices is filled from the last bucket to the first.  If a vertex
remembers the previous one, walks do not return to it at once (2-cycles).  This needs the second best continuation over
another vertex.
"""

from __future__ import annotations

import numpy as np

from colgen.solvers.kernel_cache import njit
from colgen.solvers.paths.labelling.directions import tails_of
from colgen.solvers.paths.labelling.layout import EDGE, Floats, Ints, Side
from colgen.solvers.paths.labelling.neighbourhoods import Mask

LARGEST = 60_000_000
"""Maximum number of arcs times buckets: some tenths of a second."""


def walk_bounds(side: Side, neighbourhoods: Mask, end: int) -> Floats | None:
    """Return lower bounds on walks to the end by bucket and vertex.  None if the table is too large.

    Also None if arcs consume less than a bucket, as walks could then have any length.
    """
    if side.order >= 0 or side.buckets * len(side.heads) > LARGEST:
        return None
    tails, c = tails_of(side), side.critical
    # For integers the bucket of a sum is at least the sum of the buckets; other numbers are rounded down.
    edge = EDGE if side.slack[c] == 0 else -EDGE
    steps = np.maximum(np.floor(side.consumption[:, c] / side.width + edge), 0).astype(np.int64)
    if (steps[side.heads != end] == 0).any():
        return None
    earliest, latest = (
        np.clip(np.floor((np.clip(limit, -1e300, 1e300) - side.lowest) / side.width + sign * EDGE), 0, side.buckets - 1)
        for limit, sign in ((side.lower[:, c], 2 * (edge > 0) - 1), (side.upper[:, c], 1))
    )
    straight_back = neighbourhoods[side.heads, tails]
    whole = earliest.astype(np.int64), latest.astype(np.int64)
    return _table(side.buckets, end, side.first, side.heads, side.costs, steps, *whole, straight_back)


@njit(cache=True, nogil=True)
def _table(
    buckets: int, end: int, first: Ints, heads: Ints, costs: Floats, steps: Ints, earliest: Ints, latest: Ints,
    straight_back: Mask,
) -> Floats:  # fmt: skip
    n = len(first)
    best, other = np.full((buckets, n), np.inf), np.full((buckets, n), np.inf)
    following = np.full((buckets, n), -1, dtype=np.int32)
    best[:, end] = 0.0
    other[:, end] = 0.0
    for bucket in range(buckets - 1, -1, -1):
        for vertex in range(n):
            least, second, next_vertex = np.inf, np.inf, -1
            stop = first[vertex + 1] if vertex + 1 < n else len(heads)
            for arc in range(first[vertex], stop):
                head = heads[arc]
                reached = max(bucket + steps[arc], earliest[head])
                if reached > latest[head]:
                    continue
                if straight_back[arc] and following[reached, head] == vertex:
                    total = costs[arc] + other[reached, head]
                else:
                    total = costs[arc] + best[reached, head]
                if total < least:
                    if head != next_vertex:
                        second = least
                    least, next_vertex = total, head
                elif head != next_vertex and total < second:
                    second = total
            if vertex != end:
                best[bucket, vertex], other[bucket, vertex], following[bucket, vertex] = least, second, next_vertex
    return best
