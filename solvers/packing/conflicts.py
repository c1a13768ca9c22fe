r"""The knapsack problem with conflicts: some pairs of items may not be packed together.

    max Σ_i p_i x_i    subject to    Σ_i w_i x_i ≤ C,    x_i + x_j ≤ 1 for each conflict {i, j},    x binary.

Depth-first search over items by decreasing profit per size.  Each level has a list of items that fit and are compatible
with the chosen ones.  Three bounds limit the profit from each position of a list on:

* the items of the list by profit per size, the last one fractional (Dantzig's bound);
* the most profitable item of each clique of conflicts in the list, for a fixed cover of all items by cliques;
* the knapsack without conflicts over all later items, from a table (of sizes divided by an integer if C is large).

One pass computes the first two for all positions of a list.  The *first* item of a set comes first in the order.  The
search stores the best set of each first item, which gives many columns per call.

Sources: R. Sadykov, F. Vanderbeck, *Bin packing with conflicts: a generic branch-and-price algorithm*, INFORMS Journal
on Computing 25 (2013), for the problem and enumeration with completion bounds.  G. B. Dantzig, *Discrete-variable
extremum problems*, Operations Research 5 (1957).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_booleans, as_float, as_floats, as_integer, as_integers
from colgen.solvers.kernel_cache import njit
from colgen.solvers.stopping import Look, look_away

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_CELLS = 1 << 22
"""Maximum number of cells of the table without conflicts; every call fills it."""

_NEVER = 1 << 62
"""A node limit that no search reaches."""

_PORTION = 200_000
"""Nodes between two checks of the clock."""

_SAFE = 1.0 + 1e-12
"""Factor for rounding in Dantzig's bound, sufficient for integers up to 2^52."""


@dataclass(frozen=True)
class Compatible:
    """The result of a search.

    ``members`` are masks of sets above the given value, best first, at most one per first item.  ``bound`` is an upper
    bound on all sets: the best value, or the given one.  It is infinite if the search was not completed.
    """

    members: Mask
    values: Floats
    bound: float

    @property
    def finished(self) -> bool:
        """Whether the search was completed."""
        return math.isfinite(self.bound)


class _Search(NamedTuple):
    """State of an interruptible search; items are sorted by profit per size.

    * ``profits``, ``sizes``, ``conflicts``, ``cliques``: data of the items.
    * ``table``, ``unit``: profit of the items from each one on without conflicts, by capacity in units.
    * ``lists``, ``ends``, ``places``: the compatible items of each level, their number, and the next one.
    * ``bounds``: bounds on the profit from each position of a list on.
    * ``rooms``, ``values``, ``chosen``: remaining capacity of each level, profit of the items above, the chosen item.
    * ``largest``, ``touched``: buffers: the largest profit of each clique, and the cliques in a list.
    * ``best``, ``sets``, ``lengths``: the best value of each first item, its set, and the number of its items.
    * ``state``: level, nodes for this first item, all nodes.
    * ``most``: the best value so far, and the value to exceed.
    """

    profits: Floats
    sizes: Ints
    conflicts: Mask
    cliques: Ints
    table: Floats
    unit: int
    lists: Ints
    ends: Ints
    places: Ints
    bounds: Floats
    rooms: Ints
    values: Floats
    chosen: Ints
    largest: Floats
    touched: Ints
    best: Floats
    sets: Ints
    lengths: Ints
    state: Ints
    most: Floats


def best_compatible(
    profits: ArrayLike,
    sizes: ArrayLike,
    capacity: int,
    conflicts: ArrayLike,
    *,
    above: float = 0.0,
    spare: int = 0,
    patience: int | None = None,
    look: Look = look_away,
) -> Compatible:
    """Return the best set of compatible items, and good sets by first item.

    Parameters
    ----------
    profits : one per item; unprofitable items are ignored
    sizes : nonnegative integers, as is the capacity
    conflicts : (items, items) mask, symmetric with a false diagonal
    above : nonnegative value that sets must exceed
    spare : nodes spent on the best set of each first item
        After these, only sets that may be the best of all are searched.
    patience : nodes after which the search stops if it has found a set; None: no limit

    Raises
    ------
    ArrayError
        If a number is not an integer, out of range, or NaN, or ``conflicts`` is invalid.
    """
    gains, size, room, pairs = _validate(profits, sizes, capacity, conflicts)
    least, extra = as_float(above, "above", low=0.0), as_integer(spare, "spare", low=0)
    enough = _NEVER if patience is None else as_integer(patience, "patience", low=1)
    order = _sort_items(gains, size, room, gains > 0.0)
    if not len(order):
        return Compatible(np.zeros((0, len(gains)), dtype=np.bool_), np.zeros(0), least)
    search = _begin(gains[order], size[order], room, pairs[np.ix_(order, order)], least)
    while not (finished := _continue(search, extra, min(_PORTION, max(enough - int(search.state[2]), 1)))):
        look()
        if search.state[2] >= enough and search.most[0] > least:
            break
    found = np.flatnonzero(search.best > least)
    found = found[np.argsort(-search.best[found], kind="stable")]
    members = np.zeros((len(found), len(gains)), dtype=np.bool_)
    for row, first in enumerate(found.tolist()):
        members[row, order[search.sets[first, : search.lengths[first]]]] = True
    return Compatible(members, search.best[found], max(least, float(search.most[0])) if finished else math.inf)


def maximal_compatible(
    profits: ArrayLike,
    sizes: ArrayLike,
    capacity: int,
    conflicts: ArrayLike,
    *,
    least: float,
    limit: int = 10_000,
    look: Look = look_away,
) -> Mask | None:
    """Return all maximal sets with profit at least ``least``, one per row.  None if there are too many.

    ``profits`` are nonnegative.  Items with profit 0 belong to the sets, too.
    """
    gains, size, room, pairs = _validate(profits, sizes, capacity, conflicts)
    wanted, most = as_float(least, "least"), as_integer(limit, "limit", low=0)
    if (gains < 0.0).any():
        raise ArrayError("profits: expected nonnegative numbers for maximal sets")
    order = _sort_items(gains, size, room, np.ones(len(gains), dtype=np.bool_))
    if not len(order):
        return np.zeros((0, len(gains)), dtype=np.bool_)
    search = _begin(gains[order], size[order], room, pairs[np.ix_(order, order)], wanted)
    listed, count = np.zeros((min(most, 1024) + 1, search.sets.shape[1]), dtype=np.int64), np.zeros(1, dtype=np.int64)
    while not _continue_listing(search, room, listed, count, _PORTION):
        look()
        if count[0] > most:
            return None
        if count[0] == len(listed):
            listed = np.concatenate([listed, np.zeros_like(listed)])
    if count[0] > most:
        return None
    members = np.zeros((int(count[0]), len(gains)), dtype=np.bool_)
    for row, items in enumerate(listed[: int(count[0])]):
        members[row, order[items[items > 0] - 1]] = True
    return members


def first_fit(sizes: ArrayLike, capacity: int, conflicts: ArrayLike, order: ArrayLike) -> Ints:
    """Return each item's knapsack, the first in which it fits without conflict.

    ``order`` has all items in packing order.  No size exceeds the capacity.
    """
    size = as_integers(sizes, "sizes", shape=(None,), low=0)
    room = as_integer(capacity, "capacity", low=int(size.max(initial=0)))
    pairs = _as_conflicts(conflicts, len(size))
    turn = as_integers(order, "order", shape=size.shape, low=0, high=len(size) - 1)
    if len(np.unique(turn)) < len(turn):
        raise ArrayError("order: expected each item once")
    packed: Ints = _first_fit(size, room, pairs, turn)
    return packed


def _validate(
    profits: ArrayLike, sizes: ArrayLike, capacity: int, conflicts: ArrayLike
) -> tuple[Floats, Ints, int, Mask]:
    gains = as_floats(profits, "profits", shape=(None,))
    size = as_integers(sizes, "sizes", shape=gains.shape, low=0)
    return gains, size, as_integer(capacity, "capacity", low=0), _as_conflicts(conflicts, len(gains))


def _as_conflicts(conflicts: ArrayLike, number: int) -> Mask:
    pairs: Mask = as_booleans(conflicts, "conflicts", shape=(number, number))
    if (pairs != pairs.T).any() or pairs.diagonal().any():
        raise ArrayError("conflicts: expected a symmetric mask with a false diagonal")
    return pairs


def _sort_items(gains: Floats, size: Ints, room: int, useful: Mask) -> Ints:
    """Return the useful items that fit, by profit per size."""
    kept = np.flatnonzero(useful & (size <= room))
    # Items of size 0 come first.
    by_size = gains[kept] / np.where(size[kept] > 0, size[kept], 1e-3)
    return kept[np.lexsort((-gains[kept], -by_size))]


def _begin(profits: Floats, sizes: Ints, room: int, conflicts: Mask, least: float) -> _Search:
    n = len(profits)
    deepest = int(np.searchsorted(np.cumsum(np.sort(sizes)), room, side="right"))
    unit = max(1, -(-(room + 1) * (n + 1) // _CELLS))
    table = np.empty((n + 1, room // unit + 1))
    _fill(profits, sizes // unit, table)
    cliques = _cliques(conflicts)
    levels = deepest + 2
    search = _Search(
        profits,
        sizes,
        np.ascontiguousarray(conflicts),
        cliques,
        table,
        unit,
        np.zeros((levels, n), dtype=np.int64),
        np.zeros(levels, dtype=np.int64),
        np.zeros(levels, dtype=np.int64),
        np.zeros((levels, n + 1)),
        np.zeros(levels, dtype=np.int64),
        np.zeros(levels),
        np.zeros(levels, dtype=np.int64),
        np.zeros(n),
        np.zeros(n, dtype=np.int64),
        np.full(n, -np.inf),
        np.zeros((n, max(deepest, 1)), dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(3, dtype=np.int64),
        np.array([-np.inf, least]),
    )
    search.lists[0] = np.arange(n)
    search.ends[0], search.rooms[0] = n, room
    _bound(search, 0)
    return search


@njit(cache=True, nogil=True)
def _fill(profits: Floats, sizes: Ints, table: Floats) -> None:
    """Write the profit of the items from each one on, by capacity, last item first."""
    n, room = len(profits), table.shape[1]
    for r in range(room):
        table[n, r] = 0.0
    for i in range(n - 1, -1, -1):
        for r in range(min(sizes[i], room)):
            table[i, r] = table[i + 1, r]
        for r in range(sizes[i], room):
            table[i, r] = max(table[i + 1, r], table[i + 1, r - sizes[i]] + profits[i])


@njit(cache=True, nogil=True)
def _cliques(conflicts: Mask) -> Ints:
    """Return for each item the first clique of conflicts that admits it."""
    n = len(conflicts)
    clique, following, last = np.zeros(n, np.int64), np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    count = 0
    for i in range(n):
        found = -1
        for c in range(count):
            j = last[c]
            while j >= 0 and conflicts[i, j]:
                j = following[j]
            if j < 0:
                found = c
                break
        if found < 0:
            found = count
            count += 1
        clique[i], following[i], last[found] = found, last[found], i
    return clique


@njit(cache=True, nogil=True)
def _bound(search: _Search, level: int) -> None:
    """Write bounds on the profit from each list position of a level."""
    items, end, room = search.lists[level], search.ends[level], search.rooms[level]
    bounds, largest = search.bounds[level], search.largest
    bounds[end] = 0.0
    total, touched = 0.0, 0
    for p in range(end - 1, -1, -1):
        i = items[p]
        c = search.cliques[i]
        if largest[c] == 0.0:
            search.touched[touched] = c
            touched += 1
        if search.profits[i] > largest[c]:
            total += search.profits[i] - largest[c]
            largest[c] = search.profits[i]
        bounds[p] = total
    for t in range(touched):
        largest[search.touched[t]] = 0.0
    earned, taken, q = 0.0, 0, 0
    for p in range(end):
        if q < p:
            q, earned, taken = p, 0.0, 0
        while q < end and taken + search.sizes[items[q]] <= room:
            earned += search.profits[items[q]]
            taken += search.sizes[items[q]]
            q += 1
        part = earned
        if q < end:
            part += search.profits[items[q]] * (room - taken) / search.sizes[items[q]]
        bounds[p] = min(bounds[p], part) * _SAFE
        if q > p:
            earned -= search.profits[items[p]]
            taken -= search.sizes[items[p]]


@njit(cache=True, no_cpython_wrapper=True)
def _descend(search: _Search, level: int, place: int) -> None:
    """Choose an item of a level and write the next level's list."""
    i = search.lists[level, place]
    room = search.rooms[level] - search.sizes[i]
    count = 0
    for p in range(place + 1, search.ends[level]):
        j = search.lists[level, p]
        if search.sizes[j] <= room and not search.conflicts[i, j]:
            search.lists[level + 1, count] = j
            count += 1
    search.chosen[level] = i
    search.ends[level + 1], search.places[level + 1], search.rooms[level + 1] = count, 0, room
    search.values[level + 1] = search.values[level] + search.profits[i]


@njit(cache=True, nogil=True)
def _continue(search: _Search, spare: int, nodes: int) -> bool:
    """Search ``nodes`` more nodes.  Return whether the search is completed."""
    state, most = search.state, search.most
    level, least = state[0], most[1]
    while level >= 0 and nodes > 0:
        place = search.places[level]
        if level == 0:
            state[1] = 0
        worth = max(least, most[0])
        if spare > 0:  # search for this first item's best set, within the allowance
            if level == 0:
                worth = least
            elif state[1] <= spare:
                worth = max(least, search.best[search.chosen[0]])
        value = search.values[level]
        if place == search.ends[level] or value + search.bounds[level, place] <= worth:
            level -= 1
            continue
        i = search.lists[level, place]
        if value + search.table[i, search.rooms[level] // search.unit] <= worth:
            level -= 1  # the table bounds all later items
            continue
        search.places[level] = place + 1
        nodes -= 1
        state[1] += 1
        state[2] += 1
        _descend(search, level, place)
        first, value = search.chosen[0], search.values[level + 1]
        if value > least and value > search.best[first]:
            search.best[first], search.lengths[first] = value, level + 1
            for one in range(level + 1):
                search.sets[first, one] = search.chosen[one]
            most[0] = max(most[0], value)
        if search.ends[level + 1]:
            level += 1
            _bound(search, level)
    state[0] = level
    return bool(level < 0)


@njit(cache=True, nogil=True)
def _continue_listing(search: _Search, room: int, listed: Ints, count: Ints, nodes: int) -> bool:
    """List sets for ``nodes`` more nodes or until ``listed`` is full.  Return whether the search is completed."""
    state, least = search.state, search.most[1]
    level, n = state[0], len(search.profits)
    while level >= 0 and nodes > 0 and count[0] < len(listed):
        place = search.places[level]
        value = search.values[level]
        if place == search.ends[level] or value + search.bounds[level, place] < least:
            level -= 1
            continue
        i = search.lists[level, place]
        if value + search.table[i, search.rooms[level] // search.unit] < least:
            level -= 1
            continue
        search.places[level] = place + 1
        nodes -= 1
        _descend(search, level, place)
        level += 1
        if search.ends[level]:
            _bound(search, level)
        elif search.values[level] >= least:
            is_maximal = True  # no later item fits: does an earlier one?
            for j in range(n):
                if search.sizes[j] > search.rooms[level]:
                    continue
                free = True
                for one in range(level):
                    k = search.chosen[one]
                    if k == j or search.conflicts[k, j]:
                        free = False
                        break
                if free:
                    is_maximal = False
                    break
            if is_maximal:
                row = listed[count[0]]
                for one in range(len(row)):
                    row[one] = search.chosen[one] + 1 if one < level else 0
                count[0] += 1
        if not search.ends[level]:
            level -= 1
    state[0] = level
    return bool(level < 0)


@njit(cache=True, nogil=True)
def _first_fit(sizes: Ints, room: int, conflicts: Mask, order: Ints) -> Ints:
    n = len(sizes)
    packed, left = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    following, last = np.full(n, -1, np.int64), np.full(n, -1, np.int64)  # linked list of each knapsack's items
    count = 0
    for t in range(n):
        i = order[t]
        found = -1
        for k in range(count):
            if left[k] < sizes[i]:
                continue
            j = last[k]
            while j >= 0 and not conflicts[i, j]:
                j = following[j]
            if j < 0:
                found = k
                break
        if found < 0:
            found = count
            left[found] = room
            count += 1
        packed[i] = found
        left[found] -= sizes[i]
        following[i], last[found] = last[found], i
    return packed
