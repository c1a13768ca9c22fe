"""Resources and rules of the paths of a network.

Arrays over arcs are in the order of the graph's arcs.  Arrays over vertices are in the order of
:attr:`colgen.Paths.vertices`; a mapping from vertices to values is accepted instead.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

Vertex: TypeAlias = Hashable


@dataclass(frozen=True, eq=False)
class Resource:
    """A quantity that paths consume on arcs, with limits at vertices, such as a load or the time.

    The value at the head of an arc is ``max(lower[head], value at the tail + consumption)``, and at most
    ``upper[head]``.

    Parameters
    ----------
    consumption
        An array over arcs, or a mapping from vertices: the consumption on each arc into the vertex, 0 for the others.
    upper
        A number, an array over vertices, or a mapping; vertices without an entry have no limit.
    lower
        The same for the lower limit.
    waiting
        Whether a value below the lower limit is raised to it; False: the path is infeasible.  A minimum at the sink is
        ``Resource(..., lower={sink: 3.0}, waiting=False)``.
    start
        The value at the source.
    penalty
        ``(thresholds, rates)``, each a number, an array over vertices, or a mapping.  A path pays
        ``rate * max(0, value - threshold)`` at each vertex but the source, in addition to the costs of its arcs.
        Vertices without an entry cost nothing.  With due times the value pays for lateness; ``({sink: 0.0}, 0.5)`` is a
        wage for the time at the sink, waiting included.
    name
        Name in messages and results.

    Examples
    --------
    >>> load = Resource({"a": 3.0, "b": 4.0}, upper=5.0, name="load")
    >>> time = Resource({"a": 2.0, "b": 2.0}, upper=9.0, penalty=({"a": 2.0, "b": 3.0}, 10.0), name="time")
    """

    consumption: ArrayLike | Mapping[Any, float]
    upper: ArrayLike | Mapping[Any, float]
    lower: ArrayLike | Mapping[Any, float] | None = None
    waiting: bool = True
    start: float = 0.0
    penalty: tuple[ArrayLike | Mapping[Any, float], ArrayLike | Mapping[Any, float]] | None = None
    name: str = "resource"


@dataclass(frozen=True)
class Elementary:
    """A path visits no vertex twice."""


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    """A path revisits a vertex only after a vertex that does not remember it: ng-routes.

    In models that visit each vertex at most once this replaces :class:`Elementary`: pricing is faster, and the bound is
    almost as good.

    With :class:`Requests`, paths remember requests.  Visits of a pickup and its delivery count as visits of one vertex,
    a vertex that remembers one of the two remembers both, and deliveries remember all vertices.

    Parameters
    ----------
    size
        Number of vertices that each vertex remembers: itself, and the heads of its cheapest arcs.
    remembered
        The vertices that each vertex remembers, instead of ``size``.

    References
    ----------
    R. Baldacci, A. Mingozzi, R. Roberti, *New route relaxation and pricing strategies for the vehicle routing problem*,
    Operations Research 59 (2011).
    """

    size: int = 8
    remembered: Mapping[Vertex, Collection[Vertex]] | None = None


@dataclass(frozen=True)
class NoCycles:
    """A path has no cycle of up to ``arcs`` arcs: k-cycle elimination."""

    arcs: int = 2


@dataclass(frozen=True, eq=False)
class Consecutive:
    """Visits of some vertices come in runs of at least ``least`` and at most ``most`` consecutive vertices.

    For shifts of a nurse, ``Consecutive(work, 2, 5)`` means two to five days of work, and ``Consecutive(off, 2)`` at
    least two days of rest between them.  Source and sink interrupt no run.

    Parameters
    ----------
    vertices
        The vertices of the runs.
    least, most
        Limits on the length of a run; ``most`` None: no upper limit.
    at_ends
        Whether ``least`` also applies to a run that begins at the source or ends at the sink.
    """

    vertices: Collection[Vertex]
    least: int = 1
    most: int | None = None
    at_ends: bool = False


@dataclass(frozen=True, eq=False)
class AtMostOne:
    """A path makes at most one visit to each of some sets of vertices; a pair of incompatible vertices is such a set.

    Parameters
    ----------
    sets
        The sets, which may overlap.
    """

    sets: Collection[Collection[Vertex]]


@dataclass(frozen=True, eq=False)
class Requests:
    """A path that visits a pickup visits its delivery later, and no delivery without its pickup before.

    Parameters
    ----------
    pairs
        Pickup and delivery of each request.
    """

    pairs: Collection[tuple[Vertex, Vertex]]


Rule: TypeAlias = Elementary | Neighbourhoods | NoCycles | Consecutive | AtMostOne | Requests
