r"""Zero-one knapsacks with several capacities: best sets by branch and bound.

    max Σ_i p_i x_i    subject to    Σ_i w_ji x_i ≤ C_j  for each capacity j,    x binary.

Multipliers u ≥ 0 replace the capacities by one, Σ_i (uᵀw_i) x_i ≤ uᵀC.  Filling it in the order of p_i / uᵀw_i, with a
fraction of the last item, bounds the values of all sets.  With the best multipliers of the Lagrangian relaxation this
is the bound of the linear program.  A search in depth takes or leaves the items in that order.  At each node it fills
the rest of the capacity with the items that still fit.  The worst case takes exponential time.

Source: H. Kellerer, U. Pferschy, D. Pisinger, *Knapsack Problems* (2004), chapter 9.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_floats
from colgen.solvers.kernels import inner, kernel
from colgen.solvers.stopping import Look, look_away

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_NODES = 1 << 18
"""Nodes between two checks of the clock."""

_STEPS = 60
"""Steps towards the best multipliers."""

_ROUNDING = 1e-9
"""Share of a capacity by which rounding may exceed it."""


class _Search(NamedTuple):
    """Buffers of a search.  Levels are items in search order.

    * ``order``: the items that may be taken; ``profits``, ``sizes`` and ``joint``: their data, the last for the one
      capacity that replaces all.
    * ``multipliers``: the present and the best ones, and a direction.
    * ``rooms``, ``joint_room``, ``values``: capacities left and value before each level.
    * ``taken``, ``best``: items taken by level, now and in the best set.
    * ``record``: the best value; ``state``: the knapsack, the level (-1 before the start) and the number of levels.
    """

    order: Ints
    profits: Floats
    sizes: Floats
    joint: Floats
    multipliers: Floats
    rooms: Floats
    joint_room: Floats
    values: Floats
    taken: Mask
    best: Mask
    record: Floats
    state: Ints


def best_sets_within(
    profits: ArrayLike, sizes: ArrayLike, capacities: ArrayLike, *, look: Look = look_away
) -> tuple[Floats, Mask]:
    """Return the best set of items for each array of profits.

    Parameters
    ----------
    profits : (knapsacks, items) array; -inf for forbidden items
    sizes : (capacities, items) array of nonnegative numbers, the same for all knapsacks
    capacities : nonnegative numbers; rounding may exceed one by a relative 1e-9

    Returns
    -------
    values : values of the best sets, 0 for the empty set
    chosen : (knapsacks, items) mask

    Raises
    ------
    ArrayError
        If a number is negative where it must not be, infinite, or NaN.
    """
    gains = as_floats(profits, "profits", shape=(None, None), minus_infinity=True)
    weights = as_floats(sizes, "sizes", shape=(None, gains.shape[1]), low=0.0)
    room = as_floats(capacities, "capacities", shape=weights.shape[:1], low=0.0)
    chosen = np.zeros(gains.shape, dtype=np.bool_)
    if gains.size:
        with np.errstate(over="ignore"):  # an item that is too large by far fits no better
            shares = weights / np.where(room > 0.0, room, 1.0)[:, np.newaxis]
        shares[room == 0.0] = np.where(weights[room == 0.0] > 0.0, 2.0, 0.0)
        search = _begin(gains.shape[1], len(room))
        shares = np.ascontiguousarray(np.minimum(shares, 2.0).T)
        while not _continue(search, gains, shares, chosen, _NODES):
            look()
    return np.where(chosen, gains, 0.0).sum(axis=1), chosen


def _begin(items: int, capacities: int) -> _Search:
    return _Search(
        order=np.zeros(items, dtype=np.int64),
        profits=np.zeros(items),
        sizes=np.zeros((items, capacities)),
        joint=np.zeros(items),
        multipliers=np.zeros((3, capacities)),
        rooms=np.zeros((items + 1, capacities)),
        joint_room=np.zeros(items + 1),
        values=np.zeros(items + 1),
        taken=np.zeros(items, dtype=np.bool_),
        best=np.zeros(items, dtype=np.bool_),
        record=np.zeros(1),
        state=np.array([0, -1, 0], dtype=np.int64),
    )


@kernel
def _continue(search: _Search, profits: Floats, shares: Floats, chosen: Mask, nodes: int) -> bool:
    """Continue for a number of nodes.  Return True after the last knapsack."""
    state = search.state
    while state[0] < len(profits):
        if state[1] < 0:
            _start(search, profits[state[0]], shares)
        nodes = _descend(search, nodes)
        if state[1] >= 0:
            return False
        for k in range(state[2]):
            chosen[state[0], search.order[k]] = search.best[k]
        state[0] += 1
    return True


@inner
def _start(search: _Search, profits: Floats, shares: Floats) -> None:
    """Choose the multipliers and the order of the items, and go to the first level."""
    count, largest, capacities = 0, 0.0, shares.shape[1]
    for i in range(len(profits)):
        fits = profits[i] > 0.0
        for j in range(capacities):
            fits = fits and shares[i, j] <= 1.0 + _ROUNDING
        if fits:
            search.order[count] = i
            count += 1
            largest = max(largest, profits[i])
    unit = math.ldexp(1.0, -math.frexp(largest)[1]) if largest >= 1e-290 else 1e300
    for k in range(count):
        search.profits[k] = profits[search.order[k]] * unit
        for j in range(capacities):
            search.sizes[k, j] = shares[search.order[k], j]
    _choose_multipliers(search, count)
    best = search.multipliers[1]
    for k in range(count):
        search.joint[k] = 0.0
        for j in range(capacities):
            search.joint[k] += best[j] * search.sizes[k, j]
    _sort(search, count)
    search.joint_room[0] = 0.0
    for j in range(capacities):
        search.rooms[0, j] = 1.0 + _ROUNDING
        search.joint_room[0] += best[j] * (1.0 + _ROUNDING)
    search.values[0], search.record[0] = 0.0, 0.0
    for k in range(count):
        search.best[k] = False
    search.state[1], search.state[2] = 0, count


@inner
def _choose_multipliers(search: _Search, count: int) -> None:
    """Lower the Lagrangian bound Σ_i max(p_i - uᵀw_i, 0) + Σ_j u_j by subgradient steps of decreasing length."""
    now, best, slope = search.multipliers[0], search.multipliers[1], search.multipliers[2]
    capacities, least, unit = len(now), np.inf, 0.0
    for k in range(count):
        unit += search.profits[k]
    for j in range(capacities):
        now[j], best[j] = 0.5 * unit / capacities, 0.0
    for step in range(_STEPS):
        bound, length = 0.0, 0.0
        for j in range(capacities):
            slope[j] = 1.0
            bound += now[j]
        for k in range(count):
            rest = search.profits[k]
            for j in range(capacities):
                rest -= now[j] * search.sizes[k, j]
            if rest > 0.0:
                bound += rest
                for j in range(capacities):
                    slope[j] -= search.sizes[k, j]
        for j in range(capacities):
            length += slope[j] * slope[j]
            if bound < least:
                best[j] = now[j]
        least = min(least, bound)
        if length == 0.0:
            break
        pace = 0.5 * unit * 0.87**step / math.sqrt(length)
        for j in range(capacities):
            now[j] = max(now[j] - pace * slope[j], 0.0)


@inner
def _sort(search: _Search, count: int) -> None:
    """Sort the items by decreasing profit per joint size, by insertion."""
    for k in range(1, count):
        at = k
        while at > 0 and search.profits[at] * search.joint[at - 1] > search.profits[at - 1] * search.joint[at]:
            before = at - 1
            search.order[at], search.order[before] = search.order[before], search.order[at]
            search.profits[at], search.profits[before] = search.profits[before], search.profits[at]
            search.joint[at], search.joint[before] = search.joint[before], search.joint[at]
            for j in range(search.sizes.shape[1]):
                search.sizes[at, j], search.sizes[before, j] = search.sizes[before, j], search.sizes[at, j]
            at = before


@inner
def _bound(search: _Search, level: int, count: int) -> float:
    """Return the value so far plus that of the remaining items that fit, the last one in part."""
    value: float = search.values[level]
    room, left = search.joint_room[level], search.rooms[level]
    for k in range(level, count):
        fits = True
        for j in range(len(left)):
            fits = fits and search.sizes[k, j] <= left[j]
        if not fits:
            continue
        if search.joint[k] > room:
            value += search.profits[k] * max(room, 0.0) / search.joint[k]
            break
        value += search.profits[k]
        room -= search.joint[k]
    return value


@inner
def _descend(search: _Search, nodes: int) -> int:
    """Continue the search of one knapsack; level -1 marks its end.  Return the number of nodes left."""
    level, count = search.state[1], search.state[2]
    while nodes > 0:
        nodes -= 1
        if search.values[level] > search.record[0]:
            search.record[0] = search.values[level]
            for k in range(count):
                search.best[k] = k < level and search.taken[k]
        if level < count and _bound(search, level, count) > search.record[0]:
            fits = True
            for j in range(search.rooms.shape[1]):
                fits = fits and search.sizes[level, j] <= search.rooms[level, j]
            level = _decide(search, level, fits)
            continue
        level -= 1
        while level >= 0 and not search.taken[level]:
            level -= 1
        is_over = level < 0
        if is_over:
            break
        level = _decide(search, level, is_over)  # a literal would be compiled once more
    search.state[1] = level
    return nodes


@inner
def _decide(search: _Search, level: int, take: bool) -> int:
    """Take or leave the item of a level.  Return the next level."""
    share = 1.0 if take else 0.0
    search.taken[level] = take
    search.values[level + 1] = search.values[level] + share * search.profits[level]
    search.joint_room[level + 1] = search.joint_room[level] - share * search.joint[level]
    for j in range(search.rooms.shape[1]):
        search.rooms[level + 1, j] = search.rooms[level, j] - share * search.sizes[level, j]
    return level + 1
