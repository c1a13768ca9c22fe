"""Enumeration of all packings of a knapsack above a threshold."""

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
    """State of a depth-first search.

    * ``stack``: one row per piece: the next item to try, the end state, the piece's item.
    * ``profit``: profit up to each piece.
    * ``packing``: copies of each item.
    * ``depth``: number of pieces; -1 at the end.
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
    """Return all packings with profit at least ``threshold`` as rows of copies.  None if more than ``limit``.

    The depth-first search continues only if the table of :func:`best_from` permits the threshold, so nearly every step
    leads to a packing.  ``threshold`` must be positive.
    """
    check(net, values, profits)
    threshold = as_float(threshold, "threshold", finite=False)
    limit = as_integer(limit, "limit", low=0)
    if threshold <= 0.0:
        return None
    m = net.num_items
    deepest = int(np.minimum(net.copies.sum(), net.num_states)) + 1  # every piece ends at a different state
    search = _Search(
        np.zeros((deepest + 1, 3), np.int64), np.zeros(deepest + 1), np.zeros(m, np.int64), np.zeros(1, np.int64)
    )
    found: list[Ints] = []
    count = 0
    while search.depth[0] >= 0:
        look()
        rows = np.empty((min(limit + 1 - count, 1 + PORTION // (100 * (m + 1))), m), np.int64)
        num_listed = _continue(arcs_of(net), values, profits, threshold, net.ends, search, rows, PORTION)
        count += num_listed
        if count > limit:
            return None
        found.append(rows[:num_listed])
    return np.concatenate(found)


@njit(cache=True, nogil=True)
def _continue(
    arcs: Arcs,
    values: Floats,
    profits: Floats,
    threshold: float,
    ends: NDArray[np.bool_],
    search: _Search,
    rows: Ints,
    steps: int,
) -> int:
    """Continue the search until it ends (depth -1), ``rows`` is full or ``steps`` are used up; return the row count."""
    _, widths, copies, first_arc, tails, heads = arcs
    stack, profit, packing, at = search
    m = len(widths)
    count, depth = 0, at[0]
    while depth >= 0 and steps > 0 and count < len(rows):
        i, state, v = stack[depth, 0], stack[depth, 1], profit[depth]
        further, head = v, state
        placed = False
        while i < m and v + values[i, state] >= threshold:
            steps -= 1
            if packing[i] < copies[i]:
                k = arc_at(first_arc[i], first_arc[i + 1], tails, state)
                if k >= 0:
                    further, head = v + profits[k], heads[k]
                    if further + values[i, head] >= threshold:
                        placed = True
                        break
            i += 1
        if not placed:
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
