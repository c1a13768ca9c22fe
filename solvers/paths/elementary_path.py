r"""The heaviest path of k vertices, no two of one class, by a dynamic program over the classes that matter.

    max  first(v_1) + Σ_i w(v_i, v_{i+1}) + last(v_k)      over v_1, ..., v_k of k different classes.

A state is (position, vertex, which of the *remembered* classes were visited).  With all classes remembered the program
is exact and far too large; with few of them it is a relaxation whose optimum is a walk that may still visit one of the
other classes twice.  Remembering the classes that the optimal walk repeats, and solving again, ends in a path
(decremental state-space relaxation).  The states are kept few by bounds: a state is dropped if what is to come,
bounded by penalised walks (:mod:`colgen.solvers.paths.walks`), cannot lead to a path heavier than the best one known.

States are extended in portions, each to its end before the next.  That finds heavy walks early, and it bounds the
memory, for portions get smaller where the states do not fit a limit; what is lost is that states of different portions
do not exclude each other.

Sources: G. Righini and M. Salani, *New dynamic programming algorithms for the resource constrained elementary shortest
path problem*, Networks 51 (2008); N. Boland, J. Dethridge, I. Dumitrescu, *Accelerated label setting algorithms for the
elementary resource constrained shortest path problem*, Operations Research Letters 34 (2006).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_booleans, as_float, as_integer
from colgen.solvers.copying import overwrite
from colgen.solvers.kernel_cache import njit
from colgen.solvers.paths.walks import Relaxed, tolerance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

STATES = 1 << 22
"""States held at once, by default, where they fit into the memory."""

_MEMORY = 1 << 29
"""Bytes of all states; twice as many while there is made room for more."""

_PORTION = 256
"""States extended together, at first.  Larger portions let more states exclude each other, smaller ones come to the end
sooner, to walks whose weight makes the rest of the search smaller: on graphs with wide gaps that is worth much more."""

_BETWEEN_CLOCKS = 1_000_000
"""Extensions that are looked at between two looks at the clock."""

_DONE, _PAUSED, _FULL = range(3)


class Found(NamedTuple):
    """What a search over the states found.

    Attributes
    ----------
    bound
        No path without a repeated class weighs more than this and the given lower bound: the weight of ``walk``, or
        minus infinity where no walk is heavier than that bound; infinite where the search was cut short.
    walk
        The heaviest walk without a repeated *remembered* class, empty if there is none heavier than the lower bound.
    path, weight
        The heaviest path without any repeated class that was met, empty if none was; and its weight.
    states
        How many were made.
    finished
        False if the deadline came first, or the effort was used up.
    """

    bound: float
    walk: Ints
    path: Ints
    weight: float
    states: int
    finished: bool


def heaviest(
    relaxed: Relaxed,
    remembered: Mask,
    lower: float = -math.inf,
    *,
    deadline: float = math.inf,
    states: int = STATES,
    effort: float = math.inf,
    expired: Callable[[], bool] = lambda: False,
) -> Found:
    """The heaviest walk that visits no remembered class twice, if it is heavier than ``lower``.

    Parameters
    ----------
    relaxed
        The graph that is left, with penalties that bound completions.  Classes with a penalty are remembered anyway.
    remembered
        Shape (classes,).
    lower
        Weight of a known path: only heavier walks are of interest.
    deadline
        Value of ``time.monotonic()`` at which to give up.
    states
        How many may be held at once; portions get smaller until they fit, though never below a single state.
    effort
        How many may be made, roughly, before it gives up.
    expired
        Asked every few hundredths of a second whether to give up.
    """
    of = relaxed.graph
    remembered = as_booleans(remembered, "remembered", shape=(len(relaxed.penalties),))
    lower, states = as_float(lower, "lower", finite=False), as_integer(states, "states", low=1)
    n, length = len(of.first), of.length
    if n == 0:
        return Found(-math.inf, np.empty(0, np.int64), np.empty(0, np.int64), -math.inf, 0, True)
    penalty = relaxed.penalties[of.classes]
    bits = _bits(of.classes, remembered, penalty)
    words = (int(bits.max()) >> 6) + 1
    least = (length + 1) * n + 1  # a single state and what follows from it, at each position
    states = min(states, _MEMORY // (24 + 8 * words))
    capacity = max(min(4096, states), least)
    vertex, parent = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    numbers, sets = np.empty((capacity, 2)), np.empty((capacity, words), np.uint64)
    levels = np.zeros((length + 1, 3), np.int64)
    counters = np.array([0, 0, _PORTION])  # level, states made, portion
    best = np.array([lower + tolerance(lower, relaxed.scale), -math.inf])  # of walks of interest, of paths
    walks = np.full((2, length), -1, np.int64)
    while True:
        status = _search(
            *of[:4], relaxed.active, bits, penalty, relaxed.penalties.sum(), relaxed.to_go,
            vertex, parent, numbers, sets, levels, counters, best, walks, _BETWEEN_CLOCKS,
        )  # fmt: skip
        if status == _DONE or time.monotonic() > deadline or counters[1] > effort or expired():
            break
        if status == _FULL and 2 * len(vertex) > states and counters[2] > 1:
            counters[2] = max(counters[2] // 4, 1)
        elif status == _FULL:
            more = len(vertex) if 2 * len(vertex) <= states else least
            vertex, parent, numbers, sets = (_longer(array, more) for array in (vertex, parent, numbers, sets))
    walk, path = (relaxed.vertices[row] if row[0] >= 0 else row[:0] for row in walks)
    bound = best[0] if len(walk) else -math.inf
    finished = status == _DONE
    return Found(bound if finished else math.inf, walk, path, float(best[1]), int(counters[1]), finished)


def _longer(array: NDArray[Any], more: int) -> NDArray[Any]:
    """The array with room for more rows."""
    return np.concatenate((array, np.empty((more, *array.shape[1:]), array.dtype)))


def _bits(classes: Ints, remembered: Mask, penalty: Floats) -> Ints:
    """For each vertex the bit of its class, -1 if that is not remembered."""
    wanted = remembered[classes] | (penalty > 0.0)
    bits = np.full(len(classes), -1, np.int64)
    _, bits[wanted] = np.unique(classes[wanted], return_inverse=True)
    return bits


@njit(cache=True, nogil=True)
def _search(  # type: ignore[no-untyped-def]
    weights, first, last, classes, active, bits, penalty, spread, to_go,
    vertex, parent, numbers, sets, levels, counters, best, walks, budget,
):  # fmt: skip
    """Extend states depth first in portions of whole levels, until done, out of budget or out of space.

    The states of one level after the other lie in ``vertex``, ``parent``, ``numbers`` (weight so far, Σ λ of classes
    not visited) and ``sets``.  ``levels[j]``: begin, next to extend, end.
    """
    length, n = active.shape
    words = sets.shape[1]
    one = np.uint64(1)
    if counters[1] == 0:
        count = 0
        for v in range(n):
            if active[0, v] and first[v] > -np.inf:
                room = spread - (penalty[v] if bits[v] >= 0 else 0.0)
                if first[v] + to_go[0, v] + room > best[0]:
                    vertex[count], parent[count] = v, -1
                    numbers[count, 0], numbers[count, 1] = first[v], room
                    sets[count] = 0
                    if bits[v] >= 0:
                        sets[count, bits[v] >> 6] = one << np.uint64(bits[v] & 63)
                    count += 1
        levels[0, 0], levels[0, 1], levels[0, 2] = 0, 0, count
        counters[0], counters[1] = 0, max(count, 1)
    order = np.empty(0, np.int64)
    bucket = np.zeros(n + 1, np.int64)
    candidates, scores = np.empty(n, np.int64), np.empty(n)
    size = 1 << 12
    table = np.full(size, -1, np.int32)
    spent = 0
    while True:
        j = counters[0]
        begin, end = levels[j, 1], levels[j, 2]
        if begin == end:
            if j == 0:
                return _DONE
            counters[0] = j - 1
            continue
        if spent > budget:
            return _PAUSED
        stop = min(end, begin + counters[2])
        if j == length - 1:  # at the last vertex already: only the sink is left
            for s in range(begin, stop):
                _finish(s, numbers[s, 0] + last[vertex[s]], vertex, parent, classes, best, walks)
            levels[j, 1] = stop
            continue
        # The states of a portion, by vertex.
        bucket[:] = 0
        for s in range(begin, stop):
            bucket[vertex[s] + 1] += 1
        for v in range(n):
            bucket[v + 1] += bucket[v]
        if len(order) < stop - begin:
            order = np.empty(stop - begin, np.int64)
        for s in range(begin, stop):
            v = vertex[s]
            order[bucket[v]] = s
            bucket[v] += 1
        table[:] = -1
        fresh = count = end
        from_ = 0
        for u in range(n):
            until = bucket[u]
            if until == from_:
                continue
            hope = -np.inf
            for q in range(from_, until):
                hope = max(hope, numbers[order[q], 0] + numbers[order[q], 1])
            found = 0
            row = weights[u]
            for v in range(n):
                score = row[v] + to_go[j + 1, v] - penalty[v]
                if score + hope > best[0]:
                    candidates[found], scores[found] = v, score
                    found += 1
            spent += n
            ranked = np.argsort(-scores[:found])
            for q in range(from_, until):
                s = order[q]
                have = numbers[s, 0] + numbers[s, 1]
                for r in range(found):
                    v = candidates[ranked[r]]
                    if have + scores[ranked[r]] <= best[0]:
                        break
                    spent += 1
                    bit = bits[v]
                    if bit >= 0:
                        if (sets[s, bit >> 6] >> np.uint64(bit & 63)) & one:
                            continue
                    elif classes[v] == classes[u]:
                        continue
                    weight = numbers[s, 0] + row[v]
                    if count == len(vertex):
                        return _FULL
                    # The state that this one leads to, among those of the portion so far.
                    for w in range(words):
                        sets[count, w] = sets[s, w]
                    if bit >= 0:
                        sets[count, bit >> 6] |= one << np.uint64(bit & 63)
                    slot = _hash(v, sets[count]) & (size - 1)
                    known = np.int64(-1)
                    while table[slot] >= 0:
                        other = np.int64(table[slot])
                        if vertex[other] == v:
                            same = True
                            for w in range(words):
                                same &= sets[other, w] == sets[count, w]
                            if same:
                                known = other
                                break
                        slot = (slot + 1) & (size - 1)
                    if known >= 0:
                        if weight > numbers[known, 0]:
                            numbers[known, 0] = weight
                            parent[known] = s
                        continue
                    table[slot] = count
                    vertex[count], parent[count] = v, s
                    numbers[count, 0] = weight
                    numbers[count, 1] = numbers[s, 1] - (penalty[v] if bit >= 0 else 0.0)
                    count += 1
                    if 2 * (count - fresh) > size:
                        size *= 2
                        table = np.full(size, -1, np.int32)
                        for t in range(fresh, count):
                            slot = _hash(vertex[t], sets[t]) & (size - 1)
                            while table[slot] >= 0:
                                slot = (slot + 1) & (size - 1)
                            table[slot] = t
            from_ = until
        levels[j, 1] = stop
        levels[j + 1, 0], levels[j + 1, 1], levels[j + 1, 2] = fresh, fresh, count
        counters[0] = j + 1
        counters[1] += count - fresh


@njit(cache=True, nogil=True)
def _hash(vertex, words):  # type: ignore[no-untyped-def]
    """32 bits that depend on all of a state, in whole numbers that do not overflow."""
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    h = ((np.int64(vertex) + 1) * 0x3C6EF372) & 0xFFFFFFFF
    h ^= h >> 15
    for w in range(len(words)):
        h = ((h ^ np.int64(words[w] & low)) * 0x21F0AAAD) & 0xFFFFFFFF
        h ^= h >> 15
        h = ((h ^ np.int64(words[w] >> half)) * 0x735A2D97) & 0xFFFFFFFF
        h ^= h >> 15
    return h


@njit(cache=True, nogil=True)
def _finish(state, weight, vertex, parent, classes, best, walks):  # type: ignore[no-untyped-def]
    """Keep a walk that has come to its end, if it is the best one, or the best one without a repeated class."""
    if weight <= best[0] and weight <= best[1]:
        return
    length = walks.shape[1]
    walk = np.empty(length, np.int64)
    s = np.int64(state)
    for j in range(length - 1, -1, -1):
        walk[j] = vertex[s]
        s = np.int64(parent[s])
    repeated = False
    for i in range(length):
        for j in range(i):
            repeated |= classes[walk[i]] == classes[walk[j]]
    if weight > best[0]:
        best[0] = weight
        overwrite(walks[0], walk)
    if not repeated and weight > best[1]:
        best[1] = weight
        overwrite(walks[1], walk)
