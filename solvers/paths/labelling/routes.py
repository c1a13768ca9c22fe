"""Results of searches: routes, bounds and completions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.paths.labelling.boxes import BoxDuals, route_charges
from colgen.solvers.paths.labelling.layout import Floats, Ints, Labels
from colgen.solvers.paths.labelling.network import Network
from colgen.solvers.paths.labelling.rank_one import RankOneDuals, coefficients


@dataclass(frozen=True, eq=False)
class Completion:
    """Least costs of routes through each arc, and ``bound``, that of all routes (None unless ``finished``).

    A cost is infinity if no route uses the arc, minus infinity if the search was stopped.  It is at most the cutoff if
    one was given, except for forbidden arcs.
    """

    arcs: Floats
    bound: float | None
    finished: bool


@dataclass(frozen=True, eq=False)
class Routes:
    """Paths from the source to the sink, cheapest first.

    Attributes
    ----------
    starts : route k visits ``vertices[starts[k]:starts[k + 1]]``
    vertices : vertices of all routes, including source and sink
    arcs : route k uses ``arcs[starts[k] - k : starts[k + 1] - k - 1]``
    costs : costs of the arcs, overflowing rank-1 cuts and boxes
    bound : lower bound on all routes of the relaxation, at most the cutoff; infinity if there are none
        None: no bound, from a heuristic or a stopped search.
    finished : whether the search was completed
    labels : number of settled labels
    effort : arcs and comparisons of the search
    """

    starts: Ints
    vertices: Ints
    arcs: Ints
    costs: Floats
    bound: float | None
    finished: bool
    labels: int
    effort: int = field(default=0, kw_only=True)

    def __len__(self) -> int:
        return len(self.costs)

    def route(self, k: int) -> Ints:
        """Return the vertices of a route in order."""
        return self.vertices[self.starts[k] : self.starts[k + 1]]

    def arcs_of(self, k: int) -> Ints:
        """Return the arcs of a route in order."""
        return self.arcs[self.starts[k] - k : self.starts[k + 1] - k - 1]

    @property
    def elementary(self) -> NDArray[np.bool_]:
        """Whether each route visits no vertex twice."""
        return np.array([len(np.unique(self.route(k))) == len(self.route(k)) for k in range(len(self))], dtype=bool)


def routes_from_arcs(
    paths: list[Ints], tails: Ints, heads: Ints, costs: Floats, bound: float | None, finished: bool, labels: int
) -> Routes:
    """Return routes given by their arcs."""
    arcs = np.concatenate(paths) if paths else np.zeros(0, dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum([len(path) + 1 for path in paths]))).astype(np.int64)
    vertices = np.empty(int(starts[-1]), dtype=np.int64)
    if paths:
        first = np.zeros(len(vertices), dtype=bool)
        first[starts[:-1]] = True
        vertices[first] = tails[[path[0] for path in paths]]
        vertices[~first] = heads[arcs]
    return Routes(starts, vertices, arcs, costs, bound, finished, labels)


def assemble(
    found: list[tuple[float, Ints]], network: Network, costs: Floats, rank_one: RankOneDuals | None,
    boxes: BoxDuals | None, bound: float | None, finished: bool, labels: int, wanted: int, classes: Ints,
) -> Routes:  # fmt: skip
    """Return the cheapest routes, one per set of vertices or alternatives, with recomputed costs."""
    kept: dict[bytes, tuple[float, Ints]] = {}
    for cost, path in found:
        visited = np.sort(classes[network.heads[path]]).tobytes()
        if visited not in kept or cost < kept[visited][0]:
            kept[visited] = (cost, path)
    paths = [path for _, path in sorted(kept.values(), key=lambda pair: pair[0])[:wanted]]
    routes = routes_from_arcs(paths, network.tails, network.heads, np.zeros(len(paths)), bound, finished, labels)
    paid = np.array([costs[path].sum() for path in paths])
    if rank_one is not None and paths:
        rank_one = RankOneDuals(*rank_one)
        counted = coefficients(rank_one, routes.starts, routes.vertices)
        paid = paid + counted @ np.asarray(rank_one.penalties, dtype=float)
    if boxes is not None and paths:
        paid = paid + route_charges(BoxDuals(*boxes), network, routes.starts, routes.vertices)
    routes.costs[:] = paid
    return routes


def trace(held: Labels, label: int) -> list[int]:
    """Return the arcs to a label, last one first."""
    arcs = []
    while held.arcs[label] >= 0:
        arcs.append(int(held.arcs[label]))
        label = int(held.previous[label])
    return arcs
