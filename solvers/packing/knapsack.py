r"""The bounded knapsack problem with profits that may depend on the position of a piece.

    max Σ_i Σ_c profit(i, position of the c-th copy of i)    subject to    Σ_i w_i a_i ≤ C,  0 ≤ a_i ≤ b_i integer.

A packing is a path in the acyclic network of :mod:`colgen.solvers.packing.network`.  With A_i arcs, the dynamic program
takes O(A_i) time for an item limited by the capacity alone, and O(b_i A_i) for others.  With S states this is at most
O(S Σ_i b_i) in total.  Space is one value per item and state.

With equal profits at all positions this is the ordinary bounded knapsack problem.  Arcs can be forbidden.  The value of
an arc is that of the best packing that uses it.

Sources: R. Bellman, *Dynamic Programming* (1957).  For packings as paths: J. M. Valério de Carvalho, *Exact solution of
bin-packing problems using column generation and branch-and-bound*, Annals of Operations Research 86 (1999).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from colgen.solvers.arrays import as_float, as_floats
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import overwrite
from colgen.solvers.packing.arc_values import NEVER, arc_values, arc_work
from colgen.solvers.packing.chains import chain, slide, successors
from colgen.solvers.packing.listing import packings_above
from colgen.solvers.packing.network import (
    LARGEST_CAPACITY,
    Floats,
    Ints,
    NetworkTooLargeError,
    PackingNetwork,
    arc_at,
    filled,
    network,
    restricted,
)
from colgen.solvers.packing.network_arguments import SWEEPS, arcs_of, as_profits, check, portions_of
from colgen.solvers.stopping import Look, look_away

__all__ = [
    "LARGEST_CAPACITY",
    "NEVER",
    "PackingNetwork",
    "NetworkTooLargeError",
    "arc_values",
    "arc_work",
    "best_from",
    "best_packing",
    "bounded_knapsack",
    "filled",
    "network",
    "packings_above",
    "packings_by_first_item",
    "restricted",
]


def best_from(net: PackingNetwork, profits: ArrayLike, *, look: Look = look_away) -> Floats:
    """Return the best profit of pieces of items i, i + 1, ... from a state on, shape (items + 1, states).

    Entry (0, 0) is the optimum.  Entries are ``NEVER``, or about as low, if no packing ends where it may.  ``profits``
    has one entry per arc; ``look`` is called every few hundredths of a second and may raise.
    """
    profits = as_profits(net, profits)
    m = net.num_items
    values = np.empty((m + 1, net.num_states))
    values[m] = 0.0 if net.least <= 0 else np.where(net.ends, 0.0, NEVER)
    if m == 0:
        return values
    portions = portions_of(net)
    for first, last in portions:
        if len(portions) > 1:
            look()
        _backward(first, last, *arcs_of(net), profits, values)
    return values


def best_packing(net: PackingNetwork, values: Floats, profits: Floats) -> Ints:
    """Return the copies of each item in an optimal packing, from the table of :func:`best_from`."""
    check(net, values, profits)
    packing: Ints = _trace(*arcs_of(net), values, profits, np.zeros(net.num_items, np.int64), (0, 0))
    return packing


def packings_by_first_item(
    net: PackingNetwork, values: Floats, profits: Floats, threshold: float
) -> tuple[Floats, Ints]:
    """Return for each item the best packing that begins with it, from the table of :func:`best_from`.

    The profits, shape (items,), are ``NEVER`` for items that begin no packing.  The copies, shape (items, items), are
    zeros unless the profit exceeds ``threshold``.
    """
    check(net, values, profits)
    profit, packings = _by_first_item(*arcs_of(net), values, profits, as_float(threshold, "threshold", finite=False))
    return profit, packings


def bounded_knapsack(
    profits: ArrayLike,
    widths: ArrayLike,
    copies: ArrayLike,
    capacity: int,
    *,
    look: Look = look_away,
) -> tuple[float, Ints]:
    """Solve the ordinary bounded knapsack problem.  Return the optimum and the copies of each item.

    Widths and copies are integers.  Unprofitable items are left out.

    Raises
    ------
    ArrayError
        If a number is not an integer, out of range, or NaN.
    NetworkTooLargeError
        If there are too many reachable sums of widths for memory.
    """
    net = network(widths, copies, capacity, look=look)
    by_arc = net.spread(as_floats(profits, "profits", shape=(net.num_items,)))
    values = best_from(net, by_arc, look=look)
    return float(values[0, 0]), best_packing(net, values, by_arc)


# Kernel arguments are a network's fields in order.  An item with b_i = ⌊C / w_i⌋ is limited by the capacity alone: one
# sweep in the direction of the arcs covers all copies.  Other items are swept copy by copy or, if they
# have many copies, along the chains p, p + w_i, p + 2 w_i, ... of their arcs with a maximum over a sliding window.
@njit(cache=True, nogil=True)
def _backward(first_item, last_item, capacity, widths, copies, first_arc, tails, heads, profits, values):  # type: ignore[no-untyped-def]
    for i in range(last_item - 1, first_item - 1, -1):
        w, first, last = widths[i], first_arc[i], first_arc[i + 1]
        here, after = values[i], values[i + 1]
        overwrite(here, after)
        if copies[i] * w + w > capacity:
            for k in range(last - 1, first - 1, -1):
                p = tails[k]
                v = profits[k] + here[heads[k]]
                if v > here[p]:
                    here[p] = v
        elif copies[i] == 1:
            for k in range(first, last):
                p = tails[k]
                v = profits[k] + after[heads[k]]
                if v > here[p]:
                    here[p] = v
        elif copies[i] <= SWEEPS:
            # Ascending positions read only higher ones, which this copy has not changed yet.
            for _ in range(copies[i]):
                for k in range(first, last):
                    p = tails[k]
                    v = profits[k] + here[heads[k]]
                    if v > here[p]:
                        here[p] = v
        else:
            count = last - first
            following = successors(first, last, tails, heads)
            taken = np.zeros(count, np.bool_)
            states, sums = np.empty(count + 1, np.int64), np.empty(count + 1)
            window = np.empty(count + 1, np.int64)
            for begin in range(count):
                if taken[begin]:
                    continue
                length = chain(begin, first, following, tails, heads, profits, taken, states, sums)
                slide(after, states[length::-1], sums[length::-1], copies[i], window, here)


@njit(cache=True, no_cpython_wrapper=True)
def _copies_from(first, last, most, tails, heads, profits, after, state):  # type: ignore[no-untyped-def]
    """Return the best number of pieces of an item from a state on, at most ``most``, their end and the profit."""
    best, end, best_value = 0, state, after[state]
    sum_ = 0.0
    for c in range(1, most + 1):
        k = arc_at(first, last, tails, state)
        if k < 0:
            break
        sum_ += profits[k]
        state = heads[k]
        if sum_ + after[state] > best_value:
            best, end, best_value = c, state, sum_ + after[state]
    return best, end, best_value


@njit(cache=True, nogil=True)
def _trace(  # type: ignore[no-untyped-def]
    capacity, widths, copies, first_arc, tails, heads, values, profits, packing, place
):
    """Add to ``packing`` the best pieces from ``place`` on, an item and a state."""
    item, state = place
    for i in range(item, len(widths)):
        first, last, w = first_arc[i], first_arc[i + 1], widths[i]
        if copies[i] * w + w > capacity:
            while values[i, state] > values[i + 1, state]:
                packing[i] += 1
                state = heads[arc_at(first, last, tails, state)]
        elif values[i, state] > values[i + 1, state]:
            pieces, end, _ = _copies_from(first, last, copies[i], tails, heads, profits, values[i + 1], state)
            packing[i] += pieces
            state = end
    return packing


@njit(cache=True, nogil=True)
def _by_first_item(  # type: ignore[no-untyped-def]
    capacity, widths, copies, first_arc, tails, heads, values, profits, threshold
):
    m = len(widths)
    best = np.full(m, NEVER)
    packings = np.zeros((m, m), np.int64)
    for i in range(m):
        w, first, last = widths[i], first_arc[i], first_arc[i + 1]
        if first == last or tails[first] != 0:
            continue
        row, head = packings[i], heads[first]
        if copies[i] * w + w > capacity:
            best[i] = profits[first] + values[i, head]
            if best[i] > threshold:
                row[i] = 1
                _trace(capacity, widths, copies, first_arc, tails, heads, values, profits, row, (i, head))
            continue
        more, end, value = _copies_from(first, last, copies[i] - 1, tails, heads, profits, values[i + 1], head)
        best[i] = profits[first] + value
        if best[i] > threshold:
            row[i] = 1 + more
            _trace(capacity, widths, copies, first_arc, tails, heads, values, profits, row, (i + 1, end))
    return best, packings
