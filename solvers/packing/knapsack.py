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

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from solvers.arrays import ArrayError, as_booleans, as_float, as_floats, as_integer, as_integers

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

NEVER = -1e30
"""The value of what cannot be reached."""

CELLS = 1 << 26
"""Items times states of a network, by default at most: its tables then take 512 MiB each, of which there are a few."""

STATES = 1 << 22
"""States of a network, at most: laying an item looks at all of them at once."""

LARGEST_CAPACITY = 1 << 62
"""Sums of a position and a width stay within 64 bits."""

_PORTION = 20_000_000
"""Elementary steps between two looks at the clock: some hundredths of a second."""

_SWEEPS = 8
"""Items with more copies than this are not swept copy by copy, but along the chains of their arcs."""


class NetworkTooLargeError(ValueError):
    """A knapsack has more items times reachable sums than the memory that it may take has room for."""


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
    states
        The positions that packings reach, increasing, from 0.
    first_arc
        Item i has the arcs ``first_arc[i]:first_arc[i + 1]``.
    tails, heads
        The states that each arc leads from and to, as indices of ``states``; increasing within an item.
    origin
        The numbers of the arcs in the network that this one was made from by :func:`restricted`; None in the first.
    """

    capacity: int
    widths: Ints
    copies: Ints
    states: Ints
    first_arc: Ints
    tails: NDArray[np.int32]
    heads: NDArray[np.int32]
    origin: Ints | None = None

    @property
    def num_items(self) -> int:
        return len(self.widths)

    @property
    def num_states(self) -> int:
        return len(self.states)

    @property
    def num_arcs(self) -> int:
        return len(self.tails)

    @property
    def positions(self) -> Ints:
        """Of the arcs."""
        return self.states[self.tails]

    @property
    def items(self) -> Ints:
        """Of the arcs."""
        return np.repeat(np.arange(self.num_items), np.diff(self.first_arc))

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
            self.states,
            self.first_arc[: count + 1],
            self.tails[:last],
            self.heads[:last],
        )

    def arc(self, item: int, position: int) -> int:
        """Number of the arc of an item at a position, -1 if there is none."""
        state = int(np.searchsorted(self.states, position))
        if state == len(self.states) or self.states[state] != position:
            return -1
        first, last = self.first_arc[item], self.first_arc[item + 1]
        k = int(first + np.searchsorted(self.tails[first:last], state))
        return k if k < last and self.tails[k] == state else -1


def _look_away() -> None:
    """The look at a clock of who has none."""


def network(
    widths: ArrayLike,
    copies: ArrayLike,
    capacity: int,
    allowed: ArrayLike | None = None,
    *,
    cells: int = CELLS,
    look: Callable[[], object] = _look_away,
) -> Network:
    """The network of a bounded knapsack.

    Parameters
    ----------
    widths, copies
        w_i > 0 and b_i ≥ 0 for each item.
    capacity
        C ≥ 0, at most 2⁶².
    allowed
        Mask of shape (items, C + 1): which arcs there may be; all by default.
    cells
        Items times states at most; what a network takes is bounded by this, and by ``STATES``, before it is taken.
    look
        Called every few hundredths of a second; may raise.

    Raises
    ------
    ArrayError
        Where a number is not whole, or out of range.
    NetworkTooLargeError
        If there are more items times reachable sums than ``cells``.
    """
    whole: Ints = as_integers(widths, "widths", shape=("items",), low=1)
    wanted: Ints = as_integers(copies, "copies", shape=whole.shape, low=0)
    capacity = as_integer(capacity, "capacity", low=0, high=LARGEST_CAPACITY)
    fitting = np.minimum(wanted, capacity // whole)
    net = _whole_network(whole, fitting, capacity, cells, look)
    if allowed is None:
        return net
    mask = as_booleans(allowed, "allowed", shape=(len(whole), capacity + 1))
    return restricted(net, net.copies, mask[net.items, net.positions])._replace(origin=None)


def _whole_network(widths: Ints, copies: Ints, capacity: int, cells: int, look: Callable[[], object]) -> Network:
    m = len(widths)
    states, first_arc = np.zeros(1, np.int64), np.zeros(m + 1, np.int64)
    parts: list[tuple[int, int, Ints]] = []
    most, done = min(cells // (m + 1), STATES), 0
    largest = int(copies.max(initial=0))  # the pieces of one item reach so many sums without any other
    while done < m:
        look()
        begun = done
        if largest <= most:
            done, states, positions = _grown(widths, copies, capacity, begun, states, most, first_arc, _PORTION // 128)
            parts.append((begun, done, positions))
        if largest > most or len(states) > most:
            raise NetworkTooLargeError(
                f"a knapsack of {m} items and capacity {capacity} has more than {most} reachable sums of widths, "
                "which is as many as fit into the memory that it may take"
            )
    tails, heads = np.empty(first_arc[m], np.int32), np.empty(first_arc[m], np.int32)
    for begun, done, positions in parts:
        look()
        _located(widths, states, first_arc, begun, done, positions, tails, heads)
    return Network(capacity, widths, copies, states, first_arc, tails, heads)


def restricted(net: Network, copies: ArrayLike, allowed: ArrayLike | None = None) -> Network:
    """The network that is left with fewer copies, and without the arcs that are not allowed.

    Parameters
    ----------
    copies
        b_i ≥ 0; no more than the network has are taken.
    allowed
        Mask of its arcs; all by default.
    """
    wanted: Ints = as_integers(copies, "copies", shape=net.widths.shape, low=0)
    fewer = np.minimum(wanted, net.copies)
    every = np.ones(net.num_arcs, np.bool_) if allowed is None else allowed
    mask = as_booleans(every, "allowed", shape=(net.num_arcs,))
    reached, first_arc, kept = _kept(fewer, net.first_arc, net.tails, net.heads, mask, net.num_states)
    number = np.cumsum(reached, dtype=np.int32) - np.int32(1)
    tails, heads = number[net.tails[kept]], number[net.heads[kept]]
    return Network(net.capacity, net.widths, fewer, net.states[reached], first_arc, tails, heads, kept)


def best_from(net: Network, profits: ArrayLike, *, look: Callable[[], object] = _look_away) -> Floats:
    """Best profit of pieces of items i, i + 1, ... placed from a state on; shape (items + 1, states).

    Entry (0, 0) is the optimum.  ``profits`` has one entry an arc; ``look`` is called every few hundredths of a second,
    and may raise.
    """
    profits = _profits(net, profits)
    m = net.num_items
    values = np.empty((m + 1, net.num_states))
    values[m] = 0.0
    if m == 0:
        return values
    portions = _portions(net)
    for first, last in portions:
        if len(portions) > 1:
            look()
        _backward(first, last, *_arrays(net), profits, values)
    return values


def best_packing(net: Network, values: Floats, profits: Floats) -> Ints:
    """Copies of each item in an optimal packing, read off the table of :func:`best_from`."""
    _check(net, values, profits)
    packing: Ints = _trace(*_arrays(net), values, profits, np.zeros(net.num_items, np.int64), 0, 0)
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
    _check(net, values, profits)
    profit, packings = _by_first_item(*_arrays(net), values, profits, as_float(threshold, "threshold", finite=False))
    return profit, packings


def arc_values(net: Network, values: Floats, profits: Floats, *, look: Callable[[], object] = _look_away) -> Floats:
    """For each arc the best profit of a packing that uses it; ``NEVER`` if none does."""
    _check(net, values, profits)
    m = net.num_items
    reach = np.empty((m + 1, net.num_states))
    reach[0], reach[0, 0] = NEVER, 0.0
    best = np.full(net.num_arcs, NEVER)
    portions = _portions(net)
    for first, last in reversed(portions):
        if len(portions) > 1:
            look()
        _forward(first, last, *_arrays(net), profits, reach)
        _through_items(first, last, *_arrays(net), values, profits, reach, best)
    return np.where(best < 0.5 * NEVER, NEVER, best)


def packings_above(
    net: Network,
    values: Floats,
    profits: Floats,
    threshold: float,
    limit: int,
    *,
    look: Callable[[], object] = _look_away,
) -> Ints | None:
    """All packings of profit at least ``threshold``, as rows of copies by item; None if there are more than ``limit``.

    Depth-first search that goes on only where the table of :func:`best_from` says that the threshold can be reached, so
    that nearly every step ends in a packing of the list.  ``threshold`` must be positive.
    """
    _check(net, values, profits)
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
        rows = np.empty((min(limit + 1 - count, 1 + _PORTION // (100 * (m + 1))), m), np.int64)
        listed = _packings_above(
            *_arrays(net), values, profits, threshold, stack, profit, packing, depth, rows, _PORTION
        )
        count += listed
        if count > limit:
            return None
        found.append(rows[:listed])
    return np.concatenate(found)


def bounded_knapsack(
    profits: ArrayLike,
    widths: ArrayLike,
    copies: ArrayLike,
    capacity: int,
    *,
    look: Callable[[], object] = _look_away,
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


# --- the kernels' doors ----------------------------------------------------------------------------------------------


def _profits(net: Network, profits: ArrayLike) -> Floats:
    floats: Floats = as_floats(profits, "profits", shape=(net.num_arcs,))
    return floats


def _check(net: Network, values: Floats, profits: Floats) -> None:
    """Shapes and types of what :func:`best_from` was given and returned, without a look at the numbers."""
    for name, array, shape in (
        ("values", values, (net.num_items + 1, net.num_states)),
        ("profits", profits, (net.num_arcs,)),
    ):
        if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
            got = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
            raise ArrayError(f"{name}: expected an array of float64 and shape {shape}, got {got}")


def _arrays(net: Network) -> tuple[int, Ints, Ints, Ints, NDArray[np.int32], NDArray[np.int32]]:
    """What the kernels take of a network."""
    return net.capacity, net.widths, net.copies, net.first_arc, net.tails, net.heads


def _work(net: Network) -> Ints:
    """Elementary steps that a table of :func:`best_from` takes, for each item."""
    return net.num_states + np.diff(net.first_arc) * np.clip(net.copies, 1, _SWEEPS)


def arc_work(net: Network) -> int:
    """Elementary steps that :func:`arc_values` takes."""
    copies = np.where(net.copies * net.widths + net.widths > net.capacity, 1, np.maximum(net.copies, 1))
    return int((net.num_states + np.diff(net.first_arc) * copies).sum())


def _portions(net: Network) -> list[tuple[int, int]]:
    """Items from the last to the first in portions of a few hundredths of a second."""
    steps = _work(net)
    if steps.sum() <= _PORTION:
        return [(0, net.num_items)]
    portions, last, taken = [], net.num_items, 0
    for i in range(net.num_items - 1, -1, -1):
        taken += int(steps[i])
        if taken >= _PORTION or i == 0:
            portions.append((i, last))
            last, taken = i, 0
    return portions


# The kernels take a network's fields in order.  An item with b_i = ⌊C / w_i⌋ is limited by the capacity alone: one
# sweep in the direction of the arcs does for any number of copies.  Other items are swept copy by copy, or, where they
# have many copies, along the chains p, p + w_i, p + 2 w_i, ... of their arcs with a maximum over a sliding window.


@njit(cache=True, nogil=True)
def _grown(widths, copies, capacity, begun, states, most, first_arc, portion):  # type: ignore[no-untyped-def]
    """Lay items from ``begun`` on until a portion is used up: (items done, states reached, positions of the arcs).

    The states reached before an item, and those its own pieces reach, are both met in increasing order.
    """
    positions = np.empty(1024, np.int64)
    count, spent = 0, 0
    i = begun
    while i < len(widths) and spent <= portion:
        w, b = widths[i], copies[i]
        first_arc[i + 1] = first_arc[i]
        if b > 0:
            n, first = len(states), count
            grown = np.empty(2 * n + 16, np.int64)
            laid = np.empty(2 * n + 16, np.int64)  # how many pieces of the item lead to where each of its arcs ends
            size, a, q = 0, 0, first
            while a < n or q < count:
                copies_here = 0
                if q == count or (a < n and states[a] <= positions[q] + w):
                    p = states[a]
                    if q < count and positions[q] + w == p:
                        q += 1
                    a += 1
                else:
                    p = positions[q] + w
                    copies_here = laid[q - first]
                    q += 1
                if size == len(grown):
                    grown = _longer(grown)
                    if size > most:
                        break
                grown[size] = p
                size += 1
                if copies_here < b and p + w <= capacity:
                    if count == len(positions):
                        positions = _longer(positions)
                    if count - first == len(laid):
                        laid = _longer(laid)
                    positions[count] = p
                    laid[count - first] = copies_here + 1
                    count += 1
            states = grown[:size].copy()
            spent += size
            first_arc[i + 1] = first_arc[i] + count - first
            if size > most:
                return i + 1, states, positions[:count].copy()
        i += 1
    return i, states, positions[:count].copy()


@njit(cache=True, nogil=True)
def _longer(array):  # type: ignore[no-untyped-def]
    larger = np.empty(2 * len(array), array.dtype)
    larger[: len(array)] = array
    return larger


@njit(cache=True, nogil=True)
def _located(widths, states, first_arc, begun, done, positions, tails, heads):  # type: ignore[no-untyped-def]
    """Tails and heads of the arcs of items ``begun`` to ``done``, as indices of states."""
    offset = first_arc[begun]
    for i in range(begun, done):
        tail, head = 0, 0
        for k in range(first_arc[i], first_arc[i + 1]):
            p = positions[k - offset]
            while states[tail] < p:
                tail += 1
            while states[head] < p + widths[i]:
                head += 1
            tails[k], heads[k] = tail, head


@njit(cache=True, nogil=True)
def _kept(copies, first_arc, tails, heads, allowed, num_states):  # type: ignore[no-untyped-def]
    """What is reached with fewer copies and arcs: (states reached, first arcs, the arcs that are left)."""
    m = len(copies)
    reached = np.zeros(num_states, np.bool_)
    reached[0] = True
    owner = np.full(num_states, -1, np.int64)  # the item whose pieces reached a state first
    laid = np.zeros(num_states, np.int64)
    first = np.zeros(m + 1, np.int64)
    kept = np.empty(len(tails), np.int64)
    count = 0
    for i in range(m):
        for k in range(first_arc[i], first_arc[i + 1]):
            tail, head = tails[k], heads[k]
            if not allowed[k] or not reached[tail]:
                continue
            pieces = laid[tail] if owner[tail] == i else 0
            if pieces < copies[i]:
                kept[count] = k
                count += 1
                if not reached[head]:
                    reached[head] = True
                    owner[head], laid[head] = i, pieces + 1
        first[i + 1] = count
    return reached, first, kept[:count].copy()


@njit(cache=True, nogil=True)
def _successors(first, last, tails, heads):  # type: ignore[no-untyped-def]
    """For each of an item's arcs ``first`` to ``last`` the one that continues it, less ``first``; -1 if none does."""
    after = np.full(last - first, -1, np.int64)
    other = first
    for k in range(first, last):
        while other < last and tails[other] < heads[k]:
            other += 1
        if other < last and tails[other] == heads[k]:
            after[k - first] = other - first
    return after


@njit(cache=True, nogil=True)
def _chain(begin, first, after, tails, heads, profits, taken, states, sums):  # type: ignore[no-untyped-def]
    """Write the states along the chain that begins with an arc, and the profit up to each; returns how many arcs."""
    length, k = 0, begin
    states[0], sums[0] = tails[first + begin], 0.0
    while k >= 0:
        taken[k] = True
        states[length + 1] = heads[first + k]
        sums[length + 1] = sums[length] + profits[first + k]
        length += 1
        k = after[k]
    return length


@njit(cache=True, nogil=True)
def _backward(first_item, last_item, capacity, widths, copies, first_arc, tails, heads, profits, values):  # type: ignore[no-untyped-def]
    for i in range(last_item - 1, first_item - 1, -1):
        w, first, last = widths[i], first_arc[i], first_arc[i + 1]
        here, after = values[i], values[i + 1]
        here[:] = after
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
        elif copies[i] <= _SWEEPS:
            # Ascending positions read only higher ones, which the present copy has not touched yet.
            for _ in range(copies[i]):
                for k in range(first, last):
                    p = tails[k]
                    v = profits[k] + here[heads[k]]
                    if v > here[p]:
                        here[p] = v
        else:
            count = last - first
            following = _successors(first, last, tails, heads)
            taken = np.zeros(count, np.bool_)
            states, sums = np.empty(count + 1, np.int64), np.empty(count + 1)
            window = np.empty(count + 1, np.int64)
            for begin in range(count):
                if taken[begin]:
                    continue
                length = _chain(begin, first, following, tails, heads, profits, taken, states, sums)
                # The best end of at most so many pieces: ends in the window by decreasing value, nearest last.
                front, back = 0, 0
                for j in range(length, -1, -1):
                    v = after[states[j]] + sums[j]
                    while back > front and after[states[window[back - 1]]] + sums[window[back - 1]] <= v:
                        back -= 1
                    window[back] = j
                    back += 1
                    if window[front] > j + copies[i]:
                        front += 1
                    if window[front] != j:
                        here[states[j]] = after[states[window[front]]] + (sums[window[front]] - sums[j])


@njit(cache=True, nogil=True)
def _arc_at(first, last, tails, state):  # type: ignore[no-untyped-def]
    """The arc among first to last from a state, -1 if there is none."""
    k = first + np.searchsorted(tails[first:last], state)
    return k if k < last and tails[k] == state else -1


@njit(cache=True, nogil=True)
def _copies_from(first, last, most, tails, heads, profits, after, state):  # type: ignore[no-untyped-def]
    """How many pieces of an item, at most ``most``, are best from a state on: (pieces, their end, profit)."""
    best, end, best_value = 0, state, after[state]
    sum_ = 0.0
    for c in range(1, most + 1):
        k = _arc_at(first, last, tails, state)
        if k < 0:
            break
        sum_ += profits[k]
        state = heads[k]
        if sum_ + after[state] > best_value:
            best, end, best_value = c, state, sum_ + after[state]
    return best, end, best_value


@njit(cache=True, nogil=True)
def _trace(  # type: ignore[no-untyped-def]
    capacity, widths, copies, first_arc, tails, heads, values, profits, packing, item, state
):
    """Add to ``packing`` the best pieces of the items from ``item`` on, placed from a state on."""
    for i in range(item, len(widths)):
        first, last, w = first_arc[i], first_arc[i + 1], widths[i]
        if copies[i] * w + w > capacity:
            while values[i, state] > values[i + 1, state]:
                packing[i] += 1
                state = heads[_arc_at(first, last, tails, state)]
        elif values[i, state] > values[i + 1, state]:
            pieces, end, _ = _copies_from(first, last, copies[i], tails, heads, profits, values[i + 1], state)
            packing[i] += pieces
            state = end
    return packing


@njit(cache=True, nogil=True)
def _forward(first_item, last_item, capacity, widths, copies, first_arc, tails, heads, profits, reach):  # type: ignore[no-untyped-def]
    """Best profit of pieces of items before i that end exactly at a state; shape (items + 1, states)."""
    for i in range(first_item, last_item):
        w, first, last = widths[i], first_arc[i], first_arc[i + 1]
        before, here = reach[i], reach[i + 1]
        here[:] = before
        if copies[i] * w + w > capacity:
            for k in range(first, last):
                v = here[tails[k]] + profits[k]
                if v > here[heads[k]]:
                    here[heads[k]] = v
        elif copies[i] == 1:
            for k in range(first, last):
                v = before[tails[k]] + profits[k]
                if v > here[heads[k]]:
                    here[heads[k]] = v
        elif copies[i] <= _SWEEPS:
            for _ in range(copies[i]):
                for k in range(last - 1, first - 1, -1):
                    v = here[tails[k]] + profits[k]
                    if v > here[heads[k]]:
                        here[heads[k]] = v
        else:
            count = last - first
            following = _successors(first, last, tails, heads)
            taken = np.zeros(count, np.bool_)
            states, sums = np.empty(count + 1, np.int64), np.empty(count + 1)
            window = np.empty(count + 1, np.int64)
            for begin in range(count):
                if taken[begin]:
                    continue
                length = _chain(begin, first, following, tails, heads, profits, taken, states, sums)
                front, back = 0, 0
                for j in range(length + 1):
                    v = before[states[j]] - sums[j]
                    while back > front and before[states[window[back - 1]]] - sums[window[back - 1]] <= v:
                        back -= 1
                    window[back] = j
                    back += 1
                    if window[front] < j - copies[i]:
                        front += 1
                    if window[front] != j:
                        here[states[j]] = before[states[window[front]]] + (sums[j] - sums[window[front]])


@njit(cache=True, nogil=True)
def _through_items(  # type: ignore[no-untyped-def]
    first_item, last_item, capacity, widths, copies, first_arc, tails, heads, values, profits, reach, best
):
    """Write the value of each arc of some items into ``best``."""
    for i in range(first_item, last_item):
        w, first, last = widths[i], first_arc[i], first_arc[i + 1]
        if first == last:
            continue
        free = copies[i] * w + w > capacity
        if free or copies[i] == 1:
            # Any number of pieces of i on either side, or none.
            before = reach[i + 1] if free else reach[i]
            after = values[i] if free else values[i + 1]
            for k in range(first, last):
                best[k] = before[tails[k]] + profits[k] + after[heads[k]]
            continue
        # A run of pieces from state j of a chain to state l, j <= arc < l <= j + copies, serves all arcs between them.
        count, before, after = last - first, reach[i], values[i + 1]
        following = _successors(first, last, tails, heads)
        taken = np.zeros(count, np.bool_)
        states, sums = np.empty(count + 1, np.int64), np.empty(count + 1)
        for begin in range(count):
            if taken[begin]:
                continue
            length = _chain(begin, first, following, tails, heads, profits, taken, states, sums)
            arcs = np.empty(length, np.int64)
            k = begin
            for j in range(length):
                arcs[j] = first + k
                k = following[k]
            for j in range(length):
                if before[states[j]] < 0.5 * NEVER:
                    continue
                behind = NEVER
                for end in range(min(j + copies[i], length), j, -1):
                    behind = max(behind, after[states[end]] + (sums[end] - sums[j]))
                    if before[states[j]] + behind > best[arcs[end - 1]]:
                        best[arcs[end - 1]] = before[states[j]] + behind


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
                _trace(capacity, widths, copies, first_arc, tails, heads, values, profits, row, i, head)
            continue
        more, end, value = _copies_from(first, last, copies[i] - 1, tails, heads, profits, values[i + 1], head)
        best[i] = profits[first] + value
        if best[i] > threshold:
            row[i] = 1 + more
            _trace(capacity, widths, copies, first_arc, tails, heads, values, profits, row, i + 1, end)
    return best, packings


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
                k = _arc_at(first_arc[i], first_arc[i + 1], tails, state)
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
        if further >= threshold:
            rows[count] = packing
            count += 1
    at[0] = depth
    return count
