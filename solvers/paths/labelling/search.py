"""Settling and extending labels, bucket by bucket.

A label waits until all paths of smaller values of the critical resource have been extended; then those of its vertex
and bucket are looked at by increasing cost, and what a settled label dominates is dropped.  Arcs that do not consume,
and wide buckets, bring labels to a bucket that was settled: it is then settled again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from solvers.paths.labelling.bits import ONE, address, count
from solvers.paths.labelling.dominance import Dominates, candidate, dominated, sought
from solvers.paths.labelling.layout import (
    BUCKET,
    COST,
    EDGE,
    EXTENDED,
    FREE,
    MADE,
    NUMBER,
    PHASE,
    POOLED,
    SETTLED,
    VALUES,
    VERTEX,
    WANTED,
    Labels,
    Side,
    Words,
)
from solvers.paths.labelling.rank_one import Fields
from solvers.sorting import order_by

DONE, PAUSED, MORE_LABELS, MORE_OPEN, MORE_POOL = range(5)
"""Why a search came back: its buckets are done, its effort is used up, or it needs room for more labels."""

_SETTLING, _EXTENDING = 0, 1

_TOGETHER = 8192
"""Labels of a vertex that are settled together, at most."""

_GLANCE = 12
"""Settled labels, the cheapest ones, that a new label is held against before it is kept to wait."""

Extend = Callable[[Any, Any, Any, Any], bool]


@njit(inline="always")
def _settle(side: Side, dominates: Dominates, held: Labels, bucket: int, effort: int) -> tuple[int, int]:
    """Settle the labels that wait in a bucket, at each vertex the cheapest first.

    Returns
    -------
    tuple
        0, or what there must be more room for; and what is left of the effort.
    """
    # What a loop reads is taken out of the tuples before it: each time costs a count of references.
    at, rule, cuts = held.at, side.rule, side.cuts
    words, numbers, previous, arcs, vertices = held.words, held.numbers, held.previous, held.arcs, held.vertices
    open_words, open_numbers, open_next = held.open_words, held.open_numbers, held.open_next
    open_previous, open_arcs, chains = held.open_previous, held.open_arcs, held.chains
    pool_words, pool_numbers = held.pool_words, held.pool_numbers
    pool_first, pool_size, pool_room = held.pool_first, held.pool_size, held.pool_room
    unreachable, plain, memory = side.unreachable, rule.plain, rule.memory
    width = words.shape[1]
    ahead = np.zeros(rule.memory_words, dtype=np.uint64)
    ids, order, costs = np.empty(_TOGETHER, dtype=np.int64), np.empty(_TOGETHER, dtype=np.int64), np.empty(_TOGETHER)
    while at[VERTEX] < len(pool_size):
        vertex = at[VERTEX]
        label, waiting = chains[bucket, vertex], 0
        while label >= 0 and waiting < _TOGETHER:
            ids[waiting], costs[waiting] = label, open_numbers[label, COST]
            waiting += 1
            label = open_next[label]
        if not waiting:
            at[VERTEX] += 1
            continue
        if at[SETTLED] + waiting > len(words):
            at[WANTED] = at[SETTLED] + waiting
            return MORE_LABELS, effort
        size = pool_size[vertex]
        if size + waiting > pool_room[vertex]:
            room = 2 * (size + waiting)
            if at[POOLED] + room > len(pool_words):
                at[WANTED] = at[POOLED] + room
                return MORE_POOL, effort
            begin, moved = pool_first[vertex], at[POOLED]
            for place in range(size):
                for w in range(width):
                    pool_words[moved + place, w] = pool_words[begin + place, w]
            pool_first[vertex], pool_room[vertex] = moved, room
            at[POOLED] += room
        chains[bucket, vertex] = label
        order_by(costs, waiting, order)
        begin, base = pool_first[vertex], at[SETTLED]
        settled = base
        if len(unreachable):
            for w in range(len(ahead)):
                ahead[w] = unreachable[bucket, vertex, w]
        for k in range(waiting):
            label = ids[order[k]]
            if effort <= 0 and k:
                # The others wait on: against many settled labels, all of them would take seconds.
                open_next[label] = chains[bucket, vertex]
                chains[bucket, vertex] = label
                continue
            cost = costs[order[k]]
            value, others = sought(rule, open_words, open_numbers, label, ahead)
            place = candidate(memory, pool_words, pool_numbers, begin, begin + size, cost, value, others)
            if not plain and place < begin + size:
                place = dominated(
                    rule, cuts, dominates, pool_words, pool_numbers, place, begin + size, open_words, open_numbers,
                    label, ahead,
                )  # fmt: skip
            effort -= (place - begin) >> 3
            if place == begin + size:
                place = candidate(memory, words, numbers, base, settled, cost, value, others)
                if not plain and place < settled:
                    place = dominated(
                        rule, cuts, dominates, words, numbers, place, settled, open_words, open_numbers, label, ahead
                    )
                if place == settled:
                    for w in range(width):
                        words[settled, w] = open_words[label, w]
                    words[settled, NUMBER] = np.uint64(settled)
                    previous[settled] = open_previous[label]
                    arcs[settled] = open_arcs[label]
                    vertices[settled] = vertex
                    settled += 1
            open_next[label] = at[FREE]
            at[FREE] = label
        # merge, from the most expensive down
        place, old = begin + size + (settled - base) - 1, begin + size - 1
        for new in range(settled - 1, base - 1, -1):
            cost = numbers[new, COST]
            while old >= begin and pool_numbers[old, COST] > cost:
                for w in range(width):
                    pool_words[place, w] = pool_words[old, w]
                place -= 1
                old -= 1
            for w in range(width):
                pool_words[place, w] = words[new, w]
            place -= 1
        pool_size[vertex] = size + settled - base
        at[SETTLED] = settled
        effort -= waiting
        if effort <= 0:
            return PAUSED, effort
    at[VERTEX] = 0
    return DONE, effort


@njit(inline="always")
def _extend(side: Side, extend: Extend, dominates: Dominates, held: Labels, effort: int) -> tuple[int, int]:
    """Extend the settled labels that have not been, each over all arcs; what comes back is as of :func:`_settle`."""
    at, rule, cuts = held.at, side.rule, side.cuts
    words, numbers, vertices = held.words, held.numbers, held.vertices
    open_words, open_numbers, open_next = held.open_words, held.open_numbers, held.open_next
    open_previous, open_arcs, chains = held.open_previous, held.open_arcs, held.chains
    pool_words, pool_numbers, pool_first, pool_size = (
        held.pool_words,
        held.pool_numbers,
        held.pool_first,
        held.pool_size,
    )
    first, ends, heads, arc_costs, arc_numbers = side.first, side.end, side.heads, side.costs, side.numbers
    consumption, lower, upper = side.consumption, side.lower, side.upper
    own, common, returning, bounds = side.own, side.common, side.returning, side.bounds
    arc_data, vertex_data, custom = side.arc_data, side.vertex_data, side.custom
    resources, remembered, cut_words = consumption.shape[1], own.shape[1], cuts.keep.shape[1]
    plain, memory, bounded, cutoff = rule.plain, rule.memory, len(bounds) > 0, side.cutoff
    lowest_value, per_width, last = side.lowest, 1.0 / side.width, side.buckets - 1
    at_value = VALUES + (side.critical if side.order < 0 else resources + side.order)
    nothing = np.zeros(remembered, dtype=np.uint64)
    while at[EXTENDED] < at[SETTLED]:
        label = at[EXTENDED]
        vertex = vertices[label]
        begin, end = first[vertex], ends[vertex]
        if at[MADE] + end - begin >= len(open_words):
            at[WANTED] = at[MADE] + end - begin + 1
            return MORE_OPEN, effort
        cost = numbers[label, COST]
        free = at[FREE]
        for arc in range(begin, end):
            blocked = False
            for w in range(remembered):
                if words[label, memory + w] & returning[arc, w] != 0:
                    blocked = True
                    break
            if blocked:
                continue
            head = heads[arc]
            new = free if free >= 0 else at[MADE]
            for q in range(resources):
                value = max(numbers[label, VALUES + q] + consumption[arc, q], lower[head, q])
                if value > upper[head, q]:
                    blocked = True
                    break
                open_numbers[new, VALUES + q] = value
            if blocked:
                continue
            if custom > 0 and not extend(
                address(numbers, label, memory - custom),
                address(arc_data, arc_numbers[arc], 0),
                address(vertex_data, head, 0),
                address(open_numbers, new, memory - custom),
            ):
                continue
            total = cost + arc_costs[arc]
            if cut_words:
                total += _visit(cuts, rule.states, head, words, label, open_words, new)
            bucket = max(0, min(last, int((open_numbers[new, at_value] - lowest_value) * per_width + EDGE)))
            if bounded and total + bounds[bucket, head] >= cutoff:
                continue
            open_numbers[new, COST] = total
            for w in range(remembered):
                open_words[new, memory + w] = (words[label, memory + w] & common[arc, w]) | own[head, w]
            place = pool_first[head]
            stop = place + min(pool_size[head], _GLANCE)
            if stop > place:
                value, others = sought(rule, open_words, open_numbers, new, nothing)
                place = candidate(memory, pool_words, pool_numbers, place, stop, total, value, others)
                if not plain and place < stop:
                    place = dominated(
                        rule, cuts, dominates, pool_words, pool_numbers, place, stop, open_words, open_numbers, new,
                        nothing,
                    )  # fmt: skip
                if place < stop:
                    continue
            if free >= 0:
                free = open_next[new]
            else:
                at[MADE] += 1
            open_previous[new] = label
            open_arcs[new] = arc_numbers[arc]
            open_next[new] = chains[bucket, head]
            chains[bucket, head] = new
        at[FREE] = free
        at[EXTENDED] += 1
        effort -= end - begin
        if effort <= 0:
            return PAUSED, effort
    return DONE, effort


@njit(inline="always")
def _visit(cuts: Fields, states: int, vertex: int, words: Words, label: int, new_words: Words, new: int) -> float:
    """Write the states of a label that comes to a vertex, and return what it pays there."""
    paid = 0.0
    for w in range(cuts.keep.shape[1]):
        new_words[new, states + w] = words[label, states + w] & cuts.keep[vertex, w]
    for k in range(cuts.member_first[vertex], cuts.member_first[vertex + 1]):
        cut = cuts.member_cut[k]
        column, shift = states + cuts.cut_word[cut], np.uint64(cuts.cut_shift[cut])
        field = (ONE << np.uint64(cuts.cut_divisor[cut] - 1)) - ONE
        state = count((new_words[new, column] >> shift) & field) + cuts.member_weight[k]
        if state >= cuts.cut_divisor[cut]:
            state -= cuts.cut_divisor[cut]
            paid += cuts.cut_penalty[cut]
        others = new_words[new, column] & ~(field << shift)
        new_words[new, column] = others | (((ONE << np.uint64(state)) - ONE) << shift)
    return paid


@njit(cache=True, nogil=True)
def advance(
    extend: Extend, dominates: Dominates, extend_back: Extend, dominates_back: Dominates, ahead: Side, held: Labels,
    back: Side, held_back: Labels, end: int, end_back: int, meeting: int, extending: bool, effort: int,
) -> tuple[int, int, bool]:  # fmt: skip
    """Settle, and extend, the labels of both directions, bucket by bucket, where fewer labels are.

    Parameters
    ----------
    end, end_back
        The bucket before which each direction ends.
    meeting
        Both end where they have come to so many buckets together.

    Returns
    -------
    tuple
        Why it came back; what is left of the effort (arcs that labels are extended over, and pairs compared); and
        whether it is the search backwards that needs room.
    """
    # One call of each kernel serves both directions: two would be compiled twice.
    while held.at[BUCKET] + held_back.at[BUCKET] < meeting:
        more, more_back = held.at[BUCKET] < end, held_back.at[BUCKET] < end_back
        if not more and not more_back:
            break
        backwards = more_back and (not more or held.at[SETTLED] > held_back.at[SETTLED])
        if backwards:
            side, mine, extending_by, dominating_by = back, held_back, extend_back, dominates_back
        else:
            side, mine, extending_by, dominating_by = ahead, held, extend, dominates
        at = mine.at
        bucket = at[BUCKET]
        while at[BUCKET] == bucket:
            if at[PHASE] == _SETTLING:
                status, effort = _settle(side, dominating_by, mine, bucket, effort)
                if status == DONE:
                    if extending and at[EXTENDED] < at[SETTLED]:
                        at[PHASE] = _EXTENDING
                    else:
                        at[BUCKET] += 1
            else:
                status, effort = _extend(side, extending_by, dominating_by, mine, effort)
                if status == DONE:
                    at[PHASE] = _SETTLING
            if status != DONE:
                return status, effort, backwards
    return DONE, effort, False
