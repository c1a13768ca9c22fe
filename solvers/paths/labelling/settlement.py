"""Settlement of labels: keep the undominated ones of a vertex and bucket."""

from __future__ import annotations

import numpy as np

from colgen.solvers.kernels import folded, inner
from colgen.solvers.paths.labelling.dominance import Dominates, dominance_key, find_candidate, find_dominating, slot_of
from colgen.solvers.paths.labelling.layout import (
    COST,
    DONE,
    FREE,
    MORE_LABELS,
    MORE_POOL,
    NUMBER,
    PAUSED,
    POOLED,
    SETTLED,
    TOGETHER,
    VERTEX,
    WANTED,
    Labels,
    Rows,
    Side,
)
from colgen.solvers.sorting import order_by


@inner
def _keep(held: Labels, label: int, vertex: int, settled: int) -> None:
    for w in range(held.words.shape[1]):
        held.words[settled, w] = held.open_words[label, w]
    held.words[settled, NUMBER] = np.uint64(settled)
    held.previous[settled] = held.open_previous[label]
    held.arcs[settled] = held.open_arcs[label]
    held.vertices[settled] = vertex


@inner
def settle(side: Side, dominates: Dominates, held: Labels, bucket: int, effort: int) -> tuple[int, int]:
    """Settle the open labels of a bucket, at each vertex by increasing cost.

    Return the status (0, or the array that needs memory), and the remaining effort.
    """
    at, open_next, chains, same_set = held.at, held.open_next, held.chains, side.rule.same_set
    while at[VERTEX] < len(held.pool_size):
        vertex = at[VERTEX]
        waiting = _gather(held, bucket, vertex)
        if not waiting:
            at[VERTEX] += 1
            continue
        if at[SETTLED] + waiting > len(held.words):
            at[WANTED] = at[SETTLED] + waiting
            return MORE_LABELS, effort
        size = 0 if same_set else held.pool_size[vertex]
        if not same_set and size + waiting > held.pool_room[vertex] and not _move(held, vertex, 2 * (size + waiting)):
            return MORE_POOL, effort
        chains[bucket, vertex] = open_next[held.together[waiting - 1]]
        order_by(held.costs, waiting, held.order)
        base = settled = at[SETTLED]
        if len(side.unreachable):
            for w in range(len(held.ahead)):
                held.ahead[w] = side.unreachable[bucket, vertex, w]
        for k in range(waiting):
            label = held.together[held.order[k]]
            if effort <= 0 and k:
                # Postpone the others: comparing all with many settled labels would take seconds.
                open_next[label] = chains[bucket, vertex]
                chains[bucket, vertex] = label
                continue
            if same_set:
                kept, looked = _is_undominated_by_alike(side, dominates, held, label, vertex, settled)
            else:
                kept, looked = _is_undominated(side, dominates, held, label, vertex, base, settled)
            effort -= looked
            if kept:
                _keep(held, label, vertex, settled)
                settled += 1
            open_next[label] = at[FREE]
            at[FREE] = label
        if same_set:
            held.pool_size[vertex] = 0
        else:
            _merge(held, vertex, base, settled)
        at[SETTLED] = settled
        effort -= waiting
        if effort <= 0:
            return PAUSED, effort
    at[VERTEX] = 0
    return DONE, effort


@inner
def _gather(held: Labels, bucket: int, vertex: int) -> int:
    """List the open labels of a vertex with their costs.  Return their number."""
    label, waiting = held.chains[bucket, vertex], 0
    while label >= 0 and waiting < TOGETHER:
        held.together[waiting], held.costs[waiting] = label, held.open_numbers[label, COST]
        waiting += 1
        label = held.open_next[label]
    return waiting


@inner
def _move(held: Labels, vertex: int, room: int) -> bool:
    """Move a vertex's labels to a larger range of the pool.  Return False if it is full."""
    at, begin, moved = held.at, held.pool_first[vertex], held.at[POOLED]
    if moved + room > len(held.pool_words):
        at[WANTED] = moved + room
        return False
    for place in range(held.pool_size[vertex]):
        for w in range(held.words.shape[1]):
            held.pool_words[moved + place, w] = held.pool_words[begin + place, w]
    held.pool_first[vertex], held.pool_room[vertex] = moved, room
    at[POOLED] += room
    return True


@folded
def _is_undominated_by_alike(
    side: Side, dominates: Dominates, held: Labels, label: int, vertex: int, settled: int
) -> tuple[bool, int]:
    """Return whether no label with the same memory dominates a label, and the comparisons.

    An undominated label is added to its slot as number ``settled``.
    """
    rule, kept, waiting = side.rule, Rows(held.words, held.numbers), Rows(held.open_words, held.open_numbers)
    slot = slot_of(rule, held.open_words, label, vertex)
    place, looked = held.slots[slot], 0
    while place >= 0 and (
        held.vertices[place] != vertex
        or find_dominating(rule, side.cuts, dominates, kept, place, place + 1, waiting, label, held.ahead) != place
    ):
        place = held.next_in_slot[place]
        looked += 1
    if place < 0:
        held.next_in_slot[settled], held.slots[slot] = held.slots[slot], settled
    return place < 0, looked


@folded
def _is_undominated(
    side: Side, dominates: Dominates, held: Labels, label: int, vertex: int, base: int, settled: int
) -> tuple[bool, int]:
    """Return whether neither pool nor ``base:settled`` dominates a label, and the comparisons."""
    rule, cuts, ahead = side.rule, side.cuts, held.ahead
    pool, waiting = Rows(held.pool_words, held.pool_numbers), Rows(held.open_words, held.open_numbers)
    begin = held.pool_first[vertex]
    end = begin + held.pool_size[vertex]
    cost = held.open_numbers[label, COST]
    value, others = dominance_key(rule, held.open_words, held.open_numbers, label, ahead)
    place = find_candidate(rule.memory, held.pool_words, held.pool_numbers, begin, end, cost, value, others)
    if not rule.plain and place < end:
        place = find_dominating(rule, cuts, dominates, pool, place, end, waiting, label, ahead)
    looked = (place - begin) >> 3
    if place < end:
        return False, looked
    place = find_candidate(rule.memory, held.words, held.numbers, base, settled, cost, value, others)
    if not rule.plain and place < settled:
        kept = Rows(held.words, held.numbers)
        place = find_dominating(rule, cuts, dominates, kept, place, settled, waiting, label, ahead)
    return place == settled, looked


@inner
def _merge(held: Labels, vertex: int, base: int, settled: int) -> None:
    """Merge the labels ``base:settled`` into the pool, most expensive first."""
    words, pool_words, width = held.words, held.pool_words, held.words.shape[1]
    begin, size = held.pool_first[vertex], held.pool_size[vertex]
    place, old = begin + size + (settled - base) - 1, begin + size - 1
    for new in range(settled - 1, base - 1, -1):
        cost = held.numbers[new, COST]
        while old >= begin and held.pool_numbers[old, COST] > cost:
            for w in range(width):
                pool_words[place, w] = pool_words[old, w]
            place -= 1
            old -= 1
        for w in range(width):
            pool_words[place, w] = words[new, w]
        place -= 1
    held.pool_size[vertex] = size + settled - base
