"""Instances of selection and ordering: validated data, networkx graphs, random instances."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen import InputError
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.numbers import to_integer
from colgen.problems.title_path.scaled import Scaled, scale_graph
from colgen.solvers.paths import walks

Path: TypeAlias = tuple[int, ...]
"""The vertex numbers of a path without source and sink."""

MAX_VERTICES = 1 << 13
"""Largest number of vertices of a graph from a file: weights of all pairs then need half a gigabyte."""

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PathInstance:
    """A weighted digraph with source and sink, in which the heaviest path of k vertices of different classes is sought.

    Parameters
    ----------
    weights
        Shape (n, n): weight of the arc from row to column, -inf for no arc. The diagonal and arcs within a class are
        ignored.
    first, last
        Shape (n,): weights of the arcs from the source and to the sink.
    length
        k, the number of vertices between source and sink.
    classes
        Class of each vertex, any hashable; by default each vertex has its own class.
    labels
        Labels of the vertices; by default their numbers.
    name
        Name of the instance.
    via
        Shape (n + 1, n): index in ``via_labels`` of the label of each arc (of the heaviest of parallel arcs), -1 if it
        has no label. The last row is that of the source.

    Raises
    ------
    InputError
        If the data is invalid: NaN, +inf, different sizes, k below 1, no vertex.
    """

    weights: Floats
    first: Floats
    last: Floats
    length: int
    classes: tuple[Hashable, ...] = ()
    labels: tuple[Hashable, ...] = ()
    name: str = ""
    via: Ints | None = field(default=None, repr=False)
    via_labels: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        first = _weights(self.first, "the weights of the arcs from the source", None)
        n = len(first)
        if n == 0:
            raise InputError("expected at least one vertex between source and sink, got none")
        last = _weights(self.last, "the weights of the arcs to the sink", (n,))
        weights = _weights(self.weights, "the weights of the arcs", (n, n))
        for name, value in (("first", first), ("last", last), ("weights", weights)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "length", as_length(self.length))
        object.__setattr__(self, "classes", tuple(self.classes) or tuple(range(n)))
        object.__setattr__(self, "labels", tuple(self.labels) or tuple(range(n)))
        for name in ("classes", "labels"):
            if len(getattr(self, name)) != n:
                raise InputError(f"expected {name} of {n} vertices, got {len(getattr(self, name))}")
        if len(set(self.labels)) != n:
            raise InputError("expected different labels for all vertices, but some are equal")
        if self.via is not None and self.via.shape != (n + 1, n):
            raise InputError(f"expected via of shape {(n + 1, n)}, got {self.via.shape}")

    @property
    def num_vertices(self) -> int:
        return len(self.first)

    @cached_property
    def class_numbers(self) -> Ints:
        """The class of each vertex as a number from 0, in the order of first appearance."""
        number: dict[Hashable, int] = {}
        return np.array([number.setdefault(c, len(number)) for c in self.classes], dtype=np.int64)

    @property
    def num_classes(self) -> int:
        return int(self.class_numbers.max()) + 1

    @cached_property
    def graph(self) -> walks.Graph:
        """The arrays for the kernels of :mod:`solvers`; a length above n is replaced by n + 1."""
        length = min(self.length, self.num_vertices + 1)
        return walks.graph(self.weights, self.first, self.last, self.class_numbers, length)

    @cached_property
    def scaled(self) -> Scaled:
        """The graph with weights near 1, which the kernels' tolerances require."""
        return scale_graph(self.graph)

    @cached_property
    def reduced(self) -> PathInstance:
        """The instance without arcs that no best path uses, such as penalties, which would hide small differences."""
        left = self.scaled.graph
        weights, first, last = (
            np.where(kept > -np.inf, own, -np.inf)
            for kept, own in ((left.weights, self.weights), (left.first, self.first), (left.last, self.last))
        )
        return replace(self, weights=weights, first=first, last=last)

    def with_length(self, length: int) -> PathInstance:
        """Return the same graph with another k."""
        return replace(self, length=length)

    def objective(self, path: Sequence[int]) -> float:
        """Return the weight of a path including the arcs of source and sink; -inf if an arc is missing."""
        total = float(self.first[path[0]])
        for u, v in itertools.pairwise(path):
            total += float(self.weights[u, v])
        return total + float(self.last[path[-1]])

    def check(self, path: Sequence[int]) -> float:
        """Return the weight of a path after checking from the data alone that it is feasible.

        Raises
        ------
        ValueError
            If it is infeasible.
        """
        try:
            path = [operator.index(v) for v in path]
        except TypeError:
            raise ValueError(f"expected vertex numbers, not {path!r}") from None
        if len(path) != self.length:
            raise ValueError(f"the path has {len(path)} vertices, expected {self.length}")
        if not all(0 <= v < self.num_vertices for v in path):
            raise ValueError(f"the path {path} has a vertex outside 0 to {self.num_vertices - 1}")
        seen: dict[Hashable, int] = {}
        for v in path:
            other = seen.setdefault(self.classes[v], v)
            if other != v or path.count(v) > 1:
                raise ValueError(
                    f"the path visits class {self.classes[v]!r} twice: at {self.labels[other]!r} and {self.labels[v]!r}"
                )
        weight = self.objective(path)
        if not math.isfinite(weight):
            raise ValueError(f"the path {path} uses an arc that does not exist")
        return weight

    def words(self, path: Sequence[int]) -> list[Hashable]:
        """Return the labels of the vertices of a path and of its labelled arcs, in order."""
        words: list[Hashable] = []
        before = self.num_vertices  # the source
        for v in path:
            if self.via is not None and self.via[before, v] >= 0:
                words.append(self.via_labels[self.via[before, v]])
            words.append(self.labels[v])
            before = v
        return words


def check_path(instance: PathInstance, path: Sequence[int]) -> float:
    """Return :meth:`PathInstance.check`, with the engine's error for infeasible paths."""
    try:
        return instance.check(path)
    except ValueError as error:
        raise InfeasibleAnswerError(str(error)) from None


def check_size(n: int) -> None:
    """Raise InputError for too many vertices, before a table of all pairs is allocated."""
    if n > MAX_VERTICES:
        raise InputError(f"expected a graph of at most {MAX_VERTICES} vertices, got {n}")


def as_length(value: object) -> int:
    """Return a number of vertices after checking that it is an integer of at least 1."""
    number = to_integer(value, "the length k")
    if number < 1:
        raise InputError(f"the length k must be at least 1, not {number}")
    if number >= 2**63:
        raise InputError(f"the length k must be less than 2^63, not {number}")
    return number


def _weights(values: ArrayLike, what: str, shape: tuple[int, ...] | None) -> Floats:
    try:
        array = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(f"{what}: expected numbers") from None
    if (array.ndim != 1) if shape is None else (array.shape != shape):
        raise InputError(f"{what}: expected shape {shape or '(n,)'}, got {array.shape}")
    wrong = np.isnan(array) | (array == np.inf)
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        place = where if len(where) > 1 else where[0]
        raise InputError(
            f"{what}: expected finite numbers, or -inf for a missing arc, but entry {place} is {array[where]}"
        )
    return array


# --- graphs ----------------------------------------------------------------------------------------------------------


def from_graph(
    graph: nx.DiGraph,
    source: Hashable,
    sink: Hashable,
    length: int,
    *,
    weight: str = "weight",
    classes: Mapping[Hashable, Hashable] | str = "class",
    label: str = "label",
    name: str = "",
) -> PathInstance:
    """Return the instance of a networkx digraph; only the heaviest of parallel arcs (``MultiDiGraph``) counts.

    Arcs that no path can use are ignored: into the source, out of the sink, from source to sink, and loops.

    Parameters
    ----------
    weight
        Attribute of the arcs.
    classes
        Vertex attribute, or a mapping from vertices to classes; a vertex without a class has its own.
    label
        Arc attribute with a label for :meth:`PathInstance.words`.

    Raises
    ------
    InputError
        If the graph is undirected or has no source or sink, if an arc has no weight, or if the mapping has unknown
        vertices.
    """
    if not graph.is_directed():
        raise InputError("expected a directed graph (networkx.DiGraph)")
    for what, vertex in (("source", source), ("sink", sink)):
        if vertex not in graph:
            raise InputError(f"the {what} {vertex!r} is not a vertex of the graph")
    if source == sink:
        raise InputError(f"source and sink must be different, both are {source!r}")
    labels = [v for v in graph if v not in (source, sink)]
    number = {v: k for k, v in enumerate(labels)}
    if isinstance(classes, str):
        given = {v: data[classes] for v, data in graph.nodes(data=True) if classes in data}
    else:
        given = dict(classes)
        unknown = [v for v in given if v not in graph]
        if unknown:
            raise InputError(f"classes has {unknown[0]!r}, which is not a vertex of the graph")
    arcs = []
    for u, v, data in graph.edges(data=True):
        if v == source or u in (sink, v) or (u == source and v == sink):
            continue
        if weight not in data:
            raise InputError(f"the arc from {u!r} to {v!r} has no attribute {weight!r}")
        tail = None if u == source else number[u]
        head = None if v == sink else number[v]
        arcs.append((tail, head, data[weight], data.get(label)))
    # The pairs distinguish a vertex without a class from a class of the same name.
    own = [("class", given[v]) if v in given else ("vertex", v) for v in labels]
    return from_arcs(len(labels), arcs, length, own, labels, name)


def from_arcs(
    n: int,
    arcs: Iterable[tuple[int | None, int | None, float, str | None]],
    length: int,
    classes: Sequence[Hashable],
    labels: Sequence[Hashable],
    name: str,
) -> PathInstance:
    """Return an instance from arcs (tail or None for the source, head or None for the sink, weight, label)."""
    check_size(n)
    weights, first, last = np.full((n, n), -np.inf), np.full(n, -np.inf), np.full(n, -np.inf)
    via = np.full((n + 1, n), -1, dtype=np.int64)
    names: dict[str, int] = {}
    for tail, head, weight, label in arcs:
        value = _number(weight, tail, head, labels)
        if head is None:
            assert tail is not None
            last[tail] = max(last[tail], value)
            continue
        old = first[head] if tail is None else weights[tail, head]
        if value > old or old == -np.inf:
            if tail is None:
                first[head] = value
            else:
                weights[tail, head] = value
            via[n if tail is None else tail, head] = -1 if label is None else names.setdefault(str(label), len(names))
    return PathInstance(
        weights, first, last, length, tuple(classes), tuple(labels), name, via if names else None, tuple(names)
    )


def _number(value: Any, tail: int | None, head: int | None, labels: Sequence[Hashable]) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number) or number == math.inf or isinstance(value, bool):
        ends = (
            "the source" if tail is None else repr(labels[tail]),
            "the sink" if head is None else repr(labels[head]),
        )
        raise InputError(f"the arc from {ends[0]} to {ends[1]} has the weight {value!r}, expected a finite number")
    return number


# --- random instances ------------------------------------------------------------------------------------------------


def random(
    num_vertices: int,
    length: int,
    seed: int,
    *,
    num_classes: int | None = None,
    density: float = 1.0,
    attraction: float = 0.0,
) -> PathInstance:
    """Return an instance with normally distributed weights.

    Parameters
    ----------
    num_classes
        Number of classes, to which vertices are assigned at random; by default each vertex has its own.
    density
        Probability of an arc.
    attraction
        Mean of an exponentially distributed value of each vertex, which is added to all arcs that enter it. With a
        large mean, the heaviest walks alternate between a few vertices, so the rows of classes matter.
    """
    rng = np.random.default_rng(seed)
    n = num_vertices
    value = attraction * rng.exponential(size=n)
    weights, first, last = rng.normal(size=(n, n)) + value, rng.normal(size=n) + value, rng.normal(size=n)
    if density < 1.0:
        for array in (weights, first, last):
            array[rng.random(array.shape) >= density] = -np.inf
    classes = () if num_classes is None else tuple(rng.integers(0, num_classes, n).tolist())
    return PathInstance(weights, first, last, length, classes, name=f"random-{n}-{length}-{seed}")
