r"""Shortest paths from several sources, each to all its sinks, in a digraph with nonnegative arc costs.

One search per source finds the paths to all its sinks and ends with the last of them.  A source is skipped if its last
paths are still shortest: no arc of them has become dearer, and no arc out of a vertex that its search settled has
become cheaper.  An arc out of another vertex begins no shorter path, because all distances there are at least those of
the sinks.

Source: E. W. Dijkstra, *A note on two problems in connexion with graphs*, Numerische Mathematik 1 (1959), with a heap
of four children per node.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_MOST_BITS = 1 << 31
"""Searches are remembered up to this many pairs of source and vertex (256 MB)."""


@dataclass(frozen=True)
class PathsFound:
    """A shortest path for each pair of source and sink.

    Attributes
    ----------
    distances
        One per pair; infinite without a path.
    starts, arcs
        The arcs of pair k in order are ``arcs[starts[k]:starts[k + 1]]``.
    searched
        Number of sources that were searched; the others kept their paths.
    """

    distances: Floats
    starts: Ints
    arcs: Ints
    searched: int


class ManySinks:
    """Finds shortest paths for pairs of a source and a sink.

    Parameters
    ----------
    vertices
        Number of vertices.
    tails, heads
        Ends of each arc.
    sources, sinks
        Ends of each pair; pairs of one source share a search.

    Examples
    --------
    >>> finder = ManySinks(3, [0, 1, 0], [1, 2, 2], [0, 0], [1, 2])
    >>> finder.search([1.0, 1.0, 3.0]).distances.tolist()
    [1.0, 2.0]
    """

    def __init__(self, vertices: int, tails: Ints, heads: Ints, sources: Ints, sinks: Ints) -> None:
        self.tails, self.heads = np.asarray(tails, dtype=np.int64), np.asarray(heads, dtype=np.int64)
        self._order = np.argsort(self.tails, kind="stable")
        self._starts = np.searchsorted(self.tails[self._order], np.arange(vertices + 1))
        self._targets = self.heads[self._order]
        sources, self._sinks = np.asarray(sources, dtype=np.int64), np.asarray(sinks, dtype=np.int64)
        self._pairs = np.argsort(sources, kind="stable")
        self._sources, first = np.unique(sources[self._pairs], return_index=True)
        self._first = np.append(first, len(sources)).astype(np.int64)
        remembers = len(self._sources) * vertices <= _MOST_BITS
        self._settled = np.zeros((len(self._sources) if remembers else 0, (vertices + 7) // 8), dtype=np.uint8)
        self._last: tuple[Floats, PathsFound] | None = None

    def search(self, costs: Floats) -> PathsFound:
        """Return a shortest path of each pair; an infinite cost closes an arc."""
        costs = np.asarray(costs, dtype=np.float64)
        stale = self._stale(costs)
        if self._last is None:
            count = len(self._sinks)
            known = PathsFound(np.full(count, np.inf), np.zeros(count + 1, np.int64), np.empty(0, np.int64), 0)
        else:
            known = self._last[1]
        distances, starts, arcs = _search(
            (self._starts, self._order, self.tails, self._targets),
            costs,
            (self._sources, self._first, self._pairs, self._sinks),
            stale,
            self._settled,
            (known.distances, known.starts, known.arcs),
        )
        found = PathsFound(distances, starts, arcs, int(stale.sum()))
        self._last = costs.copy(), found
        return found

    def _stale(self, costs: Floats) -> NDArray[np.bool_]:
        """Return which sources must be searched again."""
        if self._last is None or not len(self._settled):
            return np.ones(len(self._sources), dtype=np.bool_)
        before, found = self._last
        cheaper = np.unique(self.tails[costs < before])
        stale: NDArray[np.bool_] = _changed(
            self._first, self._pairs, self._settled, cheaper, costs > before, found.starts, found.arcs
        )
        return stale


@njit(cache=True, nogil=True)
def _changed(first, pairs, settled, cheaper, dearer, starts, arcs):  # type: ignore[no-untyped-def]
    stale = np.zeros(len(first) - 1, dtype=np.bool_)
    for s in range(len(stale)):
        for v in cheaper:
            if settled[s, v >> 3] >> (v & 7) & 1:
                stale[s] = True
                break
        for j in range(first[s], first[s + 1]):
            if stale[s]:
                break
            for e in range(starts[pairs[j]], starts[pairs[j] + 1]):
                if dearer[arcs[e]]:
                    stale[s] = True
                    break
    return stale


@njit(cache=True, nogil=True)
def _search(graph, costs, ends, stale, settled, known):  # type: ignore[no-untyped-def]
    """Search from the stale sources.  Return distances, starts and arcs of all pairs."""
    begins, order, tails, heads = graph
    sources, first, pairs, sinks = ends
    old_distances, old_starts, old_arcs = known
    vertices, count = len(begins) - 1, len(sinks)
    distance = np.empty(vertices)
    arrived, heap, touched = np.empty(vertices, np.int64), np.empty(vertices, np.int64), np.empty(vertices, np.int64)
    place = np.full(vertices, -1)  # in the heap; -1 before the first arrival
    done, wanted = np.zeros(vertices, np.bool_), np.zeros(vertices, np.bool_)
    distances, starts = old_distances.copy(), np.zeros(count + 1, np.int64)
    where = np.zeros(count, np.int64)  # of each new path, backwards, in the buffer
    buffer, filled = np.empty(max(len(old_arcs), 1024), np.int64), 0
    for s in range(len(sources)):
        if not stale[s]:
            for j in range(first[s], first[s + 1]):
                starts[pairs[j] + 1] = old_starts[pairs[j] + 1] - old_starts[pairs[j]]
            continue
        source, left, size, reached = sources[s], 0, 1, 1
        for j in range(first[s], first[s + 1]):
            if not wanted[sinks[pairs[j]]]:
                wanted[sinks[pairs[j]]] = True
                left += 1
        if len(settled):
            settled[s, :] = 0
        distance[source], arrived[source], heap[0], place[source], touched[0] = 0.0, -1, source, 0, source
        while size:
            u = heap[0]
            size -= 1
            done[u] = True
            if len(settled):
                settled[s, u >> 3] |= np.uint8(1 << (u & 7))
            if size:
                _sink_down(heap, place, distance, heap[size], size)
            if wanted[u]:
                left -= 1
                if not left:
                    break
            for j in range(begins[u], begins[u + 1]):
                v = heads[j]
                if done[v]:
                    continue
                value = distance[u] + costs[order[j]]
                if place[v] < 0:
                    if value == np.inf:
                        continue
                    place[v] = size
                    size += 1
                    touched[reached] = v
                    reached += 1
                elif value >= distance[v]:
                    continue
                distance[v], arrived[v] = value, order[j]
                _rise(heap, place, distance, v)
        for j in range(first[s], first[s + 1]):
            k = pairs[j]
            v = sinks[k]
            wanted[v] = False
            where[k] = filled
            if place[v] < 0:
                distances[k] = np.inf
                continue
            distances[k] = distance[v]
            while v != source:
                if filled == len(buffer):
                    larger = np.empty(2 * filled, np.int64)
                    larger[:filled] = buffer
                    buffer = larger
                buffer[filled] = arrived[v]
                filled += 1
                v = tails[arrived[v]]
            starts[k + 1] = filled - where[k]
        for i in range(reached):
            place[touched[i]], done[touched[i]] = -1, False
    for k in range(count):
        starts[k + 1] += starts[k]
    arcs = np.empty(starts[count], np.int64)
    for s in range(len(sources)):
        for j in range(first[s], first[s + 1]):
            k = pairs[j]
            size = starts[k + 1] - starts[k]
            for e in range(size):
                if stale[s]:
                    arcs[starts[k] + e] = buffer[where[k] + size - 1 - e]
                else:
                    arcs[starts[k] + e] = old_arcs[old_starts[k] + e]
    return distances, starts, arcs


@njit(cache=True, no_cpython_wrapper=True)
def _sink_down(heap, place, distance, v, size):  # type: ignore[no-untyped-def]
    """Put a vertex at the root of the heap and move it down."""
    i = 0
    while True:
        child = 4 * i + 1
        if child >= size:
            break
        best = child
        for k in range(child + 1, min(child + 4, size)):
            if distance[heap[k]] < distance[heap[best]]:
                best = k
        if distance[heap[best]] >= distance[v]:
            break
        heap[i] = heap[best]
        place[heap[i]] = i
        i = best
    heap[i], place[v] = v, i


@njit(cache=True, no_cpython_wrapper=True)
def _rise(heap, place, distance, v):  # type: ignore[no-untyped-def]
    """Move a vertex up from its place in the heap."""
    i = place[v]
    while i > 0:
        parent = (i - 1) >> 2
        if distance[heap[parent]] <= distance[v]:
            break
        heap[i] = heap[parent]
        place[heap[i]] = i
        i = parent
    heap[i], place[v] = v, i
