"""All packings of a knapsack above a threshold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from colgen.solvers.arrays import as_float, as_integer
from colgen.solvers.copying import overwrite
from colgen.solvers.kernel_cache import njit
from colgen.solvers.packing.network import PORTION, Floats, Ints, PackingNetwork, arc_at, look_away
from colgen.solvers.packing.network_arguments import arrays, check


def packings_above(
    net: PackingNetwork,
    values: Floats,
    profits: Floats,
    threshold: float,
    limit: int,
    *,
    look: Callable[[], object] = look_away,
) -> Ints | None:
    """All packings of profit at least ``threshold``, as rows of copies by item; None if there are more than ``limit``.

    Depth-first search that goes on only where the table of :func:`best_from` says that the threshold can be reached, so
    that nearly every step ends in a packing of the list.  ``threshold`` must be positive.
    """
    check(net, values, profits)
    threshold = as_float(threshold, "threshold", finite=False)
    limit = as_integer(limit, "limit", low=0)
    if threshold <= 0.0:
        return None
    m = net.num_items
    deepest = int(np.minimum(net.copies.sum(), net.num_states)) + 1  # every piece ends at a state of its own
    # One entry a piece laid: the item to try next behind it, the state where it ends, its own item; the profit so far.
    stack, profit = np.zeros((deepest + 1, 3), np.int64), np.zeros(deepest + 1)
    packing, depth = np.zeros(m, np.int64), np.zeros(1, np.int64)
    found: list[Ints] = []
    count = 0
    while depth[0] >= 0:
        look()
        rows = np.empty((min(limit + 1 - count, 1 + PORTION // (100 * (m + 1))), m), np.int64)
        listed = _packings_above(
            *arrays(net), values, profits, threshold, net.ends, stack, profit, packing, depth, rows, PORTION
        )
        count += listed
        if count > limit:
            return None
        found.append(rows[:listed])
    return np.concatenate(found)


@njit(cache=True, nogil=True)
def _packings_above(  # type: ignore[no-untyped-def]
    capacity,
    widths,
    copies,
    first_arc,
    tails,
    heads,
    values,
    profits,
    threshold,
    ends,
    stack,
    profit,
    packing,
    at,
    rows,
    steps,
):
    """Go on with the search until it ends (depth -1), the rows are full, or the steps are used up; returns how many."""
    m = len(widths)
    count, depth = 0, at[0]
    while depth >= 0 and steps > 0 and count < len(rows):
        i, state, v = stack[depth, 0], stack[depth, 1], profit[depth]
        further, head = v, state
        laid = False
        while i < m and v + values[i, state] >= threshold:
            steps -= 1
            if packing[i] < copies[i]:
                k = arc_at(first_arc[i], first_arc[i + 1], tails, state)
                if k >= 0:
                    further, head = v + profits[k], heads[k]
                    if further + values[i, head] >= threshold:
                        laid = True
                        break
            i += 1
        if not laid:
            if depth > 0:
                packing[stack[depth, 2]] -= 1
            depth -= 1
            continue
        stack[depth, 0] = i + 1
        depth += 1
        stack[depth, 0], stack[depth, 1], stack[depth, 2], profit[depth] = i, head, i, further
        packing[i] += 1
        if further >= threshold and ends[head]:
            overwrite(rows[count], packing)
            count += 1
    at[0] = depth
    return count
