"""Directed graphs as arrays."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.errors import InputError
from colgen.networks.rules import Vertex
from colgen.solvers.topological import topological_ranks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Graph:
    """A directed graph with numbered vertices, a source and a sink.

    A source that is also the sink, such as a depot, becomes two vertices: the last one is the sink.

    Attributes
    ----------
    vertices
        Names of the vertices, in the order of their numbers.
    tails, heads
        Numbers of the ends of each arc.
    names
        Names of the arcs: tail, head and, for graphs with keys, the key.
    """

    vertices: tuple[Any, ...]
    tails: Ints
    heads: Ints
    source: int
    sink: int

    def __init__(self, graph: Sequence[Any], source: Vertex, sink: Vertex) -> None:
        number = self._read(graph, [source, sink])
        self.source = self.sink = number[source]
        if source == sink:
            self.sink = len(self.vertices)
            self.vertices = (*self.vertices, sink)
            self.heads = np.where(self.heads == self.source, self.sink, self.heads)
        else:
            self.sink = number[sink]
        self._check()

    @classmethod
    def without_ends(cls, graph: Sequence[Any]) -> Graph:
        """Return a graph for commodities, with neither source nor sink."""
        new = cls.__new__(cls)
        new._read(graph, [])
        new.source = new.sink = -1
        return new

    def _read(self, graph: Sequence[Any], ends: list[Vertex]) -> dict[Any, int]:
        """Set vertices and arcs.  Return the numbers of the vertices."""
        if not isinstance(graph, (tuple, list)) or len(graph) not in (2, 3):
            raise InputError("graph: expected (tails, heads) or (tails, heads, keys), one entry per arc each")
        tails, heads = (_listed(ends) for ends in graph[:2])
        self.keys: list[Hashable] | None = _listed(graph[2]) if len(graph) == 3 else None
        if len(tails) != len(heads) or (self.keys is not None and len(self.keys) != len(tails)):
            raise InputError(f"graph: expected as many heads and keys as tails, got {len(heads)} for {len(tails)}")
        if not tails:
            raise InputError("graph: expected at least one arc")
        self.vertices, number = _number(ends, tails, heads)
        self.tails = np.fromiter(map(number.__getitem__, tails), np.int64, len(tails))
        self.heads = np.fromiter(map(number.__getitem__, heads), np.int64, len(heads))
        self._ends = tails, heads
        return number

    @cached_property
    def names(self) -> list[tuple[Hashable, ...]]:
        """The arcs' names: tail, head and, for graphs with keys, the key."""
        keys = () if self.keys is None else (self.keys,)
        return list(zip(*self._ends, *keys, strict=True))

    def _check(self) -> None:
        for wrong, what in (
            (self.tails == self.heads, "no arc from a vertex to itself"),
            (self.heads == self.source, "no arc into the source"),
            (self.tails == self.sink, "no arc out of the sink"),
        ):
            if wrong.any():
                raise InputError(f"graph: expected {what}, got {self.names[int(np.argmax(wrong))]}")
        forward = reached(len(self.vertices), self.tails, self.heads, self.source)
        backward = reached(len(self.vertices), self.heads, self.tails, self.sink)
        for found, where in ((forward, "is not reached from the source"), (backward, "does not reach the sink")):
            if not found.all():
                vertex = self.vertices[int(np.argmin(found))]
                raise InputError(f"graph: vertex {vertex!r} {where}: remove it, or add arcs")

    @cached_property
    def is_acyclic(self) -> bool:
        """Whether the graph has no directed cycle."""
        return topological_ranks(len(self.vertices), self.tails, self.heads) is not None

    @cached_property
    def has_parallel_arcs(self) -> bool:
        """Whether two arcs have the same tail and head."""
        return len(np.unique(self.tails * len(self.vertices) + self.heads)) < len(self.tails)

    def per_vertex(self, values: Any, name: str, default: float) -> Floats:
        """Return a number, an array over vertices or a mapping from vertices as an array."""
        count = len(self.vertices)
        if not isinstance(values, Mapping):
            return _array(values, name, (count,), "vertex")
        unknown = [vertex for vertex in values if vertex not in set(self.vertices)]
        if unknown:
            raise InputError(f"{name}: {unknown[0]!r} is not a vertex of the graph")
        return _array([values.get(vertex, default) for vertex in self.vertices], name, (count,), "vertex")

    def per_arc(self, values: Any, name: str) -> Floats:
        """Return an array over arcs, or a mapping from vertices to the value of each arc into them."""
        if isinstance(values, Mapping):
            return self.per_vertex(values, name, 0.0)[self.heads]
        return _array(values, name, (len(self.tails),), "arc")


def reached(count: int, tails: Ints, heads: Ints, start: int) -> NDArray[np.bool_]:
    """Return which vertices a search from ``start`` along arcs reaches."""
    from scipy.sparse import csr_array  # a slow import
    from scipy.sparse.csgraph import breadth_first_order

    graph = csr_array((np.ones(len(tails), dtype=np.int8), (tails, heads)), shape=(count, count))
    reached = np.zeros(count, dtype=np.bool_)
    reached[breadth_first_order(graph, start, return_predecessors=False)] = True
    return reached


def _listed(values: Any) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _number(ends: list[Any], tails: list[Any], heads: list[Any]) -> tuple[tuple[Any, ...], dict[Any, int]]:
    """Return the names of vertices and their numbers: sorted if all are integers, else in order of appearance."""
    names = dict.fromkeys([*ends[:1], *tails, *heads, *ends[1:]])
    ordered = tuple(sorted(names)) if all(isinstance(name, int) for name in names) else tuple(names)
    return ordered, {name: k for k, name in enumerate(ordered)}


def _array(values: ArrayLike, name: str, shape: tuple[int], what: str) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
        array = np.broadcast_to(array, shape) if array.ndim == 0 else array
    except (TypeError, ValueError):
        raise InputError(f"{name}: expected numbers, not {values!r}") from None
    if array.shape != shape or np.isnan(array).any():
        raise InputError(f"{name}: expected {shape[0]} numbers, one per {what}, got {array.shape}")
    return np.ascontiguousarray(array)
