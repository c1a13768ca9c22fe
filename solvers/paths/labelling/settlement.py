"""Settling labels: of those that wait at a vertex, in a bucket, the ones that no other dominates are kept."""

from __future__ import annotations

import numpy as np

from colgen.solvers.kernels import inner
from colgen.solvers.paths.labelling.dominance import Dominates, candidate, dominated, slot_of, sought
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
    Side,
)
from colgen.solvers.sorting import order_by


@inner
def _keep(held: Labels, label: int, vertex: int, settled: int) -> None:
    """Write a label that waited among those that are settled."""
    for w in range(held.words.shape[1]):
        held.words[settled, w] = held.open_words[label, w]
    held.words[settled, NUMBER] = np.uint64(settled)
    held.previous[settled] = held.open_previous[label]
    held.arcs[settled] = held.open_arcs[label]
    held.vertices[settled] = vertex


@inner
def settle(side: Side, dominates: Dominates, held: Labels, bucket: int, effort: int) -> tuple[int, int]:
    """Settle the labels that wait in a bucket, at each vertex the cheapest first.

    Returns
    -------
    tuple
        0, or what there must be more room for; and what is left of the effort.
    """
    # What a loop reads is taken out of the tuples before it: each time costs a count of references.
    at, rule, cuts = held.at, side.rule, side.cuts
    words, numbers, vertices, slots, alike = held.words, held.numbers, held.vertices, held.slots, held.alike
    open_words, open_numbers, open_next, chains = held.open_words, held.open_numbers, held.open_next, held.chains
    pool_words, pool_numbers = held.pool_words, held.pool_numbers
    pool_first, pool_size, pool_room = held.pool_first, held.pool_size, held.pool_room
    unreachable, plain, memory, same_set = side.unreachable, rule.plain, rule.memory, rule.same_set
    width = words.shape[1]
    ahead, ids, order, costs = held.ahead, held.together, held.order, held.costs
    while at[VERTEX] < len(pool_size):
        vertex = at[VERTEX]
        label, waiting = chains[bucket, vertex], 0
        while label >= 0 and waiting < TOGETHER:
            ids[waiting], costs[waiting] = label, open_numbers[label, COST]
            waiting += 1
            label = open_next[label]
        if not waiting:
            at[VERTEX] += 1
            continue
        if at[SETTLED] + waiting > len(words):
            at[WANTED] = at[SETTLED] + waiting
            return MORE_LABELS, effort
        size = 0 if same_set else pool_size[vertex]
        if not same_set and size + waiting > pool_room[vertex]:
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
            if same_set:
                slot = slot_of(rule, open_words, label, vertex)
                place = slots[slot]
                while place >= 0 and (
                    vertices[place] != vertex
                    or dominated(
                        rule, cuts, dominates, words, numbers, place, place + 1, open_words, open_numbers, label, ahead
                    )
                    != place
                ):
                    place = alike[place]
                    effort -= 1
                if place < 0:
                    alike[settled], slots[slot] = slots[slot], settled
                    _keep(held, label, vertex, settled)
                    settled += 1
                open_next[label] = at[FREE]
                at[FREE] = label
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
                    _keep(held, label, vertex, settled)
                    settled += 1
            open_next[label] = at[FREE]
            at[FREE] = label
        # merge, from the most expensive down
        place, old = begin + size + (settled - base) - 1, begin + size - 1
        for new in range(base - 1 if same_set else settled - 1, base - 1, -1):
            cost = numbers[new, COST]
            while old >= begin and pool_numbers[old, COST] > cost:
                for w in range(width):
                    pool_words[place, w] = pool_words[old, w]
                place -= 1
                old -= 1
            for w in range(width):
                pool_words[place, w] = words[new, w]
            place -= 1
        pool_size[vertex] = 0 if same_set else size + settled - base
        at[SETTLED] = settled
        effort -= waiting
        if effort <= 0:
            return PAUSED, effort
    at[VERTEX] = 0
    return DONE, effort
