r"""The network of a bounded knapsack: the end positions of pieces, and an arc for each possible piece.

Pieces are placed from position 0 in the order of the items, so a packing is a path.  The *states* are the end positions
of pieces, sums of widths.  The arc ``(i, p)`` places a piece of item i at position p and leads to position p + w_i.
The effort depends on the number of states, not on the capacity.  A capacity of 10^10 with a hundred reachable sums is a
small problem.

Source: J. M. Valério de Carvalho, *Exact solution of bin-packing problems using column generation and
branch-and-bound*, Annals of Operations Research 86 (1999).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_booleans, as_integer, as_integers
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import overwrite
from colgen.solvers.stopping import Look, look_away

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CELLS = 1 << 26
"""Default limit on items times states; each of a few tables then takes up to 512 MiB."""

STATES = 1 << 22
"""Maximum number of states of a network, because adding an item examines all of them."""

LARGEST_CAPACITY = 1 << 62
"""Largest capacity: sums of a position and a width fit into 64 bits."""

PORTION = 20_000_000
"""Steps between two checks of the clock: a few hundredths of a second."""


class NetworkTooLargeError(ValueError):
    """A knapsack has more items times reachable sums than memory permits."""


class PackingNetwork(NamedTuple):
    """The arcs on paths from position 0.

    Attributes
    ----------
    capacity : C
    widths : one per item, in packing order
    copies : b_i, at most ⌊C / w_i⌋
    states : the reachable positions, increasing from 0
    first_arc : item i has the arcs ``first_arc[i]:first_arc[i + 1]``
    tails, heads : start and end of each arc, as indices of ``states``; increasing within an item
    origin : arc numbers in the network from which :func:`restricted` made this one; None for an original network
    least : least end position of packings
    """

    capacity: int
    widths: Ints
    copies: Ints
    states: Ints
    first_arc: Ints
    tails: NDArray[np.int32]
    heads: NDArray[np.int32]
    origin: Ints | None = None
    least: int = 0

    @property
    def ends(self) -> NDArray[np.bool_]:
        """Mask of the states at which packings may end."""
        ends: NDArray[np.bool_] = self.states >= self.least
        return ends

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
        """Position of each arc."""
        return self.states[self.tails]

    @property
    def items(self) -> Ints:
        """Item of each arc."""
        return np.repeat(np.arange(self.num_items), np.diff(self.first_arc))

    def spread(self, per_item: Floats) -> Floats:
        """Return one number per arc from one number per item."""
        return np.repeat(per_item, np.diff(self.first_arc))

    def first_items(self, count: int) -> PackingNetwork:
        """Return the network of the first ``count`` items without a least end.  It has this network's first arcs."""
        last = int(self.first_arc[count])
        return PackingNetwork(
            self.capacity,
            self.widths[:count],
            self.copies[:count],
            self.states,
            self.first_arc[: count + 1],
            self.tails[:last],
            self.heads[:last],
        )

    def arc(self, item: int, position: int) -> int:
        """Return the arc of an item at a position, or -1."""
        state = int(np.searchsorted(self.states, position))
        if state == len(self.states) or self.states[state] != position:
            return -1
        first, last = self.first_arc[item], self.first_arc[item + 1]
        k = int(first + np.searchsorted(self.tails[first:last], state))
        return k if k < last and self.tails[k] == state else -1

    def arcs(self, items: Ints, positions: Ints) -> Ints:
        """Return the arcs of many items and positions, by simultaneous binary searches.

        They are about 10 times faster than single searches.
        """
        states = np.searchsorted(self.states, positions)
        first, last = self.first_arc[items], self.first_arc[items + 1]
        while len(open_ := np.flatnonzero(first < last)):
            middle = (first[open_] + last[open_]) // 2
            before = self.tails[middle] < states[open_]
            first[open_[before]] = middle[before] + 1
            last[open_[~before]] = middle[~before]
        there = np.append(self.states, -1)[states] == positions
        there &= (first < self.first_arc[items + 1]) & (np.append(self.tails, -1)[first] == states)
        return np.where(there, first, -1)


def network(
    widths: ArrayLike,
    copies: ArrayLike,
    capacity: int,
    allowed: ArrayLike | None = None,
    *,
    cells: int = CELLS,
    look: Look = look_away,
) -> PackingNetwork:
    """Return the network of a bounded knapsack.

    Parameters
    ----------
    widths : w_i > 0 for each item
    copies : b_i ≥ 0 for each item
    capacity : C ≥ 0, at most 2⁶²
    allowed : (items, C + 1) mask of permitted arcs; by default all
    cells : limit on items times states, checked together with ``STATES`` before memory is allocated

    Raises
    ------
    ArrayError
        If a number is not an integer, or out of range.
    NetworkTooLargeError
        If items times reachable sums exceed ``cells``.
    """
    whole: Ints = as_integers(widths, "widths", shape=("items",), low=1)
    wanted: Ints = as_integers(copies, "copies", shape=whole.shape, low=0)
    capacity = as_integer(capacity, "capacity", low=0, high=LARGEST_CAPACITY)
    fitting = np.minimum(wanted, capacity // whole)
    net = _build(whole, fitting, capacity, cells, look)
    if allowed is None:
        return net
    mask = as_booleans(allowed, "allowed", shape=(len(whole), capacity + 1))
    return restricted(net, net.copies, mask[net.items, net.positions])._replace(origin=None)


def _build(widths: Ints, copies: Ints, capacity: int, cells: int, look: Look) -> PackingNetwork:
    m = len(widths)
    states, first_arc = np.zeros(1, np.int64), np.zeros(m + 1, np.int64)
    parts: list[tuple[int, int, Ints]] = []
    most, done = min(cells // (m + 1), STATES), 0
    largest = int(copies.max(initial=0))  # one item alone reaches this many sums
    while done < m:
        look()
        begin = done
        if largest <= most:
            done, states, positions = _lay_items(
                widths, copies, capacity, begin, states, most, first_arc, PORTION // 128
            )
            parts.append((begin, done, positions))
        if largest > most or len(states) > most:
            raise NetworkTooLargeError(
                f"a knapsack of {m} items and capacity {capacity} has more than {most} reachable sums of widths, "
                "the most that its memory limit permits"
            )
    tails, heads = np.empty(first_arc[m], np.int32), np.empty(first_arc[m], np.int32)
    for begin, done, positions in parts:
        look()
        _locate(widths, states, first_arc, begin, done, positions, tails, heads)
    return PackingNetwork(capacity, widths, copies, states, first_arc, tails, heads)


def restricted(net: PackingNetwork, copies: ArrayLike, allowed: ArrayLike | None = None) -> PackingNetwork:
    """Return the network with fewer copies and without the arcs that are not allowed.

    ``copies`` above the network's have no effect.  ``allowed`` is a mask of its arcs, by default all.
    """
    wanted: Ints = as_integers(copies, "copies", shape=net.widths.shape, low=0)
    fewer = np.minimum(wanted, net.copies)
    every = np.ones(net.num_arcs, np.bool_) if allowed is None else allowed
    mask = as_booleans(every, "allowed", shape=(net.num_arcs,))
    reached, first_arc, kept = _reachable(fewer, net.first_arc, net.tails, net.heads, mask, net.num_states)
    number = np.cumsum(reached, dtype=np.int32) - np.int32(1)
    tails, heads = number[net.tails[kept]], number[net.heads[kept]]
    return PackingNetwork(
        net.capacity, net.widths, fewer, net.states[reached], first_arc, tails, heads, kept, net.least
    )


def filled(net: PackingNetwork, least: int) -> PackingNetwork:
    """Return the network of the packings that end at ``least`` or beyond, without useless arcs.

    Some useless arcs of items with several copies may remain.  Without such a packing there are no arcs.
    """
    least = as_integer(least, "least", low=0, high=LARGEST_CAPACITY)
    ends = net.states >= max(least, net.least)
    useful = _useful(net.copies, net.first_arc, net.tails, net.heads, ends)
    return restricted(net, net.copies, useful)._replace(least=max(least, net.least))


# --- kernels ---------------------------------------------------------------------------------------------------------
@njit(cache=True, nogil=True)
def _lay_items(widths, copies, capacity, begin, states, most, first_arc, portion):  # type: ignore[no-untyped-def]
    """Add items from ``begin`` on until more than ``portion`` states are made.  Return (items done, states, positions).

    For each item, its new sums of widths are merged into the states.  ``positions`` are those of the new arcs.
    """
    positions = np.empty(1024, np.int64)
    sums, num_pieces = np.empty(1024, np.int64), np.empty(1024, np.int64)
    n, count, spent, i = len(states), 0, 0, begin
    while i < len(widths) and spent <= portion and n <= most:
        first, at = count, (0, 0, 0, 0)
        while copies[i] > 0:
            count, at, is_done = _lay_item(
                widths[i], copies[i], capacity, states[:n], sums, num_pieces, positions, count, at, most
            )
            if is_done:
                break
            if count == len(positions):
                positions = _enlarge(positions)
            else:
                sums, num_pieces = _enlarge(sums), _enlarge(num_pieces)
        size = at[0]
        while n + size > len(states):
            states = _enlarge(states)
        _insert(sums[:size], states, n)
        n += size
        spent += n
        i += 1
        first_arc[i] = first_arc[i - 1] + count - first
    return i, states[:n].copy(), positions[:count].copy()


@njit(cache=True, borrows=True, no_cpython_wrapper=True)
def _lay_item(w, b, capacity, states, sums, num_pieces, positions, count, at, most):  # type: ignore[no-untyped-def]
    """Append the positions of an item's arcs, and its new sums with the number of its pieces in each.

    Return the number of positions, where to continue, and whether the item is done; otherwise an array is full.
    """
    size, a, q, head = at
    n = len(states)
    while n + size <= most:
        if q < size and (a == n or sums[q] < states[a]):
            p, before = sums[q], num_pieces[q]
        elif a < n:
            p, before = states[a], 0
        else:
            break
        if p + w > capacity:
            break
        if before < b:
            if count == len(positions) or size == len(sums):
                return count, (size, a, q, head), False
            positions[count] = p
            count += 1
            while head < n and states[head] < p + w:
                head += 1
            if head == n or states[head] > p + w:
                sums[size], num_pieces[size] = p + w, before + 1
                size += 1
        if before > 0:
            q += 1
        else:
            a += 1
    return count, (size, a, q, head), True


@njit(cache=True, borrows=True)
def _insert(sums, states, n):  # type: ignore[no-untyped-def]
    """Merge other sums into the first ``n`` states, in increasing order."""
    a, q = n - 1, len(sums) - 1
    while q >= 0:
        if a >= 0 and states[a] > sums[q]:
            states[a + q + 1] = states[a]
            a -= 1
        else:
            states[a + q + 1] = sums[q]
            q -= 1


@njit(cache=True, no_cpython_wrapper=True)
def _enlarge(array):  # type: ignore[no-untyped-def]
    larger = np.empty(2 * len(array), array.dtype)
    overwrite(larger[: len(array)], array)
    return larger


@njit(cache=True, nogil=True)
def _locate(widths, states, first_arc, begin, done, positions, tails, heads):  # type: ignore[no-untyped-def]
    """Write tails and heads of the arcs of items ``begin`` to ``done``."""
    offset = first_arc[begin]
    for i in range(begin, done):
        tail, head = 0, 0
        for k in range(first_arc[i], first_arc[i + 1]):
            p = positions[k - offset]
            while states[tail] < p:
                tail += 1
            while states[head] < p + widths[i]:
                head += 1
            tails[k], heads[k] = tail, head


@njit(cache=True, nogil=True)
def _reachable(copies, first_arc, tails, heads, allowed, num_states):  # type: ignore[no-untyped-def]
    """Return what remains with fewer copies and arcs: (reached states, first arcs, kept arcs)."""
    m = len(copies)
    reached = np.zeros(num_states, np.bool_)
    reached[0] = True
    owner = np.full(num_states, -1, np.int64)  # the item that reached a state first
    num_pieces = np.zeros(num_states, np.int64)
    first = np.zeros(m + 1, np.int64)
    kept = np.empty(len(tails), np.int64)
    count = 0
    for i in range(m):
        for k in range(first_arc[i], first_arc[i + 1]):
            tail, head = tails[k], heads[k]
            if not allowed[k] or not reached[tail]:
                continue
            pieces = num_pieces[tail] if owner[tail] == i else 0
            if pieces < copies[i]:
                kept[count] = k
                count += 1
                if not reached[head]:
                    reached[head] = True
                    owner[head], num_pieces[head] = i, pieces + 1
        first[i + 1] = count
    return reached, first, kept[:count].copy()


@njit(cache=True, nogil=True)
def _useful(copies, first_arc, tails, heads, ends):  # type: ignore[no-untyped-def]
    """Return the mask of arcs followed by an end.  Copies are treated as unlimited unless there is one."""
    open_ = ends.copy()  # states from which later items lead to an end
    useful = np.zeros(len(tails), np.bool_)
    for i in range(len(copies) - 1, -1, -1):
        first, last = first_arc[i], first_arc[i + 1]
        if copies[i] == 1:  # in ascending order, no other piece of the item has opened the head of an arc
            for k in range(first, last):
                if open_[heads[k]]:
                    useful[k] = True
                    open_[tails[k]] = True
        else:
            for k in range(last - 1, first - 1, -1):
                if open_[heads[k]]:
                    useful[k] = True
                    open_[tails[k]] = True
    return useful


@njit(cache=True, no_cpython_wrapper=True)
def arc_at(first, last, tails, state):  # type: ignore[no-untyped-def]
    """Return the arc from a state among ``first`` to ``last``, or -1."""
    k = first + np.searchsorted(tails[first:last], state)
    return k if k < last and tails[k] == state else -1
