r"""The bounded knapsack problem with profits that may depend on the position of a piece.

    max Σ_i Σ_c profit(i, position of the c-th copy of i)    subject to    Σ_i w_i a_i ≤ C,  0 ≤ a_i ≤ b_i integer,

where a packing is laid out from position 0 in the order of the items.  It is a longest path in an acyclic *network*:
the arc ``(i, p)`` places a piece of item i at position p and leads to position p + w_i.  With A_i arcs the dynamic
program spends O(A_i) time on an item that the capacity alone limits and O(b_i A_i) on another, at most O(C Σ_i b_i) in
all, and space for one value an item and position.

With equal profits at all positions it is the ordinary bounded knapsack problem.  Arcs can be forbidden, and every arc
has a value: the best packing that uses it.

Sources: R. Bellman, *Dynamic Programming* (1957); for packings as paths J. M. Valério de Carvalho, *Exact solution of
bin-packing problems using column generation and branch-and-bound*, Annals of Operations Research 86 (1999).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEVER = -1e30
"""The value of what cannot be reached."""


class Network(NamedTuple):
    """The arcs that lie on paths from position 0.

    Attributes
    ----------
    capacity
        C.
    widths
        One a item, in the order in which pieces are laid out.
    copies
        b_i, at most ⌊C / w_i⌋.
    first_arc
        Item i has the arcs ``first_arc[i]:first_arc[i + 1]``.
    positions
        Of the arcs; increasing within an item.
    """

    capacity: int
    widths: Ints
    copies: Ints
    first_arc: Ints
    positions: Ints

    @property
    def num_items(self) -> int:
        return len(self.widths)

    @property
    def num_arcs(self) -> int:
        return len(self.positions)

    def spread(self, per_item: Floats) -> Floats:
        """One number an item, as one number an arc."""
        return np.repeat(per_item, np.diff(self.first_arc))

    def first_items(self, count: int) -> Network:
        """The network of the first ``count`` items; its arcs are the first ones of this network."""
        last = int(self.first_arc[count])
        return Network(
            self.capacity,
            self.widths[:count],
            self.copies[:count],
            self.first_arc[: count + 1],
            self.positions[:last],
        )

    def arc(self, item: int, position: int) -> int:
        """Number of the arc of an item at a position, -1 if there is none."""
        first, last = self.first_arc[item], self.first_arc[item + 1]
        k = int(first + np.searchsorted(self.positions[first:last], position))
        return k if k < last and self.positions[k] == position else -1


def network(widths: Ints, copies: Ints, capacity: int, allowed: NDArray[np.bool_] | None = None) -> Network:
    """The network of a bounded knapsack.

    Parameters
    ----------
    widths, copies
        w_i > 0 and b_i ≥ 0 for each item.
    capacity
        C ≥ 0.
    allowed
        Mask of shape (items, C + 1): which arcs there may be; all by default.
    """
    widths = np.asarray(widths, dtype=np.int64)
    fitting = np.minimum(np.asarray(copies, dtype=np.int64), capacity // widths)
    mask = np.ones((0, 0), dtype=np.bool_) if allowed is None else allowed
    first_arc, positions = _reachable(widths, fitting, capacity, mask, allowed is not None)
    return Network(int(capacity), widths, fitting, first_arc, positions)


def best_from(net: Network, profits: Floats) -> Floats:
    """Best profit of pieces of items i, i + 1, ... placed from position p on; shape (items + 1, C + 1).

    Entry (0, 0) is the optimum.  ``profits`` has one entry an arc.
    """
    values: Floats = _backward(*net, profits)
    return values


def best_packing(net: Network, values: Floats, profits: Floats) -> Ints:
    """Copies of each item in an optimal packing, read off the table of :func:`best_from`."""
    packing: Ints = _trace(*net, values, profits, np.zeros(net.num_items, np.int64), 0, 0)
    return packing


def packings_by_first_item(net: Network, values: Floats, profits: Floats, threshold: float) -> tuple[Floats, Ints]:
    """For each item the best packing that begins with it, if its profit is above ``threshold``.

    It is read off the table of :func:`best_from`, without a further dynamic program.

    Returns
    -------
    profit
        Shape (items,); ``NEVER`` for an item that no packing begins with.
    packings
        Shape (items, items): row i holds the copies of each item; zeros where the profit is not above the threshold.
    """
    profit, packings = _by_first_item(*net, values, profits, threshold)
    return profit, packings


def arc_values(net: Network, values: Floats, profits: Floats) -> Floats:
    """For each arc the best profit of a packing that uses it; ``NEVER`` if none does."""
    best: Floats = _through_arcs(*net, values, profits)
    return best


def packings_above(net: Network, values: Floats, profits: Floats, threshold: float, limit: int) -> Ints | None:
    """All packings of profit at least ``threshold``, as rows of copies by item; None if there are more than ``limit``.

    Depth-first search that goes on only where the table of :func:`best_from` says that the threshold can be reached, so
    that nearly every step ends in a packing of the list.  ``threshold`` must be positive.
    """
    if threshold <= 0.0:
        return None
    count, packings = _packings_above(*net, values, profits, threshold, limit)
    return None if count > limit else packings[:count]


def bounded_knapsack(profits: Floats, widths: Ints, copies: Ints, capacity: int) -> tuple[float, Ints]:
    """The ordinary bounded knapsack problem: optimum, and copies of each item.

    Parameters
    ----------
    profits, widths, copies
        One entry an item; items without profit are left out.
    """
    net = network(widths, copies, capacity)
    by_arc = net.spread(np.asarray(profits, dtype=np.float64))
    values = best_from(net, by_arc)
    return float(values[0, 0]), best_packing(net, values, by_arc)


# The kernels take a network's fields in order.  An item with b_i = ⌊C / w_i⌋ is limited by the capacity alone: one
# sweep in the direction of the arcs does for any number of copies.  Other items are swept copy by copy.


@njit(cache=True)
def _reachable(widths, copies, capacity, allowed, masked):  # type: ignore[no-untyped-def]
    """Arcs on some path from 0: (first arc of each item, positions)."""
    m = len(widths)
    reach = np.zeros(capacity + 1, np.bool_)
    reach[0] = True
    first = np.zeros(m + 1, np.int64)
    positions = np.empty(1024, np.int64)
    count = 0
    for i in range(m):
        w = widths[i]
        grown = reach.copy()
        if copies[i] * w + w > capacity:
            for p in range(capacity - w + 1):
                if grown[p] and (not masked or allowed[i, p]):
                    grown[p + w] = True
        else:
            for _ in range(copies[i]):
                for p in range(capacity - w, -1, -1):
                    if grown[p] and (not masked or allowed[i, p]):
                        grown[p + w] = True
        if copies[i] > 0:
            for p in range(capacity - w + 1):
                if grown[p] and (not masked or allowed[i, p]):
                    if count == len(positions):
                        larger = np.empty(2 * count, np.int64)
                        larger[:count] = positions
                        positions = larger
                    positions[count] = p
                    count += 1
        reach = grown
        first[i + 1] = count
    return first, positions[:count].copy()


@njit(cache=True)
def _backward(capacity, widths, copies, first_arc, positions, profits):  # type: ignore[no-untyped-def]
    m = len(widths)
    values = np.empty((m + 1, capacity + 1))
    values[m, :] = 0.0
    for i in range(m - 1, -1, -1):
        w, first, last = widths[i], first_arc[i], first_arc[i + 1]
        here, after = values[i], values[i + 1]
        here[:] = after
        if copies[i] * w + w > capacity:
            for k in range(last - 1, first - 1, -1):
                p = positions[k]
                v = profits[k] + here[p + w]
                if v > here[p]:
                    here[p] = v
        elif copies[i] == 1:
            for k in range(first, last):
                p = positions[k]
                v = profits[k] + after[p + w]
                if v > here[p]:
                    here[p] = v
        else:
            # Ascending positions read only higher ones, which the present copy has not touched yet.
            for _ in range(copies[i]):
                for k in range(first, last):
                    p = positions[k]
                    v = profits[k] + here[p + w]
                    if v > here[p]:
                        here[p] = v
    return values


@njit(cache=True)
def _counted(first, last, w, count, positions, profits, after):  # type: ignore[no-untyped-def]
    """Row c: best profit from each position on, with at most c pieces of the item of width w and arcs first to last."""
    rows = np.empty((count + 1, len(after)))
    rows[0, :] = after
    for c in range(1, count + 1):
        here, less = rows[c], rows[c - 1]
        here[:] = after
        for k in range(first, last):
            p = positions[k]
            v = profits[k] + less[p + w]
            if v > here[p]:
                here[p] = v
    return rows


@njit(cache=True)
def _arc_at(first, last, positions, p):  # type: ignore[no-untyped-def]
    """The arc among first to last at position p, -1 if there is none."""
    k = first + np.searchsorted(positions[first:last], p)
    return k if k < last and positions[k] == p else -1


@njit(cache=True)
def _copies_from(first, last, w, most, positions, profits, after, p):  # type: ignore[no-untyped-def]
    """How many pieces, at most ``most``, of the item of width w and arcs first to last are best from position p on."""
    best, best_value = 0, after[p]
    for c in range(1, most + 1):
        if _arc_at(first, last, positions, p + (c - 1) * w) < 0:
            break
        v = after[p + c * w]
        for t in range(c - 1, -1, -1):
            v = profits[_arc_at(first, last, positions, p + t * w)] + v
        if v > best_value:
            best, best_value = c, v
    return best


@njit(cache=True)
def _trace(  # type: ignore[no-untyped-def]
    capacity, widths, copies, first_arc, positions, values, profits, packing, item, p
):
    """Add to ``packing`` the best pieces of the items from ``item`` on, placed from position p on."""
    for i in range(item, len(widths)):
        w = widths[i]
        if copies[i] * w + w > capacity:
            while values[i, p] > values[i + 1, p]:
                packing[i] += 1
                p += w
        elif values[i, p] > values[i + 1, p]:
            c = _copies_from(first_arc[i], first_arc[i + 1], w, copies[i], positions, profits, values[i + 1], p)
            packing[i] += c
            p += c * w
    return packing


@njit(cache=True)
def _forward(capacity, widths, copies, first_arc, positions, profits):  # type: ignore[no-untyped-def]
    """Best profit of pieces of items before i that end exactly at p; shape (items + 1, C + 1)."""
    m = len(widths)
    reach = np.empty((m + 1, capacity + 1))
    reach[0, :] = NEVER
    reach[0, 0] = 0.0
    for i in range(m):
        w, first, last = widths[i], first_arc[i], first_arc[i + 1]
        before, here = reach[i], reach[i + 1]
        here[:] = before
        if copies[i] * w + w > capacity:
            for k in range(first, last):
                p = positions[k]
                v = here[p] + profits[k]
                if v > here[p + w]:
                    here[p + w] = v
        elif copies[i] == 1:
            for k in range(first, last):
                p = positions[k]
                v = before[p] + profits[k]
                if v > here[p + w]:
                    here[p + w] = v
        else:
            for _ in range(copies[i]):
                for k in range(last - 1, first - 1, -1):
                    p = positions[k]
                    v = here[p] + profits[k]
                    if v > here[p + w]:
                        here[p + w] = v
    return reach


@njit(cache=True)
def _counted_before(first, last, w, count, positions, profits, before):  # type: ignore[no-untyped-def]
    """Row c: best profit of what ends exactly at each position, with exactly c pieces of the item last."""
    rows = np.full((count + 1, len(before)), NEVER)
    rows[0, :] = before
    for c in range(1, count + 1):
        for k in range(first, last):
            p = positions[k]
            v = rows[c - 1, p] + profits[k]
            if v > rows[c, p + w]:
                rows[c, p + w] = v
    return rows


@njit(cache=True)
def _through_item(  # type: ignore[no-untyped-def]
    capacity, widths, copies, first_arc, positions, values, profits, reach, i, best
):
    """Write the value of each arc of item i into ``best``."""
    w, first, last = widths[i], first_arc[i], first_arc[i + 1]
    if first == last:
        return
    if copies[i] * w + w > capacity or copies[i] == 1:
        # Any number of pieces of i on either side, or none.
        free = copies[i] * w + w > capacity
        before = reach[i + 1] if free else reach[i]
        after = values[i] if free else values[i + 1]
        for k in range(first, last):
            p = positions[k]
            best[k] = before[p] + profits[k] + after[p + w]
        return
    count = copies[i]
    befores = _counted_before(first, last, w, count - 1, positions, profits, reach[i])
    afters = _counted(first, last, w, count - 1, positions, profits, values[i + 1])
    for c in range(count):
        for k in range(first, last):
            p = positions[k]
            v = befores[c, p] + profits[k] + afters[count - 1 - c, p + w]
            if c == 0 or v > best[k]:
                best[k] = v


@njit(cache=True)
def _by_first_item(  # type: ignore[no-untyped-def]
    capacity, widths, copies, first_arc, positions, values, profits, threshold
):
    m = len(widths)
    best = np.full(m, NEVER)
    packings = np.zeros((m, m), np.int64)
    for i in range(m):
        w, first, last = widths[i], first_arc[i], first_arc[i + 1]
        if first == last or positions[first] != 0:
            continue
        row = packings[i]
        if copies[i] * w + w > capacity:
            best[i] = profits[first] + values[i, w]
            if best[i] > threshold:
                row[i] = 1
                _trace(capacity, widths, copies, first_arc, positions, values, profits, row, i, w)
            continue
        c = 1 + _copies_from(first, last, w, copies[i] - 1, positions, profits, values[i + 1], w)
        v = values[i + 1, c * w]
        for t in range(c - 1, -1, -1):
            v = profits[_arc_at(first, last, positions, t * w)] + v
        best[i] = v
        if v > threshold:
            row[i] = c
            _trace(capacity, widths, copies, first_arc, positions, values, profits, row, i + 1, c * w)
    return best, packings


@njit(cache=True)
def _through_arcs(capacity, widths, copies, first_arc, positions, values, profits):  # type: ignore[no-untyped-def]
    reach = _forward(capacity, widths, copies, first_arc, positions, profits)
    best = np.full(len(positions), NEVER)
    for i in range(len(widths)):
        _through_item(capacity, widths, copies, first_arc, positions, values, profits, reach, i, best)
    return np.where(best < 0.5 * NEVER, NEVER, best)


@njit(cache=True)
def _packings_above(  # type: ignore[no-untyped-def]
    capacity, widths, copies, first_arc, positions, values, profits, threshold, limit
):
    m = len(widths)
    arc_profits = np.full((m, capacity + 1), NEVER)
    depth_limit = 1
    for i in range(m):
        for k in range(first_arc[i], first_arc[i + 1]):
            arc_profits[i, positions[k]] = profits[k]
        if first_arc[i + 1] > first_arc[i]:
            depth_limit = max(depth_limit, capacity // widths[i] + 1)
    packings = np.zeros((limit, m), np.int64)
    count = 0
    packing = np.zeros(m, np.int64)
    # One entry a piece laid: the item to try next behind it, where it ends, the profit so far, and its own item.
    candidate = np.zeros(depth_limit + 1, np.int64)
    position = np.zeros(depth_limit + 1, np.int64)
    profit = np.zeros(depth_limit + 1)
    piece = np.full(depth_limit + 1, -1, np.int64)
    depth = 0
    while depth >= 0:
        i, p, v = candidate[depth], position[depth], profit[depth]
        laid = False
        while i < m and v + values[i, p] >= threshold:
            if p + widths[i] <= capacity and packing[i] < copies[i] and arc_profits[i, p] > 0.5 * NEVER:
                further = v + arc_profits[i, p]
                if further + values[i, p + widths[i]] >= threshold:
                    laid = True
                    break
            i += 1
        if not laid:
            if depth > 0:
                packing[piece[depth]] -= 1
            depth -= 1
            continue
        candidate[depth] = i + 1
        depth += 1
        candidate[depth], position[depth], profit[depth], piece[depth] = i, p + widths[i], further, i
        packing[i] += 1
        if further >= threshold:
            if count == limit:
                return limit + 1, packings
            packings[count] = packing
            count += 1
    return count, packings
