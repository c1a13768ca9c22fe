"""Routes that a search found, and what it proves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.paths.labelling.boxes import BoxDuals, charges_of
from colgen.solvers.paths.labelling.layout import Floats, Ints, Labels
from colgen.solvers.paths.labelling.network import Network
from colgen.solvers.paths.labelling.rank_one import RankOneDuals, coefficients


@dataclass(frozen=True, eq=False)
class Completion:
    """What a route costs at least that uses an arc.

    Attributes
    ----------
    arcs
        One number an arc; infinite if no route uses it, minus infinity where the search was cut off.  Where a cutoff
        was given, never more than that but for arcs that are forbidden.
    bound
        Of all routes; None where the search was cut off.
    finished
        Whether it came to its end.
    """

    arcs: Floats
    bound: float | None
    finished: bool


@dataclass(frozen=True, eq=False)
class Routes:
    """Paths from the source to the sink, cheapest first.

    Attributes
    ----------
    starts, vertices
        Route k visits ``vertices[starts[k]:starts[k + 1]]``, source and sink included.
    arcs
        Route k uses ``arcs[starts[k] - k : starts[k + 1] - k - 1]``.
    costs
        Of its arcs, and of the rank-1 cuts that it overflows.
    bound
        No route of the relaxation is cheaper; infinite if there is none.  Where a cutoff was given, never more than
        that.  None: nothing is proved, by a heuristic or because the search was cut off.
    finished
        Whether the search came to its end.
    labels
        How many were settled.
    """

    starts: Ints
    vertices: Ints
    arcs: Ints
    costs: Floats
    bound: float | None
    finished: bool
    labels: int

    def __len__(self) -> int:
        return len(self.costs)

    def route(self, k: int) -> Ints:
        """Vertices of a route, in their order."""
        return self.vertices[self.starts[k] : self.starts[k + 1]]

    def arcs_of(self, k: int) -> Ints:
        """Arcs of a route, in their order."""
        return self.arcs[self.starts[k] - k : self.starts[k + 1] - k - 1]

    @property
    def elementary(self) -> NDArray[np.bool_]:
        """Whether each visits no vertex twice."""
        return np.array([len(np.unique(self.route(k))) == len(self.route(k)) for k in range(len(self))], dtype=bool)


def gathered(
    paths: list[Ints], tails: Ints, heads: Ints, costs: Floats, bound: float | None, finished: bool, labels: int
) -> Routes:
    """Routes from the arcs of each."""
    arcs = np.concatenate(paths) if paths else np.zeros(0, dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum([len(path) + 1 for path in paths]))).astype(np.int64)
    vertices = np.empty(int(starts[-1]), dtype=np.int64)
    if paths:
        first = np.zeros(len(vertices), dtype=bool)
        first[starts[:-1]] = True
        vertices[first] = tails[[path[0] for path in paths]]
        vertices[~first] = heads[arcs]
    return Routes(starts, vertices, arcs, costs, bound, finished, labels)


def assembled(
    found: list[tuple[float, Ints]], network: Network, costs: Floats, rank_one: RankOneDuals | None,
    boxes: BoxDuals | None, bound: float | None, finished: bool, labels: int, wanted: int,
) -> Routes:  # fmt: skip
    """The cheapest of some routes, those with the same vertices once, at what their arcs cost and they are charged."""
    kept: dict[bytes, tuple[float, Ints]] = {}
    for cost, path in found:
        visited = np.sort(network.heads[path]).tobytes()
        if visited not in kept or cost < kept[visited][0]:
            kept[visited] = (cost, path)
    paths = [path for _, path in sorted(kept.values(), key=lambda pair: pair[0])[:wanted]]
    routes = gathered(paths, network.tails, network.heads, np.zeros(len(paths)), bound, finished, labels)
    paid = np.array([costs[path].sum() for path in paths])
    if rank_one is not None and paths:
        rank_one = RankOneDuals(*rank_one)
        counted = coefficients(rank_one, routes.starts, routes.vertices)
        paid = paid + counted @ np.asarray(rank_one.penalties, dtype=float)
    if boxes is not None and paths:
        paid = paid + charges_of(BoxDuals(*boxes), network, routes.starts, routes.vertices)
    routes.costs[:] = paid
    return routes


def trace(held: Labels, label: int) -> list[int]:
    """The arcs over which a label was reached, the last one first."""
    arcs = []
    while held.arcs[label] >= 0:
        arcs.append(int(held.arcs[label]))
        label = int(held.previous[label])
    return arcs
