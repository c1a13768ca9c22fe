r"""Zero-one knapsacks in which what is counted in a set is charged for: the pricing problem under rank-1 cuts.

    max Σ_i p_i x_i - Σ_c f_c ⌊Σ_i w_ci x_i / q_c⌋    subject to    Σ_i a_i x_i ≤ C,  x binary,  f ≥ 0,

for each of several knapsacks, whose counts are the same.  Items that no count has are packed by a table over all loads
(:mod:`colgen.solvers.packing.zero_one`).  The others come before them, one after the other, by labels: load, value, and
of each count that has items on both sides of the place where the search stands what is left of its sum.  A label is
dominated by one of no larger load whose value is no less, once it has paid for each count of which it has more left;
that is what the other may be spared at the most.

What a label can still gain is bounded by a table, too.  For any λ between 0 and 1,

    f ⌊(s + Σ_i w_i x_i) / q⌋ ≥ λ f (s + Σ_i w_i x_i - (q - 1)) / q,

so that items pay parts of the charges in advance, and what is left of a count's sum says what a label is given back.
The best λ are looked for by a few steps along subgradients; where that bound is no better than what is asked for, which
is so of most knapsacks at the end of column generation, there is nothing to search.

Sources: M. Jepsen, B. Petersen, S. Spoorendonk, D. Pisinger, *Subset-row inequalities applied to the vehicle-routing
problem with time windows*, Operations Research 56 (2008), for the dominance; H. Kellerer, U. Pferschy, D. Pisinger,
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
from colgen.solvers.packing.zero_one import checked, fill, trace
from colgen.solvers.stopping import Look, look_away

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

LABELS = 1 << 20
"""A search ends where more labels are left of one item."""

_FIRST = 1 << 10
"""Labels that there is room for at the start."""

_PORTION = 1 << 21
"""Labels compared between two looks at the clock: some hundredths of a second."""

_STEPS, _PATIENCE = 20, 3
"""Along subgradients; after so many that are no better, steps are halved."""

_CELLS = 1 << 25
"""Of tables that are filled for them between two looks at the clock: of large tables there are fewer steps."""

_DONE, _PAUSED, _FULL = 0, 1, 2

_ITEM, _WITHOUT, _WITHIN, _KEPT, _OLD = range(5)
"""Places in the state of a search."""


@dataclass(frozen=True)
class Counted:
    """The best sets of knapsacks, one each.

    Attributes
    ----------
    values
        What the sets are worth, what is charged for being subtracted.
    chosen
        Shape (knapsacks, items).
    bounds
        No set is worth more than this, or than what was asked for.
    """

    values: Floats
    chosen: Mask
    bounds: Floats


class _Search(NamedTuple):
    """Labels of the item before and of the item that is being looked at, sorted by load, and where the search stands.

    Attributes
    ----------
    loads, values, back, left, items
        Of each label: load, value, what it is given back at the most of what items pay in advance, what is left of each
        count's sum, and the items chosen as bits; two of each.  A count that will not be full again has as much left
        as would just not fill it.
    ranks
        The labels kept so far, those of largest value first.
    scratch
        What is left of each count, of the label that is looked at.
    state
        The item, which labels come next without it and with it, the labels kept, and those of the item before.
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
    """The items that are counted, in the order of the search.

    Attributes
    ----------
    profits, sizes
        Of the items.
    starts, counts, weights, rests
        Where each item begins among the counts that it is in; those, its weights there, and the weights that come
        after it.
    open_starts, open_counts
        Where each item begins among the counts that have items on both sides of its end; those, dear ones first.
    divisors, charges, parts
        Of the counts; λ f / q is the part that each unit of weight pays in advance.
    suffix
        Best of the items behind, which pay in advance, and of those that are not counted, by what room there is: a row
        for each item.
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
    """The best set of items for each knapsack that is worth more than what is asked for; the empty set if none is.

    Parameters
    ----------
    profits, sizes, capacities
        As for :func:`colgen.solvers.packing.zero_one.best_sets`.
    weights
        Of each item in each count, shape (counts, items); whole, from 0 to the divisor less 1.
    divisors
        At most 64.
    charges
        What each time that the divisor is full costs, from 0.
    above
        Of each knapsack: sets that are worth no more are of no interest.
    look
        Called now and then; may raise.

    Raises
    ------
    ArrayError
        Where a number is not whole, out of range, or NaN; or a table would be too large.
    """
    gains, size, room = checked(profits, sizes, capacities)
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
    """The best set of one knapsack: its value, the set, and what bounds all of them."""
    useful = (gains > 0.0) & (sizes <= room)
    inside = weights * useful
    alive = np.flatnonzero((charges > 0.0) & (inside.sum(axis=1) >= divisors))
    alive = alive[np.argsort(-charges[alive], kind="stable")]
    inside = np.ascontiguousarray(inside[alive])
    counted = np.flatnonzero(inside.any(axis=0))
    free = np.flatnonzero(useful & ~inside.any(axis=0))
    order = counted[_in_turn(np.ascontiguousarray(inside[:, counted].T) > 0)]
    packed = np.concatenate([free, order[::-1]])
    table = np.empty((len(packed) + 1, room + 1))
    fill(gains[packed], sizes[packed], room, table)
    bound, none = float(table[-1, room]), np.zeros(len(gains), dtype=np.bool_)
    if bound <= above:
        return 0.0, none, bound
    counts = np.ascontiguousarray(inside[:, packed].T), divisors[alive], charges[alive]
    parts, eased = _in_advance(
        gains[packed], sizes[packed], room, *counts, max(above, 0.0), table, min(_STEPS, _CELLS // table.size)
    )
    bound = min(bound, eased)
    if bound <= above:
        return 0.0, none, bound
    items = _items(gains, sizes, inside, divisors[alive], charges[alive], parts, order, table[len(free) :][::-1])
    best, chosen = 0.0, none
    for quick in (True, False):  # one label a load at first: what it finds need not be found again
        search = _begin(len(order), items)
        status = _PAUSED
        while status != _DONE:
            status = _advance(search, items, room, max(above, best), quick, _PORTION)
            look()
            if status == _FULL:
                if len(search.ranks) >= LABELS:
                    return best, chosen, bound
                search = _grown(search)
        at, value = _last(search, items, room)
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
    begun = np.cumsum(mine, axis=0) > 0
    open_owners, open_counts = np.nonzero(begun & (rests > 0))
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
    """One label: nothing is chosen."""
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


def _grown(search: _Search) -> _Search:
    """The same search with room for twice as many labels."""

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
def _in_turn(member: Mask) -> Ints:
    """The order of items by which few counts are open at a time: the next one opens fewest, and closes most."""
    items, counts = member.shape
    left, begun = np.zeros(counts, dtype=np.int64), np.zeros(counts, dtype=np.bool_)
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
                    opens += (0 if begun[c] else 1) - (1 if left[c] == 1 else 0)
            if best < 0 or opens < least:
                best, least = i, opens
        order[t], taken[best] = best, True
        for c in range(counts):
            if member[best, c]:
                begun[c] = True
                left[c] -= 1
    return order


@njit(cache=True, nogil=True)
def _in_advance(  # type: ignore[no-untyped-def]
    profits, sizes, room, weights, divisors, charges, target, table, steps
):
    """The part of each count's charge that a unit of weight is to pay in advance, the bound, and its table."""
    items, counts = weights.shape
    share, best_share, step = np.full(counts, 0.5), np.zeros(counts), 1.0
    best, waited = np.inf, 0
    eased, chosen, slope = np.empty(items), np.zeros(items, dtype=np.bool_), np.empty(counts)
    for step_number in range(steps + 1):
        if step_number == steps:
            share = best_share  # whose table is wanted: nothing may change it from here on
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
    """Extend labels, item by item, until the last one, so much work, or until there is no room for more labels."""
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
    """Extend one label, and keep what can come to more than ``above`` and is not dominated.

    Returns how many labels it is compared with.
    """
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
    value, given = _charged(search, items, at, take, value)
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
    """Whether the next label with the item is lighter than the next one without it."""
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
def _charged(search: _Search, items: _Items, at: int, take: bool, value: float) -> tuple[float, float]:
    """A label's value less the charges for its counts, and what it is given back; ``scratch`` is left of the counts."""
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
            scratch[c] = items.divisors[c] - 1 - items.rests[e]  # it will not be full again
        given -= items.parts[c] * (scratch[c] - before)
    return value, given


@folded
def _rank(search: _Search, items: _Items, value: float, quick: bool) -> tuple[int, bool]:
    """The place of a label among those that are kept, by value, or of one that dominates it; and whether one does."""
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
    """Enter a label at a place by value."""
    kept, new = search.state[_KEPT], 1 - (search.state[_ITEM] & 1)
    for r in range(kept, rank, -1):
        search.ranks[r] = search.ranks[r - 1]
    search.ranks[rank] = kept
    search.loads[new, kept], search.values[new, kept], search.back[new, kept] = load, value, given
    overwrite(search.left[new, kept], search.scratch)


@folded
def _copy_chosen(search: _Search, at: int, take: bool) -> None:
    """Let the label that is entered choose what label ``at`` does, and the item if it is taken."""
    item, kept, old = search.state[_ITEM], search.state[_KEPT], search.state[_ITEM] & 1
    overwrite(search.items[1 - old, kept], search.items[old, at])
    if take:
        search.items[1 - old, kept, item >> 6] |= np.uint64(1) << np.uint64(item & 63)


@njit(cache=True, nogil=True)
def _last(search: _Search, items: _Items, room: int) -> tuple[int, float]:
    """The best label behind the last item, and its value with the best of what is not counted; -1 if none is left."""
    side, best, most = len(items.profits) & 1, -1, -np.inf
    for k in range(search.state[4]):
        value = search.values[side, k] + items.suffix[len(items.profits), room - search.loads[side, k]]
        if value > most:
            best, most = k, value
    return best, most
