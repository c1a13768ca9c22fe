"""All packings of a knapsack above a threshold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_float, as_integer
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import overwrite
from colgen.solvers.packing.network import PORTION, Floats, Ints, PackingNetwork, arc_at
from colgen.solvers.packing.network_arguments import Arcs, arcs_of, check
from colgen.solvers.stopping import Look, look_away


class _Search(NamedTuple):
    """A depth-first search.

    Attributes
    ----------
    stack
        One row a piece laid: the item to try next behind it, the state where it ends, its own item.
    profit
        Of the pieces up to each.
    packing
        Copies that are laid of each item.
    depth
        How many pieces are laid; -1 at the end.
    """

    stack: Ints
    profit: Floats
    packing: Ints
    depth: Ints


def packings_above(
    net: PackingNetwork,
    values: Floats,
    profits: Floats,
    threshold: float,
    limit: int,
    *,
    look: Look = look_away,
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
    search = _Search(
        np.zeros((deepest + 1, 3), np.int64), np.zeros(deepest + 1), np.zeros(m, np.int64), np.zeros(1, np.int64)
    )
    found: list[Ints] = []
    count = 0
    while search.depth[0] >= 0:
        look()
        rows = np.empty((min(limit + 1 - count, 1 + PORTION // (100 * (m + 1))), m), np.int64)
        listed = _go_on(arcs_of(net), values, profits, threshold, net.ends, search, rows, PORTION)
        count += listed
        if count > limit:
            return None
        found.append(rows[:listed])
    return np.concatenate(found)


@njit(cache=True, nogil=True)
def _go_on(
    arcs: Arcs,
    values: Floats,
    profits: Floats,
    threshold: float,
    ends: NDArray[np.bool_],
    search: _Search,
    rows: Ints,
    steps: int,
) -> int:
    """Go on with the search until it ends (depth -1), the rows are full, or the steps are used up; returns how many."""
    _, widths, copies, first_arc, tails, heads = arcs
    stack, profit, packing, at = search
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
