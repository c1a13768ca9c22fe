r"""Zero-one knapsacks with charges for rounded counts of items: the pricing problem under rank-1 cuts.

    max Σ_i p_i x_i - Σ_c f_c ⌊Σ_i w_ci x_i / q_c⌋    subject to    Σ_i a_i x_i ≤ C,  x binary,  f ≥ 0.

Several knapsacks have the same counts.  Items without counts are packed by a table over all loads
(:mod:`colgen.solvers.packing.zero_one`).  Before them, items with counts are processed one by one by labels.  A label
has a load, a value and the remainder of each open count, whose items are on both sides of the current one.  A label
dominates another if its load is no larger and its value is no smaller after paying for each count with a larger
remainder.  The other label cannot save more than these charges.

A table also bounds what a label can still gain.  For any λ between 0 and 1,

    f ⌊(s + Σ_i w_i x_i) / q⌋ ≥ λ f (s + Σ_i w_i x_i - (q - 1)) / q.

Items thus pay part of the charges in advance, and the remainders determine what a label gets back.  A few subgradient
steps improve λ.  No search is needed if the bound does not exceed the required value, as for most knapsacks at the end
of column generation.

Sources: M. Jepsen, B. Petersen, S. Spoorendonk, D. Pisinger, *Subset-row inequalities applied to the vehicle-routing
problem with time windows*, Operations Research 56 (2008), for the dominance.  H. Kellerer, U. Pferschy, D. Pisinger,
*Knapsack Problems* (2004), section 3.4, for lists of undominated states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_floats, as_integers
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import folded, kernel, overwrite
from colgen.solvers.packing.zero_one import fill, trace, validate
from colgen.solvers.stopping import Look, look_away

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

LABELS = 1 << 20
"""The search stops if an item has more labels."""

_FIRST = 1 << 10
"""Initial memory for labels."""

_PORTION = 1 << 21
"""Comparisons between two checks of the clock: a few hundredths of a second."""

_STEPS, _PATIENCE = 20, 3
"""Subgradient steps, and those without improvement before step lengths are halved."""

_CELLS = 1 << 25
"""Table cells of all subgradient steps together: larger tables get fewer steps."""

_DONE, _PAUSED, _FULL = 0, 1, 2

_ITEM, _WITHOUT, _WITHIN, _KEPT, _OLD = range(5)
"""Positions in the state of a search."""


@dataclass(frozen=True)
class Counted:
    """The best set of each knapsack.

    ``chosen`` is a (knapsacks, items) mask, and ``values`` have charges subtracted.  No set of a knapsack is worth more
    than both its entry of ``bounds`` and the required value.
    """

    values: Floats
    chosen: Mask
    bounds: Floats


class _Search(NamedTuple):
    """Labels of the previous and the current item, sorted by load.

    * ``loads``, ``values``, ``items``: load, value and chosen items (as bits) of every label.
    * ``back``, ``left``: most that is refunded of advance payments, and remainders of the counts.
    * A count that cannot become full again has the largest remainder that keeps it so.
    * ``ranks``: the labels kept so far, by decreasing value.
    * ``scratch``: remainders of the current label.
    * ``state``: the item, the next labels without and with it, the number of labels kept, and the previous item's.
    """

    loads: Ints
    values: Floats
    back: Floats
    left: NDArray[np.int8]
    items: NDArray[np.uint64]
    ranks: Ints
    scratch: NDArray[np.int8]
    state: Ints


class _Items(NamedTuple):
    """Items with counts, in search order.

    * ``profits``, ``sizes``: data of the items.
    * ``starts``: start of each item's entries.
    * ``counts``, ``weights``, ``rests``: count and weight of each entry, and the total weight of later items.
    * ``open_starts``, ``open_counts``: start of each item's open counts, and these counts, expensive ones first.
    * ``divisors``, ``charges``, ``parts``: data of the counts; a unit of weight pays the part λ f / q in advance.
    * ``suffix``: best value of later items with advance payments and of items without counts, by item and capacity.
    """

    profits: Floats
    sizes: Ints
    starts: Ints
    counts: Ints
    weights: Ints
    rests: Ints
    open_starts: Ints
    open_counts: Ints
    divisors: Ints
    charges: Floats
    parts: Floats
    suffix: Floats


def best_counted(
    profits: ArrayLike,
    sizes: ArrayLike,
    capacities: ArrayLike,
    weights: ArrayLike,
    divisors: ArrayLike,
    charges: ArrayLike,
    above: ArrayLike,
    *,
    look: Look = look_away,
) -> Counted:
    """Return the best set of each knapsack above the required value, else the empty set.

    Profits, sizes and capacities are as in :func:`colgen.solvers.packing.zero_one.best_sets`.

    Parameters
    ----------
    weights : (counts, items) array of integers, from 0 to the divisor minus 1
    divisors : one per count, at most 64
    charges : nonnegative cost each time that the divisor is reached
    above : for each knapsack, the value that sets must exceed

    Raises
    ------
    ArrayError
        If a number is not an integer, out of range, or NaN; or a table would be too large.
    """
    gains, size, room = validate(profits, sizes, capacities)
    weight = as_integers(weights, "weights", shape=("counts", gains.shape[1]), low=0)
    divisor = as_integers(divisors, "divisors", shape=weight.shape[:1], low=2, high=64)
    charge = as_floats(charges, "charges", shape=weight.shape[:1], low=0.0)
    least = as_floats(above, "above", shape=room.shape, minus_infinity=True)
    if (weight >= divisor[:, None]).any():
        raise ArrayError("weights: expected each to be less than its count's divisor")
    values, bounds = np.zeros(len(gains)), np.zeros(len(gains))
    chosen = np.zeros(gains.shape, dtype=np.bool_)
    for j in range(len(gains)):
        look()
        found = _best(gains[j], size[j], int(room[j]), weight, divisor, charge, float(least[j]), look)
        values[j], chosen[j], bounds[j] = found
    return Counted(values, chosen, bounds)


def _best(
    gains: Floats,
    sizes: Ints,
    room: int,
    weights: Ints,
    divisors: Ints,
    charges: Floats,
    above: float,
    look: Look,
) -> tuple[float, Mask, float]:
    """Return the value of the best set, the set, and an upper bound."""
    useful = (gains > 0.0) & (sizes <= room)
    inside = weights * useful
    alive = np.flatnonzero((charges > 0.0) & (inside.sum(axis=1) >= divisors))
    alive = alive[np.argsort(-charges[alive], kind="stable")]
    inside = np.ascontiguousarray(inside[alive])
    counted = np.flatnonzero(inside.any(axis=0))
    free = np.flatnonzero(useful & ~inside.any(axis=0))
    order = counted[_order_items(np.ascontiguousarray(inside[:, counted].T) > 0)]
    packed = np.concatenate([free, order[::-1]])
    table = np.empty((len(packed) + 1, room + 1))
    fill(gains[packed], sizes[packed], room, table)
    bound, none = float(table[-1, room]), np.zeros(len(gains), dtype=np.bool_)
    if bound <= above:
        return 0.0, none, bound
    counts = np.ascontiguousarray(inside[:, packed].T), divisors[alive], charges[alive]
    parts, eased = _prepay(
        gains[packed], sizes[packed], room, *counts, max(above, 0.0), table, min(_STEPS, _CELLS // table.size)
    )
    bound = min(bound, eased)
    if bound <= above:
        return 0.0, none, bound
    items = _items(gains, sizes, inside, divisors[alive], charges[alive], parts, order, table[len(free) :][::-1])
    best, chosen = 0.0, none
    for quick in (True, False):  # first one label per load: its result is a lower bound
        search = _begin(len(order), items)
        status = _PAUSED
        while status != _DONE:
            status = _advance(search, items, room, max(above, best), quick, _PORTION)
            look()
            if status == _FULL:
                if len(search.ranks) >= LABELS:
                    return best, chosen, bound
                search = _enlarge(search)
        at, value = _best_label(search, items, room)
        if value > max(above, best):
            load = int(search.loads[len(order) & 1, at])
            best, chosen = value, none.copy()
            rest = np.zeros(len(free), dtype=np.bool_)
            trace(sizes[free], room - load, table, rest)
            chosen[free] = rest
            bits = search.items[len(order) & 1, at]
            chosen[order] = [bool(int(bits[t >> 6]) >> (t & 63) & 1) for t in range(len(order))]
    return best, chosen, max(best, min(above, bound))


def _items(
    gains: Floats,
    sizes: Ints,
    inside: Ints,
    divisors: Ints,
    charges: Floats,
    parts: Floats,
    order: Ints,
    suffix: Floats,
) -> _Items:
    mine = inside[:, order].T  # items in turn, counts
    rests = mine.sum(axis=0) - np.cumsum(mine, axis=0)
    owners, counts = np.nonzero(mine)
    opened = np.cumsum(mine, axis=0) > 0
    open_owners, open_counts = np.nonzero(opened & (rests > 0))
    bounds = np.arange(len(order) + 1)
    return _Items(
        gains[order],
        sizes[order],
        np.searchsorted(owners, bounds),
        counts,
        mine[owners, counts],
        rests[owners, counts],
        np.searchsorted(open_owners, bounds),
        open_counts,
        divisors,
        charges,
        parts,
        np.ascontiguousarray(suffix),
    )


def _begin(number: int, items: _Items) -> _Search:
    counts = len(items.divisors)
    return _Search(
        np.zeros((2, _FIRST), dtype=np.int64),
        np.zeros((2, _FIRST)),
        np.full((2, _FIRST), items.parts @ (items.divisors - 1)),
        np.zeros((2, _FIRST, counts), dtype=np.int8),
        np.zeros((2, _FIRST, (number + 63) // 64), dtype=np.uint64),
        np.zeros(_FIRST, dtype=np.int64),
        np.zeros(counts, dtype=np.int8),
        np.array([0, 0, 0, 0, 1], dtype=np.int64),
    )


def _enlarge(search: _Search) -> _Search:

    def twice(array: Any, axis: int) -> Any:
        return np.concatenate([array, np.zeros_like(array)], axis=axis)

    return search._replace(
        loads=twice(search.loads, 1),
        values=twice(search.values, 1),
        back=twice(search.back, 1),
        left=twice(search.left, 1),
        items=twice(search.items, 1),
        ranks=twice(search.ranks, 0),
    )


@njit(cache=True, nogil=True)
def _order_items(member: Mask) -> Ints:
    """Return an order with few open counts: the next item opens fewest and closes most."""
    items, counts = member.shape
    left, opened = np.zeros(counts, dtype=np.int64), np.zeros(counts, dtype=np.bool_)
    for i in range(items):
        for c in range(counts):
            left[c] += member[i, c]
    order, taken = np.empty(items, dtype=np.int64), np.zeros(items, dtype=np.bool_)
    for t in range(items):
        best, least = -1, 0
        for i in range(items):
            if taken[i]:
                continue
            opens = 0
            for c in range(counts):
                if member[i, c]:
                    opens += (0 if opened[c] else 1) - (1 if left[c] == 1 else 0)
            if best < 0 or opens < least:
                best, least = i, opens
        order[t], taken[best] = best, True
        for c in range(counts):
            if member[best, c]:
                opened[c] = True
                left[c] -= 1
    return order


@njit(cache=True, nogil=True)
def _prepay(  # type: ignore[no-untyped-def]
    profits, sizes, room, weights, divisors, charges, target, table, steps
):
    """Return λ f / q of each count, its charge per unit of weight paid in advance, and the bound at the best λ found.

    ``table`` is filled for profits minus these charges.
    """
    items, counts = weights.shape
    share, best_share, step = np.full(counts, 0.5), np.zeros(counts), 1.0
    best, waited = np.inf, 0
    eased, chosen, slope = np.empty(items), np.zeros(items, dtype=np.bool_), np.empty(counts)
    for step_number in range(steps + 1):
        if step_number == steps:
            share = best_share  # fill the table of the best shares; they must not change afterwards
        part = share * charges / divisors
        bound = (part * (divisors - 1)).sum()
        for i in range(items):
            eased[i] = profits[i]
            for c in range(counts):
                eased[i] -= weights[i, c] * part[c]
        fill(eased, sizes, room, table)
        bound += table[items, room]
        if bound < best:
            best, waited = bound, 0
            best_share = share.copy()
        else:
            waited += 1
        if best <= target or step_number == steps:
            break
        if waited == _PATIENCE:
            share, waited, step = best_share.copy(), 0, 0.5 * step
            continue
        trace(sizes, room, table, chosen)
        length = 0.0
        for c in range(counts):
            inside = 0
            for i in range(items):
                if chosen[i]:
                    inside += weights[i, c]
            slope[c] = charges[c] * (divisors[c] - 1 - inside) / divisors[c]
            length += slope[c] * slope[c]
        for c in range(counts):
            if length > 0.0:
                share[c] = min(max(share[c] - step * (bound - target) / length * slope[c], 0.0), 1.0)
    return best_share * charges / divisors, best


@kernel
def _advance(search: _Search, items: _Items, room: int, above: float, quick: bool, work: int) -> int:
    """Extend labels item by item until the end, or until work or memory is used up."""
    state = search.state
    while state[_ITEM] < len(items.profits):
        while state[_WITHOUT] < state[_OLD] or state[_WITHIN] < state[_OLD]:
            if work <= 0:
                return _PAUSED
            if state[_KEPT] == len(search.ranks):
                return _FULL
            work -= 1 + _extend(search, items, room, above, quick)
        state[_ITEM] += 1
        state[_OLD] = state[_KEPT]
        state[_WITHOUT] = state[_WITHIN] = state[_KEPT] = 0
    return _DONE


@folded
def _extend(search: _Search, items: _Items, room: int, above: float, quick: bool) -> int:
    """Extend a label; keep it if it may exceed ``above`` and is not dominated.  Return the number of comparisons."""
    state = search.state
    item, old = state[_ITEM], state[_ITEM] & 1
    take = _takes_item(search, items)
    at = state[_WITHIN] if take else state[_WITHOUT]
    state[_WITHIN if take else _WITHOUT] += 1
    load = search.loads[old, at] + (items.sizes[item] if take else 0)
    value = search.values[old, at] + (items.profits[item] if take else 0.0)
    if load > room:
        state[_WITHIN] = state[_OLD]  # the others are heavier
        return 0
    value, given = _charge(search, items, at, take, value)
    if value + given + items.suffix[item + 1, room - load] <= above:
        return 0
    rank, dominated = _rank(search, items, value, quick)
    if dominated:
        return rank + 1
    _keep(search, rank, load, value, given)
    _copy_chosen(search, at, take)
    state[_KEPT] += 1
    return rank


@folded
def _takes_item(search: _Search, items: _Items) -> bool:
    """Return whether the lightest unprocessed label takes the item."""
    state = search.state
    item, old, without, within = state[_ITEM], state[_ITEM] & 1, state[_WITHOUT], state[_WITHIN]
    if without == state[_OLD]:
        return True
    if within == state[_OLD]:
        return False
    difference = search.loads[old, without] - search.loads[old, within] - items.sizes[item]
    if difference == 0:
        return bool(search.values[old, within] + items.profits[item] > search.values[old, without])
    return bool(difference > 0)


@folded
def _charge(search: _Search, items: _Items, at: int, take: bool, value: float) -> tuple[float, float]:
    """Return a label's value minus charges, and its refund.  Write its remainders to ``scratch``."""
    item, old, scratch = search.state[_ITEM], search.state[_ITEM] & 1, search.scratch
    overwrite(scratch, search.left[old, at])
    given = search.back[old, at]
    for e in range(items.starts[item], items.starts[item + 1]):
        c = items.counts[e]
        before = scratch[c]
        if take:
            scratch[c] += items.weights[e]
            if scratch[c] >= items.divisors[c]:
                scratch[c] -= items.divisors[c]
                value -= items.charges[c]
        if scratch[c] + items.rests[e] < items.divisors[c]:
            scratch[c] = items.divisors[c] - 1 - items.rests[e]  # it cannot become full again
        given -= items.parts[c] * (scratch[c] - before)
    return value, given


@folded
def _rank(search: _Search, items: _Items, value: float, quick: bool) -> tuple[int, bool]:
    """Return the rank of a label, or of one that dominates it, and whether it is dominated."""
    item, new = search.state[_ITEM], 1 - (search.state[_ITEM] & 1)
    for rank in range(search.state[_KEPT]):
        other = search.ranks[rank]
        slack = search.values[new, other] - value
        if slack < 0.0:
            return rank, False
        if not quick:
            for e in range(items.open_starts[item], items.open_starts[item + 1]):
                c = items.open_counts[e]
                if search.left[new, other, c] > search.scratch[c]:
                    slack -= items.charges[c]
                    if slack < 0.0:
                        break
        if slack >= 0.0:
            return rank, True
    return search.state[_KEPT], False


@folded
def _keep(search: _Search, rank: int, load: int, value: float, given: float) -> None:
    """Insert a label at a position by value."""
    kept, new = search.state[_KEPT], 1 - (search.state[_ITEM] & 1)
    for r in range(kept, rank, -1):
        search.ranks[r] = search.ranks[r - 1]
    search.ranks[rank] = kept
    search.loads[new, kept], search.values[new, kept], search.back[new, kept] = load, value, given
    overwrite(search.left[new, kept], search.scratch)


@folded
def _copy_chosen(search: _Search, at: int, take: bool) -> None:
    """Write the inserted label's items from label ``at``, plus the item if taken."""
    item, kept, old = search.state[_ITEM], search.state[_KEPT], search.state[_ITEM] & 1
    overwrite(search.items[1 - old, kept], search.items[old, at])
    if take:
        search.items[1 - old, kept, item >> 6] |= np.uint64(1) << np.uint64(item & 63)


@njit(cache=True, nogil=True)
def _best_label(search: _Search, items: _Items, room: int) -> tuple[int, float]:
    """Return the best final label and its value with the other items, or -1."""
    side, best, most = len(items.profits) & 1, -1, -np.inf
    for k in range(search.state[4]):
        value = search.values[side, k] + items.suffix[len(items.profits), room - search.loads[side, k]]
        if value > most:
            best, most = k, value
    return best, most
