r"""Walks of k vertices in a weighted digraph, as a relaxation of paths on which no two vertices share a class.

    max  first(v_1) + Σ_i w(v_i, v_{i+1}) + last(v_k)      over walks v_1, ..., v_k.

A walk may return to a class; only two neighbours on it never share one.  The dynamic program over (position, vertex)
spends O(k n²) time.  A penalty λ_c ≥ 0 for each visit of class c, given back once, turns its value into a bound on all
paths that visit no class twice (Lagrangian relaxation: Σ_c λ_c (1 - visits of c) is never negative on these):

    bound(λ) = Σ_c λ_c + max over walks of (weight - Σ_i λ_{class(v_i)}).

:func:`ascend` looks for penalties of a small bound by subgradients.  On the way it strikes out every (position, vertex)
through which no walk can beat a known path, and goes on in the smaller graph that is left.

Sources: N. Christofides, A. Mingozzi, P. Toth, *State-space relaxation procedures for the computation of bounds to
routing problems*, Networks 11 (1981); M. Held, P. Wolfe, H. P. Crowder, *Validation of subgradient optimization*,
Mathematical Programming 6 (1974).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_booleans, as_float, as_floats, as_indices, as_integer
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, overwrite
from colgen.solvers.scaling import power_of_two
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

ROUNDS = 250
"""Subgradient steps at most; steps get so small before that the bound has settled, and the rest is for the search."""

_PATIENCE, _LEAST_STEP = 8, 0.005
"""After so many steps in vain the step is halved; below this share of the first one it ends."""

_PORTION = 10_000_000
"""Elementary steps between two looks at the clock: a hundredth of a second."""

_CELLS = 1 << 26
"""Vertices times positions: there are tables of so many numbers."""

_GAPS = 16
"""Numbers of classes may go up to so many times the number of vertices: there is an array entry for each."""

SMALL = 12
"""With so few vertices left the search takes less time than another step."""


class Graph(NamedTuple):
    """A weighted digraph with a source and a sink, of which walks of ``length`` vertices are sought.

    Attributes
    ----------
    weights
        Shape (n, n): w(u, v) from row to column, minus infinity where there is no arc.
    first, last
        Shape (n,): weights of the arcs from the source and to the sink, minus infinity where there are none.
    classes
        Shape (n,): the class of each vertex, numbered from 0.
    length
        k ≥ 1.
    """

    weights: Floats
    first: Floats
    last: Floats
    classes: Ints
    length: int

    def weight(self, path: Ints) -> float:
        """Weight of a walk, source and sink included."""
        total = float(self.first[path[0]])
        for u, v in zip(path[:-1].tolist(), path[1:].tolist()):
            total += float(self.weights[u, v])
        return total + float(self.last[path[-1]])


class _Sound(Graph):
    """A graph that has been looked at; with other arrays it is any graph again."""

    __slots__ = ()

    def _replace(self, **changes: Any) -> Graph:  # type: ignore[override]
        return Graph(*self)._replace(**changes)


class Relaxed(NamedTuple):
    """What the ascent leaves: penalties, the bound they prove, and the part of the graph that a better path can use.

    Attributes
    ----------
    bound
        No path that visits no class twice weighs more; minus infinity if there is no walk at all.
    vertices
        Those that are left, by their numbers in the graph; all further fields speak of them alone.
    graph
        The graph of these vertices.
    active
        Shape (k, vertices left): where on a better path each of them can stand.
    penalties
        λ of each class, also of those that no vertex left belongs to.
    to_go
        Shape (k, vertices left): the best penalised weight from each vertex to the sink, its own penalty not counted;
        minus infinity where it cannot stand.
    path, weight
        The heaviest path without a repeated class that was met on the way, by numbers in the graph, empty if none was
        heavier than the given weight; and its weight, or the given one.
    walk
        The last walk of best penalised weight that repeated a class, by numbers in the graph, empty if none did.
    rounds
        Subgradient steps.
    scale
        What differences of weights were relative to: see :func:`tolerance`.
    """

    bound: float
    vertices: Ints
    graph: Graph
    active: Mask
    penalties: Floats
    to_go: Floats
    path: Ints
    weight: float
    walk: Ints
    rounds: int
    scale: float = 1.0


class _Left(NamedTuple):
    """What an ascent has left of a graph.

    Attributes
    ----------
    vertices
        By their numbers in the graph.
    active
        Shape (k, vertices left): where each of them can stand.
    """

    vertices: Ints
    weights: Floats
    first: Floats
    last: Floats
    classes: Ints
    active: Mask


class _Ascent(NamedTuple):
    """How far an ascent has come.

    Attributes
    ----------
    penalties, best
        λ of the next step, and those of the least bound.
    path, walk
        The heaviest path that was met, and the last walk that repeated a class; -1 where there is none.
    state
        Steps done, length of the step, steps in vain, bound, weight of the known path.
    """

    penalties: Floats
    best: Floats
    path: Ints
    walk: Ints
    state: Floats


def graph(weights: ArrayLike, first: ArrayLike, last: ArrayLike, classes: ArrayLike, length: int) -> Graph:
    """A graph of contiguous arrays, without the arcs that no path can use: loops, and arcs within a class.

    Parameters
    ----------
    weights, first, last, classes, length
        See :class:`Graph`; nothing may be NaN or plus infinity, classes are numbered from 0, with few gaps.

    Raises
    ------
    ArrayError
        If they are none of this.
    """
    # Copies, for the kernels are compiled again for arrays that are read-only.
    of = checked(Graph(np.array(weights), np.array(first), np.array(last), np.array(classes), length))
    usable = np.where(of.classes[:, None] == of.classes[None, :], -np.inf, of.weights)
    return _Sound(usable, *of[1:])


def checked(of: Graph) -> Graph:
    """The graph as the kernels take it.

    Raises
    ------
    ArrayError
        Where a cast would change a number, and where one is NaN, plus infinity or out of range.
    """
    if isinstance(of, _Sound):
        return of
    first: Floats = as_floats(of.first, "first", shape=("vertices",), minus_infinity=True)
    n = len(first)
    weights: Floats = as_floats(of.weights, "weights", shape=(n, n), minus_infinity=True)
    last: Floats = as_floats(of.last, "last", shape=(n,), minus_infinity=True)
    classes: Ints = as_indices(of.classes, "classes", upper=max(_GAPS * n, 1024), shape=(n,))
    return _Sound(weights, first, last, classes, as_integer(of.length, "length", low=1, high=_CELLS // max(n, 1)))


def scale_of(of: Graph) -> float:
    """The power of two next below the largest finite weight; 1 if there is none besides zeros."""
    largest = 0.0
    for array in (of.weights, of.first, of.last):
        if array.size:
            largest = max(largest, float(np.max(np.abs(array), where=array > -np.inf, initial=0.0)))
    return power_of_two(largest)


def tolerance(weight: float, scale: float = 1.0) -> float:
    """By how much a path must be heavier than another one to count as better.

    Parameters
    ----------
    scale
        What differences are relative to, where the weight itself is not larger: the size of the weights of the arcs.
    """
    return 1e-9 * max(scale, abs(weight)) if math.isfinite(weight) else 0.0


def ascend(
    of: Graph,
    lower: float = -math.inf,
    rounds: int = ROUNDS,
    *,
    active: Mask | None = None,
    penalties: Floats | None = None,
    expired: Expired = never,
) -> Relaxed:
    """Penalties of a small bound, and what of the graph is left for paths heavier than ``lower``.

    Multiplying all weights by a power of two multiplies bounds and penalties, and changes nothing else.

    Parameters
    ----------
    lower
        Weight of a known path, minus infinity if none is known.
    rounds
        Subgradient steps at most.
    active
        Shape (k, n): where each vertex may stand; everywhere by default.
    penalties
        Shape (classes,): where to start; at zero by default.
    expired
        Asked every hundredth of a second, though not before the first step; if it says so, that was the last one.
    """
    of = checked(of)
    lower = as_float(lower, "lower", finite=False)
    rounds = as_integer(rounds, "rounds", low=0)
    n = len(of.first)
    num_classes = int(of.classes.max()) + 1 if n else 0
    allowed = np.ones((of.length, n), dtype=np.bool_)
    if active is not None:
        allowed = as_booleans(active, "active", shape=(of.length, n))
    begin = np.zeros(num_classes) if penalties is None else penalties
    begin = as_floats(begin, "penalties", shape=(num_classes,), low=0.0)
    scale = scale_of(of)
    state = np.array([0.0, 1.0, 0.0, math.inf, lower])
    left = _Left(np.arange(n), *of[:4], allowed.copy())
    ascent = _Ascent(
        begin.copy(), begin.copy(), np.full(of.length, -1, np.int64), np.full(of.length, -1, np.int64), state
    )
    while True:
        portion = max(1, _PORTION // (3 * of.length * max(len(left.first), 1) ** 2))
        finished, left = _ascend(left, ascent, rounds, SMALL, scale, portion)
        if finished or expired():
            break
    vertices, weights, first, last, classes, active = left
    to_go = np.empty((of.length, len(first)))
    _backward(weights, last, active, ascent.best[classes], to_go)
    smaller = Graph(weights, first, last, classes, of.length)
    path, walk = ascent.path[ascent.path >= 0], ascent.walk[ascent.walk >= 0]
    bound, weight = float(state[3]), float(state[4])
    return Relaxed(bound, vertices, smaller, active, ascent.best, to_go, path, weight, walk, int(state[0]), scale)


def relax(of: Graph, penalties: Floats, lower: float = -math.inf) -> Relaxed:
    """The bound of given penalties, and what of the graph they leave for paths heavier than ``lower``.

    Nothing of how the penalties were found is used: one dynamic program from the source and one from the sink.

    Parameters
    ----------
    penalties
        Shape (classes,): λ.
    lower
        Weight of a known path, minus infinity if none is known.
    """
    of = checked(of)
    n = len(of.first)
    num_classes = int(of.classes.max()) + 1 if n else 0
    penalties = as_floats(penalties, "penalties", shape=(num_classes,), low=0.0)
    lower, scale = as_float(lower, "lower", finite=False), scale_of(of)
    penalty, active = penalties[of.classes], np.ones((of.length, n), dtype=np.bool_)
    walk, value, to_go = np.full(of.length, -1, np.int64), np.empty((of.length, n)), np.empty((of.length, n))
    bound, repeated = _relax(of, active, penalty, float(penalties.sum()), value, to_go, walk, lower, scale)
    walk = walk[walk >= 0]
    path = walk[:0] if repeated else walk
    weight = of.weight(path) if len(path) else -math.inf
    if weight <= lower:
        path, weight = path[:0], lower
    keep = np.flatnonzero(active.any(axis=0))
    left = of
    if len(keep) < n:
        weights, active = _restricted(of.weights, active, keep)
        to_go = np.ascontiguousarray(to_go[:, keep])
        left = Graph(weights, of.first[keep], of.last[keep], of.classes[keep], of.length)
    to_go[~active] = -np.inf
    return Relaxed(bound, keep, left, active, penalties, to_go, path, weight, walk, 1, scale)


@njit(cache=True, nogil=True)
def _relax(of, active, penalty, spread, value, to_go, walk, lower, scale):  # type: ignore[no-untyped-def]
    """Bound and walk of the best penalised weight, and whether that repeats a class; strikes out what is of no use."""
    weights, first, last, classes, _ = of
    length, n = value.shape
    _forward(weights, first, active, penalty, value)
    best = _best_walk(weights, value, penalty, last, walk)
    repeated = False
    if best > -np.inf:
        for i in range(length):
            for j in range(i):
                repeated |= classes[walk[i]] == classes[walk[j]]
    if best + spread <= lower + _margin(lower, scale):
        active[:] = False
        return best + spread, repeated
    _backward(weights, last, active, penalty, to_go)
    if lower > -np.inf:
        cutoff = lower + _margin(lower, scale)
        for j in range(length):
            for v in range(n):
                active[j, v] = value[j, v] + to_go[j, v] + spread > cutoff
    return best + spread, repeated


def completions(of: Graph) -> Floats:
    """The best weight from each vertex at each position to the sink, by walks without penalties; shape (k, n)."""
    of = checked(of)
    n = len(of.first)
    to_go = np.empty((of.length, n))
    _backward(of.weights, of.last, np.ones((of.length, n), np.bool_), np.zeros(n), to_go)
    return to_go


@njit(cache=True, no_cpython_wrapper=True)
def _forward(weights, first, active, penalty, value):  # type: ignore[no-untyped-def]
    """Best penalised weight from the source to each vertex at each position, its own penalty counted."""
    length, n = value.shape
    for v in range(n):
        value[0, v] = first[v] - penalty[v] if active[0, v] else -np.inf
    for j in range(1, length):
        here = value[j]
        here[:] = -np.inf
        for u in range(n):
            reached = value[j - 1, u]
            if reached > -np.inf:
                row = weights[u]
                for v in range(n):
                    x = reached + row[v]
                    here[v] = x if x > here[v] else here[v]
        for v in range(n):
            here[v] = here[v] - penalty[v] if active[j, v] else -np.inf


@njit(cache=True, no_cpython_wrapper=True, fastmath={"nnan", "nsz"})
def _best_successor(row, after):  # type: ignore[no-untyped-def]
    best = -np.inf
    for v in range(len(row)):
        x = row[v] + after[v]
        best = x if x > best else best
    return best


@njit(cache=True, nogil=True)
def _backward(weights, last, active, penalty, to_go):  # type: ignore[no-untyped-def]
    """Best penalised weight from each vertex at each position to the sink, its own penalty not counted."""
    length, n = to_go.shape
    after = np.empty(n)
    for v in range(n):
        to_go[length - 1, v] = last[v] if active[length - 1, v] else -np.inf
    for j in range(length - 2, -1, -1):
        for v in range(n):
            after[v] = to_go[j + 1, v] - penalty[v]
        for u in range(n):
            to_go[j, u] = _best_successor(weights[u], after) if active[j, u] else -np.inf


@njit(cache=True, no_cpython_wrapper=True)
def _best_walk(weights, value, penalty, last, walk):  # type: ignore[no-untyped-def]
    """Write the walk of the best penalised weight, read off the table of :func:`_forward`; returns that weight."""
    length, n = value.shape
    best, end = -np.inf, -1
    for v in range(n):
        if value[length - 1, v] + last[v] > best:
            best, end = value[length - 1, v] + last[v], v
    if end < 0:
        return best
    walk[length - 1] = end
    for j in range(length - 1, 0, -1):
        v = walk[j]
        most, before = -np.inf, -1
        for u in range(n):
            x = value[j - 1, u] + weights[u, v]
            if x > most:
                most, before = x, u
        walk[j - 1] = before
    return best


@njit(cache=True, no_cpython_wrapper=True)
def _weight(weights, first, last, walk):  # type: ignore[no-untyped-def]
    total = first[walk[0]]
    for j in range(1, len(walk)):
        total += weights[walk[j - 1], walk[j]]
    return total + last[walk[-1]]


@njit(cache=True, no_cpython_wrapper=True)
def _margin(weight, scale):  # type: ignore[no-untyped-def]
    return 1e-9 * max(scale, abs(weight)) if weight > -np.inf else 0.0


@njit(cache=True, nogil=True)
def _ascend(left, ascent, rounds, small, scale, portion):  # type: ignore[no-untyped-def]
    """So many further steps at most; whether that was all, and what of the graph is left."""
    vertices, weights, first, last, classes, active = left
    penalties, best, path, repeating, state = ascent
    length, n = len(active), len(first)
    visits = np.zeros(len(penalties), np.int64)
    walk = np.empty(length, np.int64)
    penalty, value, to_go = np.zeros(n), np.empty((length, n)), np.empty((length, n))
    done, step, stalled, bound, lower = int(state[0]), state[1], int(state[2]), state[3], state[4]
    finished = False
    for _ in range(portion):
        for v in range(n):
            penalty[v] = penalties[classes[v]]
        _forward(weights, first, active, penalty, value)
        spread = penalties.sum()
        relaxed = _best_walk(weights, value, penalty, last, walk) + spread
        if relaxed == -np.inf:  # no walk is left that could be better
            bound, finished = lower, True
            break
        if _visit(classes, walk, visits):
            _note(vertices, walk, repeating)
        else:
            weight = _weight(weights, first, last, walk)
            if weight > lower:
                lower = weight
                _note(vertices, walk, path)
        stalled = 0 if bound == np.inf or relaxed < bound - 1e-4 * abs(bound) else stalled + 1
        if relaxed < bound:
            bound = relaxed
            overwrite(best, penalties)
        if bound <= lower + _margin(lower, scale):
            bound, finished = lower, True
            break
        if stalled == _PATIENCE:
            step *= 0.5
            stalled = 0
            overwrite(penalties, best)
        norm = _norm(visits, penalties)
        if norm == 0.0:  # a path, and no penalty is wasted on a class that it leaves out: it is the best one
            bound, finished = relaxed, True
            break
        if lower > -np.inf:
            _backward(weights, last, active, penalty, to_go)
            remaining = _strike_out(active, value, to_go, spread, lower + _margin(lower, scale))
            if remaining <= 0.75 * n:
                keep = _standing(active, remaining)
                weights, active = _restricted(weights, active, keep)
                first, last, classes, vertices = first[keep], last[keep], classes[keep], vertices[keep]
                n = remaining
                penalty, value, to_go = np.zeros(n), np.empty((length, n)), np.empty((length, n))
        if done == rounds or step < _LEAST_STEP or (lower > -np.inf and n <= small):
            finished = True
            break
        done += 1
        target = lower if lower > -np.inf else relaxed - 0.05 * abs(relaxed) - 1e-3 * scale
        length_of_step = step * (relaxed - target) / norm
        for c in range(len(penalties)):
            penalties[c] = max(0.0, penalties[c] + length_of_step * (visits[c] - 1.0))
    state[0], state[1], state[2], state[3], state[4] = done, step, stalled, bound, lower
    return finished, _Left(vertices, weights, first, last, classes, active)


@inner
def _visit(classes: Ints, walk: Ints, visits: Ints) -> bool:
    """Count the visits of each class; whether the walk visits one twice."""
    visits[:] = 0
    repeated = False
    for j in range(len(walk)):
        c = classes[walk[j]]
        visits[c] += 1
        repeated |= visits[c] > 1
    return repeated


@inner
def _note(vertices: Ints, walk: Ints, out: Ints) -> None:
    """Write a walk by numbers in the graph."""
    for j in range(len(walk)):
        out[j] = vertices[walk[j]]


@inner
def _norm(visits: Ints, penalties: Floats) -> float:
    """The squared length of the subgradient, without what would make a penalty negative."""
    norm = 0.0
    for c in range(len(penalties)):
        excess = visits[c] - 1.0
        if excess > 0.0 or (excess < 0.0 and penalties[c] > 0.0):
            norm += excess * excess
    return norm


@inner
def _strike_out(active: Mask, value: Floats, to_go: Floats, spread: float, cutoff: float) -> int:
    """Strike out places through which no walk passes the cutoff; how many vertices still have a place."""
    length, n = active.shape
    remaining = 0
    for v in range(n):
        stands = False
        for j in range(length):
            if active[j, v] and value[j, v] + to_go[j, v] + spread <= cutoff:
                active[j, v] = False
            stands |= active[j, v]
        remaining += stands
    return remaining


@njit(cache=True, no_cpython_wrapper=True)
def _standing(active, count):  # type: ignore[no-untyped-def]
    """The vertices that have a place, so many."""
    keep = np.empty(count, np.int64)
    count = 0
    for v in range(active.shape[1]):
        if active[:, v].any():
            keep[count] = v
            count += 1
    return keep


@njit(cache=True, nogil=True)
def _restricted(weights, active, keep):  # type: ignore[no-untyped-def]
    """Weights and active positions of some vertices."""
    m = len(keep)
    smaller = np.empty((m, m))
    for a in range(m):
        row = weights[keep[a]]
        for b in range(m):
            smaller[a, b] = row[keep[b]]
    return smaller, active[:, keep].copy()
