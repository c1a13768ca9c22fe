r"""The heaviest path with k vertices of different classes, by a dynamic program that remembers visits to some classes.

    max  first(v_1) + Σ_i w(v_i, v_{i+1}) + last(v_k)      over v_1, ..., v_k of k different classes.

A state is (position, vertex, set of visited *remembered* classes).  With all classes remembered the program is exact
but far too large.  With few it is a relaxation, whose optimal walk may visit another class twice.  Remembering the
repeated classes and solving again leads to a path (decremental state-space relaxation).  Bounds on completions, by
penalised walks (:mod:`colgen.solvers.paths.walks`), reduce the states.  A state is dropped if no completion can give a
path heavier than the best known one.

States are extended in portions, each to the end before the next.  This finds heavy walks early and limits memory, as
portions shrink if the states do not fit.  However, states of different portions do not dominate each other.

Sources: G. Righini and M. Salani, *New dynamic programming algorithms for the resource constrained elementary shortest
path problem*, Networks 51 (2008).  N. Boland, J. Dethridge, I. Dumitrescu, *Accelerated label setting algorithms for
the elementary resource constrained shortest path problem*, Operations Research Letters 34 (2006).
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
"""Default limit on states held at once, if memory permits."""

_MEMORY = 1 << 29
"""Bytes of all states; twice as many while memory grows."""

_PORTION = 256
"""Initial size of portions.

In larger portions more states dominate each other.  Smaller ones complete walks sooner, whose weights shorten the
search; with wide gaps this matters much more.
"""

_BETWEEN_CLOCKS = 1_000_000
"""Extensions between two checks of the clock."""

_DONE, _PAUSED, _FULL = range(3)

_ONE = np.uint64(1)


class Found(NamedTuple):
    """The result of a search.

    Attributes
    ----------
    bound : no path without repeated classes weighs more than both this and the lower bound
        The weight of ``walk``; minus infinity if no walk exceeds the lower bound; infinity if the search was stopped.
    walk : the heaviest walk without a repeated *remembered* class; empty if none exceeds the lower bound
    path : the heaviest path found without any repeated class; empty if there is none
    weight : weight of ``path``
    states : number of states
    finished : False if time or effort was used up
    """

    bound: float
    walk: Ints
    path: Ints
    weight: float
    states: int
    finished: bool


class _Program(NamedTuple):
    """The dynamic program.

    * ``active``: feasible positions of each vertex.
    * ``bits``: bit of each vertex's class, -1 if it is not remembered.
    * ``penalty``, ``spread``: λ of each vertex's class, and Σ λ over all classes.
    * ``to_go``: best penalised weight from each vertex and position to the sink.
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
    """Stored states.

    * ``vertex``, ``parent``: last vertex, and the state that it extends.
    * ``numbers``: weight so far, and Σ λ of the unvisited classes.
    * ``sets``: the visited remembered classes.
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
    """Return the heaviest walk without a repeated remembered class above ``lower``.

    Parameters
    ----------
    relaxed : the reduced graph, with penalties that bound completions; penalised classes are always remembered
    remembered : mask of classes
    lower : weight of a known path; only heavier walks are searched
    states : most states at once; portions shrink until they fit, down to a single state
    effort : approximate limit on the number of states
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
    least = (length + 1) * n + 1  # a single state and its successors, at each position
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
    best = np.array([lower + tolerance(lower, relaxed.scale), -math.inf])  # best weights: walks, paths
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
            held = _States(*(_enlarge(array, more) for array in held))
    walk, path = (relaxed.vertices[row] if row[0] >= 0 else row[:0] for row in walks)
    bound = best[0] if len(walk) else -math.inf
    finished = status == _DONE
    return Found(bound if finished else math.inf, walk, path, float(best[1]), int(counters[1]), finished)


def _enlarge(array: NDArray[Any], more: int) -> NDArray[Any]:
    return np.concatenate((array, np.empty((more, *array.shape[1:]), array.dtype)))


def _bits(classes: Ints, remembered: Mask, penalty: Floats) -> Ints:
    """Return the bit of each vertex's class, -1 if it is not remembered."""
    wanted = remembered[classes] | (penalty > 0.0)
    bits = np.full(len(classes), -1, np.int64)
    _, bits[wanted] = np.unique(classes[wanted], return_inverse=True)
    return bits


@njit(cache=True, nogil=True)
def _search(program, states, levels, counters, best, walks, budget):  # type: ignore[no-untyped-def]
    """Extend states depth first in portions, until finished, out of budget or out of memory.

    The states of a level follow those of the previous one; ``levels[j]``: start, next to extend, end.
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
        if j == length - 1:  # the last vertex: continue to the sink
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
    """Write the one-vertex states that permit a walk above ``least``.  Return their number."""
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
    """Sort a portion's states by vertex, and write their ends to ``bucket``."""
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
    """Write a portion's successors from ``fresh`` on.  Return their end (-1: no memory), the steps, the hash table."""
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
                table = _rehash(states, fresh, count, 2 * (count - fresh + found))
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
    """Write the successors of one state.  Return their end (-1: no memory) and the steps."""
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
    """Write a successor unless the portion has it already.  Return whether it is new."""
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
def _rehash(states, begin, end, least):  # type: ignore[no-untyped-def]
    """Return a hash table of the given states.  Its size is a power of two and at least ``least``."""
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
    """Return a 32-bit hash of a state, in integers that do not overflow."""
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
    """Store a complete walk if it is the best, or the best path."""
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
