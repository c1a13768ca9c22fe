r"""Walks with k vertices in a weighted digraph, as a relaxation of paths with vertices of different classes.

    max  first(v_1) + Σ_i w(v_i, v_{i+1}) + last(v_k)      over walks v_1, ..., v_k.

A walk may return to a class, but adjacent vertices have different classes.  The dynamic program over (position, vertex)
takes O(k n²) time.  A penalty λ_c ≥ 0 per visit of class c, refunded once, gives a bound on all paths without repeated
classes.  This is a Lagrangian relaxation, as Σ_c λ_c (1 - visits of c) ≥ 0 on these paths:

    bound(λ) = Σ_c λ_c + max over walks of (weight - Σ_i λ_{class(v_i)}).

:func:`ascend` minimises the bound by subgradients.  It removes each (position, vertex) through which no walk beats a
known path, and continues in the reduced graph.

Sources: N. Christofides, A. Mingozzi, P. Toth, *State-space relaxation procedures for the computation of bounds to
routing problems*, Networks 11 (1981).  M. Held, P. Wolfe, H. P. Crowder, *Validation of subgradient optimization*,
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
"""Maximum number of subgradient steps; usually step lengths become negligible earlier."""

_PATIENCE, _LEAST_STEP = 8, 0.005
"""Steps without improvement before the step length is halved; share of the first length that ends the ascent."""

_PORTION = 10_000_000
"""Elementary steps between two checks of the clock: about 0.01 seconds."""

_CELLS = 1 << 26
"""Limit on vertices times positions, the size of tables."""

_GAPS = 16
"""Limit on class numbers, relative to the number of vertices: arrays have an entry for each."""

SMALL = 12
"""With at most this many vertices the search is faster than another step."""


class Graph(NamedTuple):
    """A weighted digraph with a source and a sink.  Missing arcs weigh minus infinity.

    Attributes
    ----------
    weights : (n, n) array, w(u, v) from row to column
    first : (n,) array, weights of the arcs from the source
    last : (n,) array, weights of the arcs to the sink
    classes : (n,) array, class of each vertex, numbered from 0
    length : number k ≥ 1 of vertices of a walk
    """

    weights: Floats
    first: Floats
    last: Floats
    classes: Ints
    length: int

    def weight(self, path: Ints) -> float:
        """Return the weight of a walk, including source and sink."""
        total = float(self.first[path[0]])
        for u, v in zip(path[:-1].tolist(), path[1:].tolist()):
            total += float(self.weights[u, v])
        return total + float(self.last[path[-1]])


class _ValidGraph(Graph):
    """A validated graph; replacing arrays gives an ordinary one."""

    __slots__ = ()

    def _replace(self, **changes: Any) -> Graph:  # type: ignore[override]
        return Graph(*self)._replace(**changes)


class Relaxed(NamedTuple):
    """The result of an ascent: penalties, their bound, and the reduced graph.

    Attributes
    ----------
    bound : upper bound on paths without repeated classes; minus infinity if there is no walk
    vertices : numbers of the remaining vertices, to which the next fields refer
    graph : their graph
    active : (k, remaining) mask of the positions that a better path can use
    penalties : λ of each class, including classes without remaining vertices
    to_go : (k, remaining) array, best penalised weight from each vertex and position to the sink
        The vertex's own penalty is not included.  Minus infinity at unusable positions.
    path : the heaviest path found without repeated classes, in original numbers; empty if none beats the given weight
    weight : weight of ``path``, or the given weight
    walk : the last walk of best penalised weight with a repeated class, in original numbers; empty if there is none
    rounds : number of subgradient steps
    scale : scale of weight differences, for :func:`tolerance`
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


class _Remaining(NamedTuple):
    """The remaining graph of an ascent; ``active`` has shape (k, remaining)."""

    vertices: Ints
    weights: Floats
    first: Floats
    last: Floats
    classes: Ints
    active: Mask


class _Ascent(NamedTuple):
    """Progress of an ascent.

    * ``penalties``, ``best``: λ of the next step, and those of the least bound.
    * ``path``, ``walk``: the heaviest path, and the last walk with a repeated class; -1 if there is none.
    * ``state``: number of steps, step length, steps without improvement, bound, weight of the known path.
    """

    penalties: Floats
    best: Floats
    path: Ints
    walk: Ints
    state: Floats


def graph(weights: ArrayLike, first: ArrayLike, last: ArrayLike, classes: ArrayLike, length: int) -> Graph:
    """Return a :class:`Graph` without the arcs that no path can use: loops, and arcs within a class.

    An ArrayError is raised if a weight is NaN or plus infinity, or the classes are not numbered from 0 with few gaps.
    """
    # Copies: read-only arrays would need kernels of their own.
    of = validate(Graph(np.array(weights), np.array(first), np.array(last), np.array(classes), length))
    usable = np.where(of.classes[:, None] == of.classes[None, :], -np.inf, of.weights)
    return _ValidGraph(usable, *of[1:])


def validate(of: Graph) -> Graph:
    """Return the validated graph.

    An ArrayError is raised if a cast would change a number, or a number is NaN, plus infinity or out of range.
    """
    if isinstance(of, _ValidGraph):
        return of
    first: Floats = as_floats(of.first, "first", shape=("vertices",), minus_infinity=True)
    n = len(first)
    weights: Floats = as_floats(of.weights, "weights", shape=(n, n), minus_infinity=True)
    last: Floats = as_floats(of.last, "last", shape=(n,), minus_infinity=True)
    classes: Ints = as_indices(of.classes, "classes", upper=max(_GAPS * n, 1024), shape=(n,))
    return _ValidGraph(weights, first, last, classes, as_integer(of.length, "length", low=1, high=_CELLS // max(n, 1)))


def scale_of(of: Graph) -> float:
    """Return the power of two at or below the largest finite weight; 1 if all weights are zero."""
    largest = 0.0
    for array in (of.weights, of.first, of.last):
        if array.size:
            largest = max(largest, float(np.max(np.abs(array), where=array > -np.inf, initial=0.0)))
    return power_of_two(largest)


def tolerance(weight: float, scale: float = 1.0) -> float:
    """Return the least difference by which a path counts as heavier.

    ``scale`` is the size of the arc weights.  It is used if it exceeds the weight itself.
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
    """Return penalties with a small bound, and the part of the graph for paths heavier than ``lower``.

    Scaling all weights by a power of two scales bounds and penalties exactly.

    Parameters
    ----------
    lower : weight of a known path, or minus infinity
    rounds : most subgradient steps
    active : (k, n) mask of feasible positions of vertices; by default all
    penalties : initial penalties of classes; by default 0
    expired : called every hundredth of a second after the first step; True stops the ascent
    """
    of = validate(of)
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
    remaining_graph = _Remaining(np.arange(n), *of[:4], allowed.copy())
    ascent = _Ascent(
        begin.copy(), begin.copy(), np.full(of.length, -1, np.int64), np.full(of.length, -1, np.int64), state
    )
    while True:
        portion = max(1, _PORTION // (3 * of.length * max(len(remaining_graph.first), 1) ** 2))
        finished, remaining_graph = _ascend(remaining_graph, ascent, rounds, SMALL, scale, portion)
        if finished or expired():
            break
    vertices, weights, first, last, classes, active = remaining_graph
    to_go = np.empty((of.length, len(first)))
    _backward(weights, last, active, ascent.best[classes], to_go)
    smaller = Graph(weights, first, last, classes, of.length)
    path, walk = ascent.path[ascent.path >= 0], ascent.walk[ascent.walk >= 0]
    bound, weight = float(state[3]), float(state[4])
    return Relaxed(bound, vertices, smaller, active, ascent.best, to_go, path, weight, walk, int(state[0]), scale)


def relax(of: Graph, penalties: Floats, lower: float = -math.inf) -> Relaxed:
    """Return the bound of given penalties, and the part of the graph for paths heavier than ``lower``.

    Two dynamic programs, from source and sink, verify the penalties independently of their origin.  ``penalties`` is λ
    of each class; ``lower`` is the weight of a known path, or minus infinity.
    """
    of = validate(of)
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
    remaining_graph = of
    if len(keep) < n:
        weights, active = _restrict(of.weights, active, keep)
        to_go = np.ascontiguousarray(to_go[:, keep])
        remaining_graph = Graph(weights, of.first[keep], of.last[keep], of.classes[keep], of.length)
    to_go[~active] = -np.inf
    return Relaxed(bound, keep, remaining_graph, active, penalties, to_go, path, weight, walk, 1, scale)


@njit(cache=True, nogil=True)
def _relax(of, active, penalty, spread, value, to_go, walk, lower, scale):  # type: ignore[no-untyped-def]
    """Return the bound and whether the best penalised walk repeats a class; remove useless positions."""
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
    """Return the best weight from each vertex and position to the sink, by walks without penalties; shape (k, n)."""
    of = validate(of)
    n = len(of.first)
    to_go = np.empty((of.length, n))
    _backward(of.weights, of.last, np.ones((of.length, n), np.bool_), np.zeros(n), to_go)
    return to_go


@njit(cache=True, no_cpython_wrapper=True)
def _forward(weights, first, active, penalty, value):  # type: ignore[no-untyped-def]
    """Write the best penalised weights from the source, including the vertex's own penalty."""
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
    """Write the best penalised weights to the sink, excluding the vertex's own penalty."""
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
    """Write the walk with the best penalised weight in the table of :func:`_forward`.  Return the weight."""
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
def _ascend(remaining_graph, ascent, rounds, small, scale, portion):  # type: ignore[no-untyped-def]
    """Perform at most ``portion`` steps.  Return whether the ascent ended, and the remaining graph."""
    vertices, weights, first, last, classes, active = remaining_graph
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
        if relaxed == -np.inf:  # no walk can be better
            bound, finished = lower, True
            break
        if _visit(classes, walk, visits):
            _store(vertices, walk, repeating)
        else:
            weight = _weight(weights, first, last, walk)
            if weight > lower:
                lower = weight
                _store(vertices, walk, path)
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
        if norm == 0.0:  # the walk is a path and complementary slackness holds: it is optimal
            bound, finished = relaxed, True
            break
        if lower > -np.inf:
            _backward(weights, last, active, penalty, to_go)
            remaining = _remove(active, value, to_go, spread, lower + _margin(lower, scale))
            if remaining <= 0.75 * n:
                keep = _remaining_vertices(active, remaining)
                weights, active = _restrict(weights, active, keep)
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
    return finished, _Remaining(vertices, weights, first, last, classes, active)


@inner
def _visit(classes: Ints, walk: Ints, visits: Ints) -> bool:
    """Count the visits of each class.  Return whether a class is repeated."""
    visits[:] = 0
    repeated = False
    for j in range(len(walk)):
        c = classes[walk[j]]
        visits[c] += 1
        repeated |= visits[c] > 1
    return repeated


@inner
def _store(vertices: Ints, walk: Ints, out: Ints) -> None:
    for j in range(len(walk)):
        out[j] = vertices[walk[j]]


@inner
def _norm(visits: Ints, penalties: Floats) -> float:
    """Return the squared norm of the subgradient, without components that would make penalties negative."""
    norm = 0.0
    for c in range(len(penalties)):
        excess = visits[c] - 1.0
        if excess > 0.0 or (excess < 0.0 and penalties[c] > 0.0):
            norm += excess * excess
    return norm


@inner
def _remove(active: Mask, value: Floats, to_go: Floats, spread: float, cutoff: float) -> int:
    """Remove positions through which no walk exceeds the cutoff.  Return the number of remaining vertices."""
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
def _remaining_vertices(active, count):  # type: ignore[no-untyped-def]
    keep = np.empty(count, np.int64)
    count = 0
    for v in range(active.shape[1]):
        if active[:, v].any():
            keep[count] = v
            count += 1
    return keep


@njit(cache=True, nogil=True)
def _restrict(weights, active, keep):  # type: ignore[no-untyped-def]
    """Return weights and active positions of the vertices ``keep``."""
    m = len(keep)
    smaller = np.empty((m, m))
    for a in range(m):
        row = weights[keep[a]]
        for b in range(m):
            smaller[a, b] = row[keep[b]]
    return smaller, active[:, keep].copy()
