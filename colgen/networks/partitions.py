"""Heuristic paths that together visit each vertex once: a start of models whose rows partition visits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.networks.block import Path, PathBlock
from colgen.networks.graph import Floats, Ints
from colgen.networks.heuristics import TEMPERATURES, first_steps, first_temperatures
from colgen.networks.rules import AtMostOne, Requests
from colgen.solvers.paths import labelling
from colgen.solvers.paths.labelling.resources import Limits, limits
from colgen.solvers.paths.ruin import Route, improve_partition
from colgen.solvers.paths.tours import Data
from colgen.solvers.stopping import Expired

_GRAPHS = 3
"""With several graphs each search has up to so many times as many steps, and there are twice as many searches.

A search of 100,000 steps over nine vehicle types with one or two vehicles each ends 2 to 4% above the best known
answer, depending on its seed.
"""

_LARGEST = 20_000_000
"""Maximum number of pairs of vertices over all graphs and resources: tables have an entry for each."""

Mask = NDArray[np.bool_]


class Partitions:
    """Searches for paths that together make one visit per row, and visit no other vertices.

    If capacities are tight, visits may be missing: the caller checks the paths.  Pickups with deliveries, penalties and
    custom resources are not supported; nothing is found then.

    Parameters
    ----------
    tasks
        For each block the row that exactly one visit covers, by vertex of the network; -1 for none.

    Attributes
    ----------
    steps
        Steps of a short search of one graph.
    """

    def __init__(self, blocks: Sequence[PathBlock], tasks: Sequence[Ints]) -> None:
        self._blocks, self._table = blocks, _table(blocks, tasks)
        self.num_rows = 0 if self._table is None else len(self._table.data.begin) - 1

    @property
    def are_supported(self) -> bool:
        """Whether there are searches for these blocks."""
        return self._table is not None

    def start(self, expired: Expired) -> list[list[Path]]:
        """Return lists of paths from several searches; True from ``expired`` stops them."""
        if self._table is None:
            return []
        graphs, timed = len(self._blocks), self._table.data.steps.shape[1] > 0
        temperatures = first_temperatures(self.num_rows, timed=timed) if graphs == 1 else 2 * TEMPERATURES
        steps = first_steps(self.num_rows) * min(graphs, _GRAPHS)
        return [
            self.improve((), steps=steps, seed=seed, hot=hot, expired=expired) for seed, hot in enumerate(temperatures)
        ]

    def improve(self, paths: Iterable[Path], **search: Any) -> list[Path]:
        """Return paths improved by :func:`colgen.solvers.paths.ruin.improve_partition`.

        Given paths that visit other vertices are left out.
        """
        if self._table is None:
            return []
        given = [self._table.route(self._blocks[path.number], path) for path in paths]
        routes = [route for route in given if -1 not in route[1]]
        found = improve_partition(self._table.data, routes, **search)
        return [self._table.path(self._blocks[route[0]], route) for route in found]


class _Table(NamedTuple):
    """Arrays of the search, for each graph its arc between two vertices of theirs, and their numbers; -1 for none."""

    data: Data
    arcs: list[Ints]
    numbers: list[Ints]

    def path(self, block: PathBlock, route: Route) -> Path:
        """Return a route as a path of a block."""
        stops = [0, *route[1], 0]
        steps = self.arcs[route[0]][stops[:-1], stops[1:]]
        return block.path(block.arc_of[steps].tolist())

    def route(self, block: PathBlock, path: Path) -> Route:
        """Return a path of a block as a route."""
        steps = block.follow(path.arcs)
        assert steps is not None  # paths of answers are valid
        return path.number, tuple(self.numbers[path.number][block.network.heads[steps[:-1]]].tolist())


def _table(blocks: Sequence[PathBlock], tasks: Sequence[Ints]) -> _Table | None:
    """Return the arrays of the search, or None if it does not support the blocks."""
    begin, places = _places(tasks)
    size = int(begin[-1])
    rules = [rule for block in blocks for rule in block.statement._rules]
    resources = [each for block in blocks for each in block.resources]
    supported = size > 1 and not any(isinstance(rule, Requests) for rule in rules)
    supported &= all(isinstance(each, labelling.Resource) and not each.rate.any() for each in resources)
    if not supported or len(blocks) * size**2 * (2 + len(resources)) > _LARGEST:
        return None
    graphs = [_Graph(block, place) for block, place in zip(blocks, places, strict=True)]
    of_loads, loads, capacities = _loads(graphs)
    steps, low, high = _levels(graphs, of_loads)
    apart = _apart(blocks, places)
    alike = not apart.shape[1] and all((each == each[:1]).all() for each in (steps, low, high))
    least, most = (np.array([min(block.count[k], size) for block in blocks]).astype(np.int64) for k in (0, 1))
    costs = np.stack([graph.costs for graph in graphs])
    return _Table(
        Data(costs, loads, capacities, steps, low, high, begin, apart, least, most, alike),
        [graph.arcs for graph in graphs],
        [graph.numbers for graph in graphs],
    )


def _places(tasks: Sequence[Ints]) -> tuple[Ints, list[Ints]]:
    """Return the first vertex of each row's task, and for each block the network's vertex of each, -1 for none.

    Vertices of several blocks that are counted by one row are one, so that routes can change their graph.
    """
    rows = np.unique(np.concatenate([each[each >= 0] for each in tasks]))
    members = [[np.flatnonzero(each == row) for row in rows] for each in tasks]
    sizes = [max(len(each[k]) for each in members) for k in range(len(rows))]
    begin = np.cumsum([1, *sizes])
    places = []
    for each in members:
        place = np.full(begin[-1], -1, dtype=np.int64)
        for k, vertices in enumerate(each):
            place[begin[k] : begin[k] + len(vertices)] = vertices
        places.append(place)
    return begin, places


class _Graph:
    """The cheapest arcs of a block between vertices of the search, and its resources with them."""

    def __init__(self, block: PathBlock, places: Ints) -> None:
        network, size = block.network, len(places)
        self.limits: Limits = limits(network, block.resources)
        self.known = places >= 0
        self.places, self.sink = np.where(self.known, places, 0), network.sink
        self.numbers: Ints = np.full(network.num_vertices, -1, dtype=np.int64)
        self.numbers[places[self.known]] = np.flatnonzero(self.known)
        self.numbers[[network.source, network.sink]] = 0
        tails, heads = self.numbers[network.tails], self.numbers[network.heads]
        kept = np.flatnonzero((tails >= 0) & (heads >= 0) & (tails + heads > 0))
        kept = kept[np.argsort(-block.costs[kept], kind="stable")]  # of parallel arcs the last, cheapest one stays
        self.arcs: Ints = np.full((size, size), -1, dtype=np.int64)
        self.arcs[tails[kept], heads[kept]] = kept
        self.costs = self._over_arcs(block.costs, np.inf)

    def _over_arcs(self, values: Floats, missing: float) -> Floats:
        return np.asarray(np.where(self.arcs >= 0, values[self.arcs], missing))

    @property
    def num_resources(self) -> int:
        return int(self.limits.consumption.shape[1])

    def load(self, k: int) -> tuple[Floats, float] | None:
        """Return what a visit of each vertex consumes, NaN without one, and the capacity; None if levels decide."""
        mine = self.limits
        upper, start = mine.upper[:, k], mine.start[k]
        used = self._over_arcs(mine.consumption[:, k], np.nan)
        least, most = np.nanmin(used, axis=0, initial=np.inf), np.nanmax(used, axis=0, initial=-np.inf)
        reached = most > -np.inf
        fixed = (least[reached] == most[reached]).all() and (least >= 0.0).all()
        if not fixed or (mine.lower[:, k] > start).any() or (upper != upper[self.sink]).any():
            return None
        visits = np.where(reached, least, np.nan)
        visits[0] = 0.0
        return visits, float(upper[self.sink] - start - (least[0] if reached[0] else 0.0))

    def levels(self, k: int) -> tuple[Floats, Floats, Floats]:
        """Return the consumption of each arc, and the least and greatest level at each vertex."""
        mine = self.limits
        low, high = (np.where(self.known, side[self.places, k], end) for side, end in self._sides)
        low[0], high[0] = mine.start[k], mine.upper[self.sink, k]
        return self._over_arcs(mine.consumption[:, k], 0.0), low, high

    @property
    def _sides(self) -> tuple[tuple[Floats, float], tuple[Floats, float]]:
        return (self.limits.lower, -np.inf), (self.limits.upper, np.inf)


def _loads(graphs: Sequence[_Graph]) -> tuple[Mask, Floats, Floats]:
    """Return which resources are the same loads of vertices in all graphs, these loads, and the capacities."""
    count = max(graph.num_resources for graph in graphs)
    chosen, loads, capacities = np.zeros(count, dtype=np.bool_), [], []
    for k in range(min(graph.num_resources for graph in graphs)):
        each = [graph.load(k) for graph in graphs]
        known = [load for load in each if load is not None]
        visits = np.stack([load[0] for load in known]) if known else np.empty((0, 1))
        same = np.fmax.reduce(visits, axis=0, initial=0.0)
        if len(known) == len(graphs) and (np.isnan(visits) | (visits == same)).all():
            chosen[k] = True
            loads.append(same)
            capacities.append([load[1] for load in known])
    size = len(graphs[0].places)
    return chosen, np.array(loads).reshape(-1, size), np.array(capacities).reshape(-1, len(graphs)).T.copy()


def _levels(graphs: Sequence[_Graph], of_loads: Mask) -> tuple[Floats, Floats, Floats]:
    """Return the resources that are no loads; those that a graph does not have limit nothing."""
    chosen = np.flatnonzero(~of_loads)
    shape = len(graphs), len(chosen), len(graphs[0].places)
    steps = np.zeros((*shape, shape[-1]))
    low, high = np.full(shape, -np.inf), np.full(shape, np.inf)
    for g, graph in enumerate(graphs):
        for t, k in enumerate(chosen.tolist()):
            if k < graph.num_resources:
                steps[g, t], low[g, t], high[g, t] = graph.levels(k)
    return steps, low, high


def _apart(blocks: Sequence[PathBlock], places: Sequence[Ints]) -> Mask:
    """Return which vertices no path of each block visits both; empty tables if there are none."""
    size = len(places[0])
    found = np.zeros((len(blocks), size, size), dtype=np.bool_)
    for block, place, mine in zip(blocks, places, found, strict=True):
        for rule in block.statement._rules:
            if isinstance(rule, AtMostOne):
                for vertices in rule.sets:
                    inside = np.isin(place, block.copies_of(vertices, "AtMostOne"))
                    mine |= inside[:, np.newaxis] & inside
    return found if found.any() else found[:, :0, :0].copy()
