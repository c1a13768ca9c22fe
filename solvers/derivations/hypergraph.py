r"""Best derivations of a hypergraph, sums over all of them, and samples: one recursion over several semirings.

    inside(v) = ⊕_{edges e of v} score(e) ⊗ inside(first(e)) ⊗ inside(second(e))

⊗ adds scores.  ⊕ is the maximum for the best derivation, log Σ exp for sums, and a merge of lists for the k best.

Sums keep the probability of each edge given its vertex, at most 1 by construction.  Probabilities of vertices and edges
follow from the goal down without exponentials.  So marginals are between 0 and 1 for scores of any size.

Sources: J. Goodman, *Semiring parsing*, Computational Linguistics 25, 1999.  L. Huang, D. Chiang, *Better k-best
parsing*, IWPT 2005.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_floats, as_integer
from colgen.solvers.chains.magnitudes import largest
from colgen.solvers.exponentials import exponential
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, int64, quick

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LARGEST = 1e308


class Hypergraph(NamedTuple):
    """Vertices in topological order, the goal last, and the edges of each vertex.

    Edge e of vertex v, ``start[v] <= e < start[v + 1]``, derives v from the vertices ``first[e]`` and ``second[e]``
    (-1 for none), which precede v.  It has the score at ``place[e]`` (-1 for zero).  ``depth`` is the largest number of
    edges of a derivation.  No vertex occurs twice in a derivation.
    """

    start: Ints
    first: Ints
    second: Ints
    place: Ints
    parts: int  # number of scores
    depth: int

    @classmethod
    def from_edges(cls, edges: tuple[Ints, Ints, Ints, Ints], parts: int) -> Hypergraph:
        """Return a hypergraph with the depth of its derivations, given ``(start, first, second, place)``."""
        return cls(*edges, parts, int(_depth(*edges[:3])))


@njit(cache=True)
def _depth(start: Ints, first: Ints, second: Ints) -> int:
    depth = np.zeros(len(start) - 1, np.int64)
    for v in range(len(start) - 1):
        for e in range(start[v], start[v + 1]):
            own = 1
            if first[e] >= 0:
                own += depth[first[e]]
            if second[e] >= 0:
                own += depth[second[e]]
            depth[v] = max(depth[v], own)
    return int(depth[-1])


def _checked(graph: Hypergraph, scores: ArrayLike, axes: int) -> Floats:
    """Return scores as floats after checking their shape and that sums over derivations do not overflow."""
    shape = ("instances", graph.parts) if axes == 2 else (graph.parts,)
    theta: Floats = as_floats(scores, "scores", shape=shape, minus_infinity=True)
    if theta.size:
        limit, greatest = _LARGEST / max(graph.depth, 1), largest(theta)
        if greatest > limit:
            raise ArrayError(
                f"scores: expected numbers of at most {limit:.3g}, since a structure adds up to {graph.depth} of them, "
                f"got {greatest:.3g}; divide the scores by a constant"
            )
    return theta


# --- best ------------------------------------------------------------------------------------------------------------


def best_derivation(graph: Hypergraph, scores: ArrayLike) -> tuple[float, Ints]:
    """Return the largest score of a derivation and the places of its parts; -inf and none if all are forbidden."""
    theta = _checked(graph, scores, 1)
    places = np.empty(graph.depth, np.int64)
    value, count = _best(graph, theta, places)
    return float(value), places[:count]


@njit(cache=True, nogil=True)
def _best(graph: Hypergraph, scores: Floats, places: Ints) -> tuple[float, int]:
    start, first, second, place, _, _ = graph
    size = len(start) - 1
    inside, chosen = np.empty(size), np.empty(size, np.int64)
    for v in range(size):
        most, arg = -np.inf, -1
        for e in range(start[v], start[v + 1]):
            value = scores[place[e]] if place[e] >= 0 else 0.0
            if first[e] >= 0:
                value += inside[first[e]]
            if second[e] >= 0:
                value += inside[second[e]]
            if value > most:
                most, arg = value, e
        inside[v], chosen[v] = most, arg
    count = 0
    if inside[size - 1] > -np.inf:
        stack = np.empty(size + 1, np.int64)
        stack[0], top = size - 1, 1
        while top > 0:
            top -= 1
            e = chosen[stack[top]]
            if place[e] >= 0:
                places[count] = place[e]
                count += 1
            if first[e] >= 0:
                stack[top] = first[e]
                top += 1
            if second[e] >= 0:
                stack[top] = second[e]
                top += 1
    return inside[size - 1], count


# --- k best ----------------------------------------------------------------------------------------------------------


def k_best_derivations(graph: Hypergraph, scores: ArrayLike, k: int) -> tuple[Floats, list[Ints]]:
    """Return the scores of the k best derivations, best first, and the places of their parts; fewer if fewer exist."""
    theta = _checked(graph, scores, 1)
    most = as_integer(k, "k", low=1)
    most = int(min(most, max(_count(graph), 1.0)))  # lists need no room for more
    length = np.zeros(len(graph.start) - 1, np.int64)
    values, chosen = _k_best(graph, theta, most, length)
    found = int(length[-1])
    places = np.empty((found, graph.depth), np.int64)
    counts = np.empty(found, np.int64)
    _trace(graph, chosen, places, counts)
    return values[-1, :found].copy(), [places[r, : counts[r]] for r in range(found)]


@njit(cache=True)
def _count(graph: Hypergraph) -> float:
    """Return the number of derivations."""
    start, first, second, _, _, _ = graph
    count = np.zeros(len(start) - 1)
    for v in range(len(count)):
        for e in range(start[v], start[v + 1]):
            count[v] += (count[first[e]] if first[e] >= 0 else 1.0) * (count[second[e]] if second[e] >= 0 else 1.0)
    return float(count[-1])


@njit(cache=True, no_cpython_wrapper=True)
def _sift(heap: Floats, item: Ints, place: int, waiting: int) -> None:
    """Move an entry of a heap down to its place."""
    while True:
        child = 2 * place + 1
        if child >= waiting:
            return
        if child + 1 < waiting and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= heap[place]:
            return
        heap[child], heap[place] = heap[place], heap[child]
        for c in range(3):
            item[child, c], item[place, c] = item[place, c], item[child, c]
        place = child


@njit(cache=True, no_cpython_wrapper=True)
def _push(heap: Floats, item: Ints, waiting: int, value: float, e: int, a: int, b: int) -> None:
    place = waiting
    while place > 0 and heap[(place - 1) // 2] < value:
        above = (place - 1) // 2
        heap[place] = heap[above]
        item[place] = item[above]
        place = above
    heap[place] = value
    item[place, 0], item[place, 1], item[place, 2] = e, a, b


@njit(cache=True, nogil=True)
def _k_best(graph: Hypergraph, scores: Floats, k: int, length: Ints) -> tuple[Floats, Ints]:
    """Return values and choices (edge, ranks of its tails) of the k best derivations of each vertex.

    Each vertex merges the lists of its edges by a heap.  From ranks (a, b) of the tails, (a, b + 1) follows, and
    (a + 1, b) only if b is 0, so that each pair is reached once.
    """
    start, first, second, place, _, _ = graph
    size = len(start) - 1
    values, chosen = np.empty((size, k)), np.empty((size, k, 3), np.int64)
    widest = 0
    for v in range(size):
        widest = max(widest, start[v + 1] - start[v])
    heap, item = np.empty(widest + 2 * k + 2), np.empty((widest + 2 * k + 2, 3), np.int64)
    for v in range(size):
        waiting = 0
        for e in range(start[v], start[v + 1]):
            f, s = first[e], second[e]
            value = scores[place[e]] if place[e] >= 0 else 0.0
            if (f >= 0 and length[f] == 0) or (s >= 0 and length[s] == 0) or value == -np.inf:
                continue
            value += (values[f, 0] if f >= 0 else 0.0) + (values[s, 0] if s >= 0 else 0.0)
            _push(heap, item, waiting, value, e, int64(0), int64(0))
            waiting += 1
        count = 0
        while count < k and waiting > 0:
            values[v, count] = heap[0]
            e, a, b = item[0, 0], item[0, 1], item[0, 2]
            chosen[v, count, 0], chosen[v, count, 1], chosen[v, count, 2] = e, a, b
            count += 1
            waiting -= 1
            heap[0] = heap[waiting]
            item[0] = item[waiting]
            _sift(heap, item, int64(0), waiting)
            f, s = first[e], second[e]
            own = scores[place[e]] if place[e] >= 0 else 0.0
            if s >= 0 and b + 1 < length[s]:
                _push(heap, item, waiting, own + values[f, a] + values[s, b + 1], e, a, b + 1)
                waiting += 1
            if f >= 0 and b == 0 and a + 1 < length[f]:
                other = values[s, 0] if s >= 0 else 0.0
                _push(heap, item, waiting, own + values[f, a + 1] + other, e, a + 1, int64(0))
                waiting += 1
        length[v] = count
    return values, chosen


@njit(cache=True, nogil=True)
def _trace(graph: Hypergraph, chosen: Ints, places: Ints, counts: Ints) -> None:
    start, first, second, place, _, _ = graph
    stack = np.empty((len(start), 2), np.int64)
    for r in range(len(places)):
        stack[0, 0], stack[0, 1] = len(start) - 2, r
        top, count = 1, 0
        while top > 0:
            top -= 1
            v, rank = stack[top, 0], stack[top, 1]
            e, a, b = chosen[v, rank, 0], chosen[v, rank, 1], chosen[v, rank, 2]
            if place[e] >= 0:
                places[r, count] = place[e]
                count += 1
            if first[e] >= 0:
                stack[top, 0], stack[top, 1] = first[e], a
                top += 1
            if second[e] >= 0:
                stack[top, 0], stack[top, 1] = second[e], b
                top += 1
        counts[r] = count


# --- sums ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DerivationSums:
    """Sums over the derivations of a hypergraph, for several arrays of scores.

    ``log_partition`` is log Σ exp over the scores of all derivations, shape (instances,), -inf if all are forbidden.
    """

    log_partition: Floats
    _graph: Hypergraph
    _shares: Floats  # (instances, edges): the probability of an edge given its vertex

    @cached_property
    def means(self) -> Floats:
        """Expected numbers of occurrences of the parts, shape (instances, parts), zero if all are forbidden."""
        return self.scaled_means(np.ones(len(self.log_partition)))

    def scaled_means(self, factors: ArrayLike) -> Floats:
        """Return the means of each instance times its factor: derivatives of a sum of log-partition functions."""
        weights: Floats = as_floats(factors, "factors", shape=self.log_partition.shape)
        means = np.zeros((len(weights), self._graph.parts))
        _outside(self._graph, self._shares, self.log_partition, weights, means)
        return means

    def tangent(self, directions: ArrayLike) -> tuple[Floats, Floats]:
        """Return derivatives of ``log_partition`` and ``means`` in directions of the scores, shape (instances, parts).

        Second derivatives are symmetric.  So let a function have the directions as its gradient with respect to the
        means.  The derivatives of the means are its gradient with respect to the scores.
        """
        along: Floats = as_floats(directions, "directions", shape=(len(self.log_partition), self._graph.parts))
        first, means = np.zeros(len(along)), np.zeros(along.shape)
        _tangent(self._graph, self._shares, along, first, means)
        return first, means

    def sample(self, generator: np.random.Generator, instance: int = 0) -> Ints:
        """Return the places of the parts of a derivation drawn with its probability; none if all are forbidden."""
        places = np.empty(self._graph.depth, np.int64)
        if self.log_partition[instance] == -np.inf:
            return places[:0]
        drawn = generator.random(self._graph.depth)
        return places[: _sample(self._graph, self._shares[instance], drawn, places)]


def derivation_sums(graph: Hypergraph, scores: ArrayLike) -> DerivationSums:
    """Return sums over all derivations for several arrays of scores, shape (instances, parts); -inf forbids a part."""
    theta = _checked(graph, scores, 2)
    log_partition = np.empty(len(theta))
    shares = np.empty((len(theta), len(graph.first)))
    _inside(graph, theta, shares, log_partition)
    return DerivationSums(log_partition, graph, shares)


@quick
def _sum(values: Floats) -> float:
    total = 0.0
    for e in range(len(values)):
        total += values[e]
    return total


@inner
def _to_shares(values: Floats, most: float) -> float:
    """Replace logarithms by exponentials divided by their sum.  Return the logarithm of the sum."""
    for e in range(len(values)):
        values[e] = exponential(values[e] - most)
    total = _sum(values)
    factor = 1.0 / total if total > 0.0 else 0.0  # not zero, but divisions that may fail are no vector instructions
    for e in range(len(values)):
        values[e] *= factor
    logarithm: float = most + np.log(total)
    return logarithm


@njit(cache=True, nogil=True)
def _inside(graph: Hypergraph, scores: Floats, shares: Floats, log_partition: Floats) -> None:
    start, first, second, place, _, _ = graph
    size = len(start) - 1
    inside = np.empty(size)
    for k in range(len(scores)):
        own, share = scores[k], shares[k]
        for v in range(size):
            most = -np.inf
            begin, end = start[v], start[v + 1]
            for e in range(begin, end):
                value = own[place[e]] if place[e] >= 0 else 0.0
                if first[e] >= 0:
                    value += inside[first[e]]
                if second[e] >= 0:
                    value += inside[second[e]]
                share[e] = value
                most = max(most, value)
            if end - begin == 1 or most == -np.inf:
                for e in range(begin, end):
                    share[e] = 1.0 if most > -np.inf else 0.0
                inside[v] = most
                continue
            inside[v] = _to_shares(share[begin:end], most)
        log_partition[k] = inside[size - 1]


@njit(cache=True, nogil=True)
def _outside(graph: Hypergraph, shares: Floats, log_partition: Floats, factors: Floats, means: Floats) -> None:
    """Compute the probabilities of all parts, from the goal down, times a factor per instance."""
    start, first, second, place, _, _ = graph
    size = len(start) - 1
    outside = np.empty(size)
    for k in range(len(shares)):
        if log_partition[k] == -np.inf:
            continue
        share, mean = shares[k], means[k]
        outside[:] = 0.0
        outside[size - 1] = factors[k]
        for v in range(size - 1, -1, -1):
            if outside[v] == 0.0:
                continue
            begin, end = start[v], start[v + 1]
            for e in range(begin, end):
                p = outside[v] * share[e]
                if place[e] >= 0:
                    mean[place[e]] += p
                if first[e] >= 0:
                    outside[first[e]] += p
                if second[e] >= 0:
                    outside[second[e]] += p


@njit(cache=True, nogil=True)
def _tangent(graph: Hypergraph, shares: Floats, directions: Floats, first_order: Floats, means: Floats) -> None:
    """Compute derivatives in a direction: of inside values upwards, of the probabilities downwards."""
    start, first, second, place, _, _ = graph
    size = len(start) - 1
    slope, change = np.empty(size), np.empty(len(first))
    outside, gain = np.empty(size), np.empty(size)
    for k in range(len(shares)):
        share, along, mean = shares[k], directions[k], means[k]
        for v in range(size):
            total = 0.0
            for e in range(start[v], start[v + 1]):
                value = along[place[e]] if place[e] >= 0 else 0.0
                if first[e] >= 0:
                    value += slope[first[e]]
                if second[e] >= 0:
                    value += slope[second[e]]
                change[e] = value
                total += share[e] * value
            slope[v] = total
            for e in range(start[v], start[v + 1]):
                change[e] = share[e] * (change[e] - total)
        first_order[k] = slope[size - 1]
        outside[:] = 0.0
        gain[:] = 0.0
        outside[size - 1] = 1.0
        for v in range(size - 1, -1, -1):
            if outside[v] == 0.0:
                continue
            for e in range(start[v], start[v + 1]):
                p, d = outside[v] * share[e], gain[v] * share[e] + outside[v] * change[e]
                if place[e] >= 0:
                    mean[place[e]] += d
                if first[e] >= 0:
                    outside[first[e]] += p
                    gain[first[e]] += d
                if second[e] >= 0:
                    outside[second[e]] += p
                    gain[second[e]] += d


@njit(cache=True, nogil=True)
def _sample(graph: Hypergraph, share: Floats, drawn: Floats, places: Ints) -> int:
    start, first, second, place, _, _ = graph
    stack = np.empty(len(start), np.int64)
    stack[0], top, count, step = len(start) - 2, 1, 0, 0
    while top > 0:
        top -= 1
        v = stack[top]
        left, e = drawn[step], -1
        step += 1
        for other in range(start[v], start[v + 1]):
            if share[other] > 0.0:  # rounding may leave a rest: the last possible edge takes it
                e = other
                left -= share[other]
                if left <= 0.0:
                    break
        if place[e] >= 0:
            places[count] = place[e]
            count += 1
        if first[e] >= 0:
            stack[top] = first[e]
            top += 1
        if second[e] >= 0:
            stack[top] = second[e]
            top += 1
    return count
