r"""The knapsack problem with conflicts: some pairs of items may not be packed together.

    max Σ_i p_i x_i    subject to    Σ_i w_i x_i ≤ C,    x_i + x_j ≤ 1 for each conflict {i, j},    x binary.

Depth first, items in the order of what they earn by size.  What can still be added to the chosen ones is a list, in
which all are compatible with them and fit; from each of its places on no more can be earned than by

* the items of the list by size, the last one in part (Dantzig's bound);
* the dearest item of each clique of conflicts that the list meets, for a fixed cover of all items by cliques;
* the knapsack without conflicts over all items from there on, read off a table (of sizes divided by a whole number,
  where the capacity is large).

The first two are found for all places of a list in one pass.  An item is the *first* of a set if it comes first in the
order: the best set of each first item is met on the way, which makes many columns of one call.

Sources: R. Sadykov, F. Vanderbeck, *Bin packing with conflicts: a generic branch-and-price algorithm*, INFORMS Journal
on Computing 25 (2013), for the problem and enumeration with completion bounds; G. B. Dantzig, *Discrete-variable
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
"""Of the table without conflicts, at most: it is filled at every call."""

_NEVER = 1 << 62
"""More nodes than any search has time for."""

_PORTION = 200_000
"""Nodes between two looks at the clock."""

_SAFE = 1.0 + 1e-12
"""Dantzig's bound divides, which rounds: a hair more than it says bounds whole numbers up to 2^52 as well."""


@dataclass(frozen=True)
class Compatible:
    """What a search has found.

    Attributes
    ----------
    members
        Sets that are worth more than what was asked for, a mask each, the best one first; of each first item one at
        most.
    values
        Of these.
    bound
        No set is worth more: the best one's value, or what was asked for.  Infinite where the search was not finished.
    """

    members: Mask
    values: Floats
    bound: float

    @property
    def finished(self) -> bool:
        """Whether the search has come to its end."""
        return math.isfinite(self.bound)


class _Search(NamedTuple):
    """A search that goes on where it was; items are numbered by what they earn by size.

    Attributes
    ----------
    profits, sizes, conflicts, cliques
        Of the items.
    table, unit
        What items from each one on earn without conflicts, by the room that there is, in units.
    lists, ends, places
        What can be added at each level, how many these are, and which comes next.
    bounds
        Of what can be earned from each place of a list on.
    rooms, values, chosen
        What is left of the capacity at each level, what is earned by the items above it, and the item of the level.
    dearest, touched
        Memory: the dearest item of each clique in a list, and which cliques are in it.
    best, sets, lengths
        Of each first item the best value, its set and how many items that has.
    state
        Level, nodes of this first item, nodes in all.
    most
        The best value of all, and what was asked for.
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
    dearest: Floats
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
    """The best set of items without conflicts that fits, and good ones by their first items.

    Parameters
    ----------
    profits
        One an item; those that earn nothing are left out.
    sizes, capacity
        Whole, not negative.
    conflicts
        A symmetric mask with a false diagonal, shape (items, items).
    above
        From 0; sets that are worth no more are of no interest.
    spare
        So many nodes are spent on each first item's own best set; beyond, only what may be the best of all is looked
        for, which is found in any case.
    patience
        After so many nodes the search ends with what it has found, if that is anything; None: never before its end.
    look
        Called every few hundredths of a second; may raise.

    Raises
    ------
    ArrayError
        Where a number is not whole, out of range, or NaN, or the mask is none of conflicts.
    """
    gains, size, room, pairs = _checked(profits, sizes, capacity, conflicts)
    least, extra = as_float(above, "above", low=0.0), as_integer(spare, "spare", low=0)
    enough = _NEVER if patience is None else as_integer(patience, "patience", low=1)
    order = _in_order(gains, size, room, gains > 0.0)
    if not len(order):
        return Compatible(np.zeros((0, len(gains)), dtype=np.bool_), np.zeros(0), least)
    search = _begin(gains[order], size[order], room, pairs[np.ix_(order, order)], least)
    while not (finished := _go_on(search, extra, min(_PORTION, max(enough - int(search.state[2]), 1)))):
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
    """All sets that earn ``least`` or more and that no item can be added to, one a row; None if there are too many.

    Parameters
    ----------
    profits
        From 0; items that earn nothing belong to the sets as well.
    limit
        At most so many sets.
    """
    gains, size, room, pairs = _checked(profits, sizes, capacity, conflicts)
    wanted, most = as_float(least, "least"), as_integer(limit, "limit", low=0)
    if (gains < 0.0).any():
        raise ArrayError("profits: expected numbers from 0, for sets that nothing can be added to")
    order = _in_order(gains, size, room, np.ones(len(gains), dtype=np.bool_))
    if not len(order):
        return np.zeros((0, len(gains)), dtype=np.bool_)
    search = _begin(gains[order], size[order], room, pairs[np.ix_(order, order)], wanted)
    listed, count = np.zeros((min(most, 1024) + 1, search.sets.shape[1]), dtype=np.int64), np.zeros(1, dtype=np.int64)
    while not _list_on(search, room, listed, count, _PORTION):
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
    """The number of the knapsack of each item: each goes, in turn, into the first one where it fits without conflict.

    Parameters
    ----------
    sizes, capacity, conflicts
        As for :func:`best_compatible`; no size exceeds the capacity.
    order
        All items, in the order in which they are packed.
    """
    size = as_integers(sizes, "sizes", shape=(None,), low=0)
    room = as_integer(capacity, "capacity", low=int(size.max(initial=0)))
    pairs = _as_conflicts(conflicts, len(size))
    turn = as_integers(order, "order", shape=size.shape, low=0, high=len(size) - 1)
    if len(np.unique(turn)) < len(turn):
        raise ArrayError("order: expected each item once")
    packed: Ints = _first_fit(size, room, pairs, turn)
    return packed


def _checked(
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


def _in_order(gains: Floats, size: Ints, room: int, useful: Mask) -> Ints:
    """The useful items that fit, by what they earn by size."""
    kept = np.flatnonzero(useful & (size <= room))
    # What takes no room comes first.
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
    """What items from each one on earn, by the room that there is: a row an item, from the last to the first."""
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
    """A clique of conflicts for each item, the first one that takes it."""
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
    """What can be earned from each place of a level's list on."""
    items, end, room = search.lists[level], search.ends[level], search.rooms[level]
    bounds, dearest = search.bounds[level], search.dearest
    bounds[end] = 0.0
    total, touched = 0.0, 0
    for p in range(end - 1, -1, -1):
        i = items[p]
        c = search.cliques[i]
        if dearest[c] == 0.0:
            search.touched[touched] = c
            touched += 1
        if search.profits[i] > dearest[c]:
            total += search.profits[i] - dearest[c]
            dearest[c] = search.profits[i]
        bounds[p] = total
    for t in range(touched):
        dearest[search.touched[t]] = 0.0
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
def _deeper(search: _Search, level: int, place: int) -> None:
    """Choose the item at a place of a level's list, and make the list of what can be added behind it."""
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
def _go_on(search: _Search, spare: int, nodes: int) -> bool:
    """Search for so many nodes more; whether that was the end."""
    state, most = search.state, search.most
    level, least = state[0], most[1]
    while level >= 0 and nodes > 0:
        place = search.places[level]
        if level == 0:
            state[1] = 0
        worth = max(least, most[0])
        if spare > 0:  # this first item's own best, as long as that is cheap
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
            level -= 1  # what comes behind is in the table as well
            continue
        search.places[level] = place + 1
        nodes -= 1
        state[1] += 1
        state[2] += 1
        _deeper(search, level, place)
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
def _list_on(search: _Search, room: int, listed: Ints, count: Ints, nodes: int) -> bool:
    """List for so many nodes more, or until there is no room for another set; whether that was the end."""
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
        _deeper(search, level, place)
        level += 1
        if search.ends[level]:
            _bound(search, level)
        elif search.values[level] >= least:
            whole = True  # nothing comes behind: does anything fit that comes before?
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
                    whole = False
                    break
            if whole:
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
    following, last = np.full(n, -1, np.int64), np.full(n, -1, np.int64)  # of each knapsack the items, the last first
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
