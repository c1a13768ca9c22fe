r"""The bounded knapsack problem with profits that may depend on the position of a piece.

    max Σ_i Σ_c profit(i, position of the c-th copy of i)    subject to    Σ_i w_i a_i ≤ C,  0 ≤ a_i ≤ b_i integer,

where a packing is laid out from position 0 in the order of the items.  It is a longest path in an acyclic *network*:
its *states* are the positions that pieces can end at, sums of widths, and the arc ``(i, p)`` places a piece of item i
at position p and leads to position p + w_i.  With A_i arcs the dynamic program spends O(A_i) time on an item that the
capacity alone limits and O(b_i A_i) on another, at most O(S Σ_i b_i) in all with S states, and space for one value an
item and state.  What counts is S, not the capacity: a capacity of 10^10 with a hundred reachable sums is a small
problem.

With equal profits at all positions it is the ordinary bounded knapsack problem.  Arcs can be forbidden, and every arc
has a value: the best packing that uses it.

Sources: R. Bellman, *Dynamic Programming* (1957); for packings as paths J. M. Valério de Carvalho, *Exact solution of
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
from colgen.solvers.packing.network_arguments import SWEEPS, arcs_of, as_profits, check, in_portions
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
    """Best profit of pieces of items i, i + 1, ... placed from a state on; shape (items + 1, states).

    Entry (0, 0) is the optimum; entries are ``NEVER``, or as far below zero, where no packing ends as it has to.
    ``profits`` has one entry an arc; ``look`` is called every few hundredths of a second, and may raise.
    """
    profits = as_profits(net, profits)
    m = net.num_items
    values = np.empty((m + 1, net.num_states))
    values[m] = 0.0 if net.least <= 0 else np.where(net.ends, 0.0, NEVER)
    if m == 0:
        return values
    portions = in_portions(net)
    for first, last in portions:
        if len(portions) > 1:
            look()
        _backward(first, last, *arcs_of(net), profits, values)
    return values


def best_packing(net: PackingNetwork, values: Floats, profits: Floats) -> Ints:
    """Copies of each item in an optimal packing, read off the table of :func:`best_from`."""
    check(net, values, profits)
    packing: Ints = _trace(*arcs_of(net), values, profits, np.zeros(net.num_items, np.int64), (0, 0))
    return packing


def packings_by_first_item(
    net: PackingNetwork, values: Floats, profits: Floats, threshold: float
) -> tuple[Floats, Ints]:
    """For each item the best packing that begins with it, if its profit is above ``threshold``.

    It is read off the table of :func:`best_from`, without a further dynamic program.

    Returns
    -------
    profit
        Shape (items,); ``NEVER`` for an item that no packing begins with.
    packings
        Shape (items, items): row i holds the copies of each item; zeros where the profit is not above the threshold.
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
    """The ordinary bounded knapsack problem: optimum, and copies of each item.

    Parameters
    ----------
    profits, widths, copies
        One entry an item, widths and copies whole; items without profit are left out.
    capacity
        Whole as well.
    look
        Called every few hundredths of a second; may raise.

    Raises
    ------
    ArrayError
        Where a number is not whole, out of range, or NaN.
    NetworkTooLargeError
        If there are more reachable sums of widths than the memory has room for.
    """
    net = network(widths, copies, capacity, look=look)
    by_arc = net.spread(as_floats(profits, "profits", shape=(net.num_items,)))
    values = best_from(net, by_arc, look=look)
    return float(values[0, 0]), best_packing(net, values, by_arc)


# The kernels take a network's fields in order.  An item with b_i = ⌊C / w_i⌋ is limited by the capacity alone: one
# sweep in the direction of the arcs does for any number of copies.  Other items are swept copy by copy, or, where they
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
            # Ascending positions read only higher ones, which the present copy has not touched yet.
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
    """How many pieces of an item, at most ``most``, are best from a state on: (pieces, their end, profit)."""
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
    """Add to ``packing`` the best pieces of the items from one on, placed from a state on: ``place``."""
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
