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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_booleans, as_float, as_integer
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import folded, inner, overwrite
from colgen.solvers.paths.walks import Relaxed, tolerance
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Vertices = NDArray[np.int32]

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

_ONE = np.uint64(1)


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
        False if time was over first, or the effort was used up.
    """

    bound: float
    walk: Ints
    path: Ints
    weight: float
    states: int
    finished: bool


class _Program(NamedTuple):
    """The dynamic program.

    Attributes
    ----------
    active
        Where each vertex may stand.
    bits
        Of each vertex that of its class, -1 where that is not remembered.
    penalty, spread
        λ of each vertex's class, and Σ λ of all classes.
    to_go
        The best penalised weight from each vertex at each position to the sink.
    """

    weights: Floats
    first: Floats
    last: Floats
    classes: Ints
    active: Mask
    bits: Ints
    penalty: Floats
    spread: float
    to_go: Floats


class _States(NamedTuple):
    """States that are held.

    Attributes
    ----------
    vertex, parent
        Where each ends, and the state that it extends.
    numbers
        The weight so far, and Σ λ of classes not visited.
    sets
        The remembered classes that were visited.
    """

    vertex: Vertices
    parent: Vertices
    numbers: Floats
    sets: NDArray[np.uint64]


def heaviest(
    relaxed: Relaxed,
    remembered: Mask,
    lower: float = -math.inf,
    *,
    states: int = STATES,
    effort: float = math.inf,
    expired: Expired = never,
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
    held = _States(
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty((capacity, 2)),
        np.empty((capacity, words), np.uint64),
    )
    program = _Program(*of[:4], relaxed.active, bits, penalty, relaxed.penalties.sum(), relaxed.to_go)
    levels = np.zeros((length + 1, 3), np.int64)
    counters = np.array([0, 0, _PORTION])  # level, states made, portion
    best = np.array([lower + tolerance(lower, relaxed.scale), -math.inf])  # of walks of interest, of paths
    walks = np.full((2, length), -1, np.int64)
    while True:
        status = _search(program, held, levels, counters, best, walks, _BETWEEN_CLOCKS)
        if status == _DONE or counters[1] > effort or expired():
            break
        room = len(held.vertex)
        if status == _FULL and 2 * room > states and counters[2] > 1:
            counters[2] = max(counters[2] // 4, 1)
        elif status == _FULL:
            more = room if 2 * room <= states else least
            held = _States(*(_longer(array, more) for array in held))
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
def _search(program, states, levels, counters, best, walks, budget):  # type: ignore[no-untyped-def]
    """Extend states depth first in portions of whole levels, until done, out of budget or out of space.

    The states of one level lie behind those of the level before; ``levels[j]``: begin, next to extend, end.
    """
    vertex, parent, numbers, _ = states
    length, n = program.active.shape
    if counters[1] == 0:
        count = _start(program, states, best[0])
        levels[0, 0], levels[0, 1], levels[0, 2] = 0, 0, count
        counters[0], counters[1] = 0, max(count, 1)
    order, bucket = np.empty(0, np.int64), np.zeros(n + 1, np.int64)
    table = np.full(1 << 12, -1, np.int32)
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
                _finish(s, numbers[s, 0] + program.last[vertex[s]], vertex, parent, program.classes, best, walks)
            levels[j, 1] = stop
            continue
        if len(order) < stop - begin:
            order = np.empty(stop - begin, np.int64)
        _sort(vertex, begin, stop, bucket, order)
        table[:] = -1
        count, steps, table = _extend(program, states, j, end, bucket, order, best[0], table)
        if count < 0:
            return _FULL
        spent += steps
        levels[j, 1] = stop
        levels[j + 1, 0], levels[j + 1, 1], levels[j + 1, 2] = end, end, count
        counters[0] = j + 1
        counters[1] += count - end


@inner
def _start(program: _Program, states: _States, least: float) -> int:
    """The states of a single vertex from which a walk heavier than ``least`` is possible; returns how many."""
    count = 0
    for v in range(len(program.first)):
        weight, bit = program.first[v], program.bits[v]
        if program.active[0, v] and weight > -np.inf:
            room = program.spread - (program.penalty[v] if bit >= 0 else 0.0)
            if weight + program.to_go[0, v] + room > least:
                states.vertex[count], states.parent[count] = v, -1
                states.numbers[count, 0], states.numbers[count, 1] = weight, room
                states.sets[count] = 0
                if bit >= 0:
                    states.sets[count, bit >> 6] = _ONE << np.uint64(bit & 63)
                count += 1
    return count


@inner
def _sort(vertex: Vertices, begin: int, end: int, bucket: Ints, order: Ints) -> None:
    """The states of a portion by vertex, and where those of each vertex end."""
    n = len(bucket) - 1
    bucket[:] = 0
    for s in range(begin, end):
        bucket[vertex[s] + 1] += 1
    for v in range(n):
        bucket[v + 1] += bucket[v]
    for s in range(begin, end):
        v = vertex[s]
        order[bucket[v]] = s
        bucket[v] += 1


@njit(cache=True, no_cpython_wrapper=True)
def _extend(program, states, j, fresh, bucket, order, least, table):  # type: ignore[no-untyped-def]
    """Write what follows from a portion's states, from ``fresh`` on.

    Returns
    -------
    count, spent, table
        Where the new states end, or -1 where there is no room for them; steps; and the table, larger where need be.
    """
    weights, penalty, to_go, numbers = program.weights, program.penalty, program.to_go, states.numbers
    n, count, from_, spent = len(penalty), fresh, 0, 0
    candidates, scores = np.empty(n, np.int64), np.empty(n)
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
            if score + hope > least:
                candidates[found], scores[found] = v, score
                found += 1
        spent += n
        ranked = np.argsort(-scores[:found])
        for q in range(from_, until):
            if 2 * (count - fresh + found) > len(table):
                table = _larger(states, fresh, count, 2 * (count - fresh + found))
            count, steps = _extend_state(program, states, order[q], candidates, scores, ranked, least, count, table)
            if count < 0:
                return count, spent, table
            spent += steps
        from_ = until
    return count, spent, table


@folded
def _extend_state(
    program: _Program,
    states: _States,
    s: int,
    candidates: Ints,
    scores: Floats,
    ranked: Ints,
    least: float,
    count: int,
    table: Vertices,
) -> tuple[int, int]:
    """Write the states that one leads to: where they end, or -1 where there is no room; and steps."""
    numbers, sets, u = states.numbers, states.sets, states.vertex[s]
    row, have, steps = program.weights[u], numbers[s, 0] + numbers[s, 1], 0
    for r in range(len(ranked)):
        v = candidates[ranked[r]]
        if have + scores[ranked[r]] <= least:
            break
        steps += 1
        bit = program.bits[v]
        if bit >= 0:
            if (sets[s, bit >> 6] >> np.uint64(bit & 63)) & _ONE:
                continue
        elif program.classes[v] == program.classes[u]:
            continue
        if count == len(states.vertex):
            return -1, steps
        if _reach(states, s, v, bit, row[v], program.penalty[v], count, table):
            count += 1
    return count, steps


@folded
def _reach(states: _States, s: int, v: int, bit: int, weight: float, penalty: float, new: int, table: Vertices) -> bool:
    """Write the state that one leads to, unless the portion has it already; whether it is new."""
    vertex, parent, numbers, sets = states
    words = sets.shape[1]
    total = numbers[s, 0] + weight
    for w in range(words):
        sets[new, w] = sets[s, w]
    if bit >= 0:
        sets[new, bit >> 6] |= _ONE << np.uint64(bit & 63)
    mask = len(table) - 1
    slot = _hash(v, sets[new]) & mask
    while table[slot] >= 0:
        other = np.int64(table[slot])
        if vertex[other] == v:
            same = True
            for w in range(words):
                same &= sets[other, w] == sets[new, w]
            if same:
                if total > numbers[other, 0]:
                    numbers[other, 0] = total
                    parent[other] = s
                return False
        slot = (slot + 1) & mask
    table[slot] = new
    vertex[new], parent[new] = v, s
    numbers[new, 0] = total
    numbers[new, 1] = numbers[s, 1] - (penalty if bit >= 0 else 0.0)
    return True


@njit(cache=True, no_cpython_wrapper=True)
def _larger(states, begin, end, least):  # type: ignore[no-untyped-def]
    """A table of the states that lie there, with room for so many at least; its size is a power of two."""
    vertex, sets, size = states.vertex, states.sets, 1 << 12
    while size < least:
        size *= 2
    table = np.full(size, -1, np.int32)
    for t in range(begin, end):
        slot = _hash(np.int64(vertex[t]), sets[t]) & (size - 1)
        while table[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        table[slot] = t
    return table


@inner
def _hash(vertex: Any, words: NDArray[np.uint64]) -> Any:
    """32 bits that depend on all of a state, in whole numbers that do not overflow."""
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    h = ((vertex + 1) * 0x3C6EF372) & 0xFFFFFFFF
    h ^= h >> 15
    for w in range(len(words)):
        h = ((h ^ np.int64(words[w] & low)) * 0x21F0AAAD) & 0xFFFFFFFF
        h ^= h >> 15
        h = ((h ^ np.int64(words[w] >> half)) * 0x735A2D97) & 0xFFFFFFFF
        h ^= h >> 15
    return h


@njit(cache=True, no_cpython_wrapper=True)
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
