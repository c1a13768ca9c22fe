"""Extension of labels over arcs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from colgen.solvers.kernels import inner
from colgen.solvers.paths.labelling.bits import ONE, address, count
from colgen.solvers.paths.labelling.dominance import Dominates, dominance_key, find_candidate, find_dominating
from colgen.solvers.paths.labelling.layout import (
    COST,
    DONE,
    EDGE,
    EXTENDED,
    FREE,
    MADE,
    MORE_OPEN,
    PAUSED,
    SETTLED,
    VALUES,
    WANTED,
    Floats,
    Labels,
    Rows,
    Side,
    Words,
)
from colgen.solvers.paths.labelling.rank_one import Fields

_GLANCE = 12
"""Number of cheapest settled labels that a new label is compared with."""

Extend = Callable[[Any, Any, Any, Any], bool]


@inner
def extend_label(
    side: Side, extend: Extend, arc: int, words: Words, numbers: Floats, label: int, new_words: Words,
    new_numbers: Floats, new: int,
) -> float:  # fmt: skip
    """Write the extension of a label over an arc and return its cost; infinity if it is infeasible."""
    memory, custom, head = side.rule.memory, side.custom, side.heads[arc]
    for w in range(side.own.shape[1]):
        if words[label, memory + w] & side.returning[arc, w] != 0:
            return np.inf
    for q in range(side.consumption.shape[1]):
        value = max(numbers[label, VALUES + q] + side.consumption[arc, q], side.lower[head, q])
        if value > side.upper[head, q]:
            return np.inf
        new_numbers[new, VALUES + q] = value
    if custom > 0 and not extend(
        address(numbers, label, memory - custom),
        address(side.arc_data, side.numbers[arc], 0),
        address(side.vertex_data, head, 0),
        address(new_numbers, new, memory - custom),
    ):
        return np.inf
    total: float = numbers[label, COST] + side.costs[arc]
    if len(side.rate):
        for q in range(side.consumption.shape[1]):
            total += side.rate[head, q] * max(0.0, new_numbers[new, VALUES + q] - side.threshold[head, q])
    if side.cuts.keep.shape[1]:
        total += visit(side.cuts, side.rule.states, head, words, label, new_words, new)
    for w in range(side.own.shape[1]):
        came = words[label, memory + side.come_from[w]] & side.common[arc, w]
        new_words[new, memory + w] = came | side.own[head, w]
    new_numbers[new, COST] = total
    return total


@inner
def visit(cuts: Fields, states: int, vertex: int, words: Words, label: int, new_words: Words, new: int) -> float:
    """Write the cut states of a label at a vertex and return its payment there."""
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


@inner
def _is_late(late: Words, memory: int, words: Words, label: int, bucket: int, vertex: int) -> bool:
    """Return whether a path can no longer close one of its open requests."""
    for w in range(late.shape[2]):
        if words[label, memory + w] & late[bucket, vertex, w] != 0:
            return True
    return False


@inner
def extend_all(side: Side, by: Extend, dominates: Dominates, held: Labels, effort: int) -> tuple[int, int]:
    """Extend the settled labels over all arcs.  Return status and effort as ``settle`` does."""
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
    first, ends, heads, arc_numbers = side.first, side.end, side.heads, side.numbers
    bounds, bounded, cutoff, no_vertices = side.bounds, len(side.bounds) > 0, side.cutoff, held.no_vertices
    lowest_value, per_width, last = side.lowest, 1.0 / side.width, side.buckets - 1
    late, opens = side.late, side.opens if len(side.late) else 0
    at_value = VALUES + (side.critical if side.order < 0 else side.consumption.shape[1] + side.order)
    while at[EXTENDED] < at[SETTLED]:
        label = at[EXTENDED]
        vertex = vertices[label]
        begin, end = first[vertex], ends[vertex]
        if at[MADE] + end - begin >= len(open_words):
            at[WANTED] = at[MADE] + end - begin + 1
            return MORE_OPEN, effort
        free = at[FREE]
        for arc in range(begin, end):
            new = free if free >= 0 else at[MADE]
            total = extend_label(side, by, arc, words, numbers, label, open_words, open_numbers, new)
            if total == np.inf:
                continue
            head = heads[arc]
            bucket = max(0, min(last, int((open_numbers[new, at_value] - lowest_value) * per_width + EDGE)))
            if bounded and total + bounds[bucket, head] >= cutoff:
                continue
            if opens and _is_late(late, rule.memory, open_words, new, bucket, head):
                continue
            place = pool_first[head]
            stop = place + min(pool_size[head], _GLANCE)
            if stop > place:
                value, others = dominance_key(rule, open_words, open_numbers, new, no_vertices)
                place = find_candidate(rule.memory, pool_words, pool_numbers, place, stop, total, value, others)
                if not rule.plain and place < stop:
                    pool, waiting = Rows(pool_words, pool_numbers), Rows(open_words, open_numbers)
                    place = find_dominating(rule, cuts, dominates, pool, place, stop, waiting, new, no_vertices)
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
