"""Joins of paths from the source with paths to the sink."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from colgen.solvers.kernels import folded, inner, kernel
from colgen.solvers.paths.labelling.bits import ONE, address, count, lowest
from colgen.solvers.paths.labelling.boxes import box_charge
from colgen.solvers.paths.labelling.layout import COST, EDGE, NUMBER, VALUES, Floats, Ints, Labels, Rows, Side, Words
from colgen.solvers.paths.labelling.rank_one import Fields

PLACE, LABEL, FOUND, HELD = range(4)
"""Entries of ``at``: arc, forward label, number of pairs, and 1 + the place of this arc's pair (0: none)."""

Joins = Callable[[Any, Any, Any, Any], bool]


@inner
def bucket_of(value: float, lowest: float, width: float, buckets: int) -> int:
    """Return the bucket of a critical value, computed as in the search."""
    return max(0, min(buckets - 1, int((value - lowest) * (1.0 / width) + EDGE)))


@inner
def overflows(cuts: Fields, words: Words, states: int, one: int, words_back: Words, other: int, head: int) -> float:
    """Return the cost of cuts that overflow only in the two labels together."""
    added = 0.0
    for w in range(cuts.keep.shape[1]):
        mine, theirs = words[one, states + w] & cuts.keep[head, w], words_back[other, states + w]
        while mine != 0:
            cut = cuts.cut_of_bit[64 * w + lowest(mine)]
            shift = np.uint64(cuts.cut_shift[cut])
            field = (ONE << np.uint64(cuts.cut_divisor[cut] - 1)) - ONE
            if count((mine >> shift) & field) + count((theirs >> shift) & field) >= cuts.cut_divisor[cut]:
                added += cuts.cut_penalty[cut]
            mine &= ~(field << shift)
    return added


@inner
def _cheapest(
    ahead: Side, joins: Joins, arc: int, mine: Rows, one: int, theirs: Rows, first: int, end: int, best: float
) -> tuple[float, int, int]:
    """Join a label over an arc with the best of ``first:end``.  Return cost, place and the number of labels examined.

    The cost is at most ``best``; the place is -1 if there is no such label.
    """
    words, numbers = mine
    words_back, numbers_back = theirs
    consumption, joint, partner, slack = ahead.consumption, ahead.joint, ahead.partner, ahead.slack
    resources, remembered, memory = consumption.shape[1], joint.shape[1], ahead.rule.memory
    head = ahead.heads[arc]
    cost = numbers[one, COST] + ahead.costs[arc]
    found = -1
    place = first
    while place < end:
        total = cost + numbers_back[place, COST]
        if total >= best:
            break
        place += 1
        fits = True
        for w in range(remembered):
            if words[one, memory + w] & words_back[place - 1, memory + partner[w]] & joint[arc, w] != 0:
                fits = False
                break
        if not fits:
            continue
        for q in range(resources):
            used = numbers[one, VALUES + q] + consumption[arc, q]
            if used + numbers_back[place - 1, VALUES + q] > slack[q]:
                fits = False
                break
        if not fits:
            continue
        if ahead.custom and not joins(
            address(numbers, one, memory - ahead.custom),
            address(numbers_back, place - 1, memory - ahead.custom),
            address(ahead.arc_data, ahead.numbers[arc], 0),
            address(ahead.vertex_data, head, 0),
        ):
            continue
        if len(ahead.rate):  # the search is forward only, so the head is the sink
            for q in range(resources):
                value = max(numbers[one, VALUES + q] + consumption[arc, q], ahead.lower[head, q])
                total += ahead.rate[head, q] * max(0.0, value - ahead.threshold[head, q])
        if ahead.cuts.keep.shape[1]:
            total += overflows(ahead.cuts, words, ahead.rule.states, one, words_back, place - 1, head)
        if len(ahead.boxes.charge):
            total += box_charge(ahead.boxes, memory, words, one, words_back, place - 1)
        if total < best:
            best, found = total, place - 1
    return best, found, place - first + 1


class Pairs(NamedTuple):
    """The arcs for joins, and the cheapest pairs so far.

    * ``tails``: tails of all arcs.
    * ``order``: arcs to try, promising ones first.
    * ``at``: progress of the join, initially zeros.
    * ``costs``, ``found``: cost of each pair, and its row (forward label, backward label, arc).
    """

    tails: Ints
    order: Ints
    at: Ints
    costs: Floats
    found: Ints


@inner
def _most_expensive(costs: Floats) -> int:
    """Return the position of the largest (numba's ``argmax`` compiles for a second)."""
    found = 0
    for k in range(1, len(costs)):
        if costs[k] > costs[found]:
            found = k
    return found


@inner
def _bar(pairs: Pairs, cutoff: float) -> float:
    """Return the cost that a further pair must stay below: the cutoff, or the worst pair's if all places are taken."""
    return min(cutoff, pairs.costs[_most_expensive(pairs.costs)]) if pairs.at[FOUND] == len(pairs.costs) else cutoff


@inner
def _place(pairs: Pairs) -> int:
    """Return a place for this arc's pair: its own, free, or the most expensive pair's."""
    at = pairs.at
    place = at[HELD] - 1
    if place < 0:
        place = at[FOUND]
        if place == len(pairs.costs):
            place = _most_expensive(pairs.costs)
        else:
            at[FOUND] += 1
        at[HELD] = place + 1
    return int(place)


@folded
def _leaves(ahead: Side, numbers: Floats, label: int, arc: int, middle: int, is_last: bool) -> bool:
    """Return whether a path leaves the buckets before ``middle`` over an arc, or over its last arc."""
    critical, head = ahead.critical, ahead.heads[arc]
    value = numbers[label, VALUES + critical]
    if bucket_of(value, ahead.lowest, ahead.width, ahead.buckets) >= middle:
        return False
    value = max(value + ahead.consumption[arc, critical], ahead.lower[head, critical])
    return is_last or bucket_of(value, ahead.lowest, ahead.width, ahead.buckets) >= middle


@kernel
def join(
    ahead: Side, held: Labels, held_back: Labels, joins: Joins, pairs: Pairs, sink: int, middle: int, cutoff: float,
    every: bool, effort: int,
) -> tuple[bool, int]:  # fmt: skip
    """Find the cheapest pairs of labels, at most one per arc.

    A path is joined where it leaves the buckets before ``middle``, so that each occurs once; ``every``: on all arcs.
    Return whether the join is finished, and the remaining effort.
    """
    at = pairs.at
    mine, theirs = Rows(held.pool_words, held.pool_numbers), Rows(held_back.pool_words, held_back.pool_numbers)
    bar = _bar(pairs, cutoff)
    while at[PLACE] < len(pairs.order):
        arc = pairs.order[at[PLACE]]
        tail, head = pairs.tails[arc], ahead.heads[arc]
        first, others = held.pool_first[tail], held_back.pool_first[head]
        size, num_others = held.pool_size[tail], held_back.pool_size[head]
        best = pairs.costs[at[HELD] - 1] if at[HELD] > 0 else bar
        one_found, other_found, paused = -1, -1, False
        while at[LABEL] < size and num_others:
            one = first + at[LABEL]
            cost = mine.numbers[one, COST] + ahead.costs[arc]
            if cost + theirs.numbers[others, COST] >= best:
                break
            if effort <= 0:
                paused = True
                break
            at[LABEL] += 1
            if not (every or _leaves(ahead, mine.numbers, one, arc, middle, head == sink)):
                continue
            best, other, looked = _cheapest(ahead, joins, arc, mine, one, theirs, others, others + num_others, best)
            effort -= 1 + (looked >> 3)  # as comparisons in settlements
            if other >= 0:
                one_found, other_found = one, other
        if one_found >= 0:
            place = _place(pairs)
            pairs.costs[place] = best
            pairs.found[place, 0] = np.int64(mine.words[one_found, NUMBER])
            pairs.found[place, 1] = np.int64(theirs.words[other_found, NUMBER])
            pairs.found[place, 2] = arc
            bar = _bar(pairs, cutoff)
        if paused:
            return False, effort
        at[PLACE] += 1
        at[LABEL], at[HELD] = 0, 0
    return True, effort


def completions(side: Side, held: Labels, mirrored: Side) -> Floats:
    """Return lower bounds on completions by bucket and vertex of the other direction."""
    bounds = np.full((mirrored.buckets, len(side.own)), np.inf)
    value, slack = VALUES + side.critical, float(side.slack[side.critical])
    pool = Rows(held.pool_words, held.pool_numbers)
    _complete(
        side.cuts, side.rule.states, pool, held.pool_first, held.pool_size, value, slack, mirrored.lowest,
        mirrored.width, bounds,
    )  # fmt: skip
    return bounds


@kernel
def _complete(
    cuts: Fields, states: int, pool: Rows, firsts: Ints, sizes: Ints, value: int, slack: float, lowest: float,
    width: float, bounds: Floats,
) -> None:  # fmt: skip
    words, numbers = pool
    buckets = len(bounds)
    for vertex in range(len(firsts)):
        first = firsts[vertex]
        for place in range(first, first + sizes[vertex]):
            bucket = bucket_of(slack - numbers[place, value], lowest, width, buckets)
            # The path to this vertex pays for it; its completion must not pay again.
            cost = numbers[place, COST] - _vertex_payment(cuts, states, vertex, words, place)
            bounds[bucket, vertex] = min(bounds[bucket, vertex], cost)
        for bucket in range(buckets - 2, -1, -1):
            bounds[bucket, vertex] = min(bounds[bucket, vertex], bounds[bucket + 1, vertex])


@inner
def _vertex_payment(cuts: Fields, states: int, vertex: int, words: Words, label: int) -> float:
    """Return the payment of a label for cuts at its own vertex: those with a state below the vertex's weight since.

    A dominating label stays cheap enough without this payment.  If it alone has paid, its state is smaller.  If only
    the other has paid, its state is larger, and dominance has charged the difference.
    """
    paid = 0.0
    for k in range(cuts.member_first[vertex], cuts.member_first[vertex + 1]):
        cut = cuts.member_cut[k]
        field = (ONE << np.uint64(cuts.cut_divisor[cut] - 1)) - ONE
        state = count((words[label, states + cuts.cut_word[cut]] >> np.uint64(cuts.cut_shift[cut])) & field)
        if state < cuts.member_weight[k]:
            paid += cuts.cut_penalty[cut]
    return paid
