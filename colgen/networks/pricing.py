"""Pricing of a path block: labelling over its network."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.column_batch import Columns
from colgen.core.columns import Column, Key
from colgen.core.duals import Duals
from colgen.core.terms import Box, Count, Linear, Term
from colgen.networks.block import Path, PathBlock
from colgen.networks.decisions import ArcsForbidden
from colgen.networks.graph import Floats, Ints
from colgen.pricing.labelling import PathOracle
from colgen.pricing.oracles import PricingContext
from colgen.pricing.visits import Visits
from colgen.solvers.columns.compressed import limit_overlap
from colgen.solvers.paths import labelling

ARC = "arc of all networks"
"""Block of rows on arcs by the names of their ends, over all graphs."""

ARC_OF_GRAPH = "arc of one network"
"""Block of rows on arcs of one graph, by block and number of the arc."""

EDGE, EDGE_OF_GRAPH = "edge of all networks", "edge of one network"
"""Blocks of rows that do not distinguish an arc and its mirror image.  The names are those of one of both."""

VISITS_OF_GRAPH = "visits by one network"
"""Block of rows on visits of vertices by the paths of one graph, by block and number of the vertex."""

PATHS = "paths of one network"
"""Block of rows on the number of paths of a graph."""

LARGE = 200
"""A master with more rows is large: its linear programs take most of the time."""

_FEW, _MANY, _FEWER_THAN_ROWS = 50, 500, 4
"""Maximum number of columns per call: a quarter of the rows, between limits; large masters need more of them."""

_OVERLAP, _MORE, _CHOICE = 12, 2, 4
"""In large masters on acyclic networks, at most ``_OVERLAP`` columns of a call visit the same vertex.  They are up to
``_MORE`` times as many as otherwise, selected from ``_CHOICE`` times as many paths.  Paths of least reduced cost alone
resemble each other, and the vertices that they leave out wait for other rounds."""

_AFFORDABLE, _WAIT = 2.0, 8
"""There exact searches come first while they take at most ``_AFFORDABLE`` times the squared number of rows as effort,
which is less than the linear program takes.  They find more columns than heuristic ones, and bounds.  After one that
takes more, ``_WAIT`` calls begin with the heuristic search."""

Mask = NDArray[np.bool_]


class ExactTrials:
    """Chooses whether a call begins with an exact search, because the last one took little effort.

    The choice is learned at the root only, so that copies for other nodes behave alike.  It depends on effort, not on
    time, so that runs are reproducible.
    """

    def __init__(self) -> None:
        self._left, self._pays = _WAIT, False

    def next(self, context: PricingContext) -> bool:
        """Return whether the next call should begin with an exact search."""
        if self._pays or context.decisions:
            return self._pays
        self._left -= 1
        return self._left < 0

    def update(self, pays: bool) -> None:
        """Store whether an exact search took little effort."""
        self._pays, self._left = pays, _WAIT


class PathPricing(PathOracle):
    """Paths of least reduced cost of one block.

    Parameters
    ----------
    block
        The block.
    keys
        Keys of the master's rows in the order of ``block.linking``.
    count_key
        Key of the row with the number of paths.
    visits
        Key of the row that counts visits of each vertex, by vertex.
    most
        Maximum number of paths in a solution.
    once
        Keys of the rows of visits that allow a single visit.  In a dive of a large master, paths avoid those that the
        fixed paths visit, since no other path is feasible.
    mirror
        See :class:`colgen.pricing.labelling.PathOracle`.
    """

    prices: frozenset[type[Term]] = frozenset({Linear, Count, Box})
    arc_blocks = (ARC, ARC_OF_GRAPH, EDGE, EDGE_OF_GRAPH)
    visit_blocks = (PATHS, VISITS_OF_GRAPH)

    def __init__(
        self,
        block: PathBlock,
        keys: Sequence[Key],
        count_key: Key,
        visits: Mapping[int, Key],
        most: float,
        once: Collection[Key] = (),
        mirror: Ints | None = None,
    ) -> None:
        self.block_of_paths = block
        self.solver, self.costs = block.solver, block.costs
        self.routes = self._most = min(max(_FEW, len(keys) // _FEWER_THAN_ROWS), _MANY)
        self.modes = ("sparse", "exact")  # with a search that keeps few paths between them, rounds double
        self.has_quick = not block.graph.is_acyclic  # there exact searches are quick, and find better columns
        # Marginals of acyclic graphs take at most about as long as a hundred exact searches.  Joins of other graphs
        # need many more comparisons than labels, so their share of the work of the run is the only limit.
        self.effort = 50.0 if block.graph.is_acyclic else math.inf
        self.keys, self.count_key = tuple(keys), count_key
        self.multiplicity = most
        self._rows = len(self.keys)
        tracked = set(visits.values())
        touched = [self.keys[row] for row in np.unique(block.linking.indices).tolist()]
        others = {key for key in touched if key not in tracked} | {count_key}
        self._visits = Visits(self.name, visits, others, ARC, block.solver)
        self._first = block.network.tails == block.network.source
        large = len(keys) > LARGE
        self._selects = (
            large and bool(visits) and block.graph.is_acyclic and isinstance(block.solver, labelling.Labelling)
        )
        if self._selects:
            self.routes, self._most = _CHOICE * _MORE * self.routes, _MORE * self.routes
        self._number = {key: k for k, key in enumerate(self.keys)}
        self._row_of = np.full(block.network.num_vertices, -1, dtype=np.int64)
        for vertex, key in visits.items():
            self._row_of[vertex] = self._number[key]
        self._once = frozenset(once) if large else frozenset()
        self._trials, self.brief = ExactTrials(), _AFFORDABLE * max(len(keys), 1) ** 2
        self.mirror = mirror
        self._arcs_of = {ARC: block.between, ARC_OF_GRAPH: block.copies, VISITS_OF_GRAPH: block.entering}
        if mirror is not None:
            self._arcs_of |= {EDGE: self._both_ways(block.between), EDGE_OF_GRAPH: self._both_ways(block.copies)}

    @property
    def name(self) -> str:
        return f"{type(self).__name__} of {self.block_of_paths.name}"

    # --- dual values -------------------------------------------------------------------------------------------------

    def reduced_costs(self, duals: Duals, context: PricingContext) -> Floats:
        block = self.block_of_paths
        reduced = context.cost_weight * self.costs - block.linking @ duals.values[: self._rows]
        for rows, arcs_of in self._arcs_of.items():
            self.pay(reduced, duals, rows, arcs_of)
        leaving = duals.get(self.count_key)
        for number, value in duals.items(PATHS):
            leaving += value * (number == block.number)
        if leaving:
            reduced[self._first] -= leaving
        return np.asarray(reduced)

    def arguments(self, duals: Duals, context: PricingContext) -> dict[str, Any]:
        return {
            "rank_one": self._visits.rank_one_cuts(duals.terms(Count)),
            "boxes": self._visits.boxes(duals.terms(Box), context.decisions),
            "forbidden": self.forbidden(context),
            "expired": context.expired,
        }

    def _both_ways(self, arcs_of: Callable[[Any], Ints]) -> Callable[[Any], Ints]:
        """Return the function that adds the mirror images of arcs."""
        assert self.mirror is not None
        mirror = self.mirror

        def both(name: Any) -> Ints:
            arcs = arcs_of(name)
            return np.union1d(arcs, mirror[arcs])

        return both

    # --- searches ----------------------------------------------------------------------------------------------------

    def _modes_of(self, context: PricingContext) -> tuple[str, ...]:
        return ("brief", *self.modes) if self._selects and self._trials.next(context) else self.modes

    def _search(self, mode: str, reduced: Floats, given: Mapping[str, Any], context: PricingContext) -> Any:
        found = super()._search(mode, reduced, given, context)
        if mode in ("brief", "exact") and not context.decisions:
            self._trials.update(found.finished and found.effort <= self.brief)
        return found

    # --- arcs --------------------------------------------------------------------------------------------------------

    def close(self, closed: Mask, context: PricingContext) -> None:
        for rows, arcs_of in self._arcs_of.items():
            for name in context.forbidden(rows):
                closed[arcs_of(name)] = True
        if self.block_of_paths.number in context.forbidden(PATHS):
            closed[:] = True
        for decision in context.decisions:
            if isinstance(decision, ArcsForbidden) and decision.number == self.block_of_paths.number:
                closed |= decision.closed
        closed |= np.isin(self._row_of, self._taken(context))[self.block_of_paths.network.heads]

    def _taken(self, context: PricingContext) -> list[int]:
        """Return the rows of a single visit that paths fixed by a dive visit."""
        fixed = [column for column, value in context.fixed if value >= 1.0] if self._once else []
        return [self._number[key] for column in fixed for key in column.coefficients if key in self._once]

    def visited(self, column: Column) -> Ints | None:
        path = column.structure
        if not isinstance(path, Path) or path.number != self.block_of_paths.number:
            return None
        steps = self.block_of_paths.follow(path.arcs)
        return None if steps is None else np.asarray(self.block_of_paths.network.heads[steps[:-1]])

    # --- columns -----------------------------------------------------------------------------------------------------

    def batch(self, found: Any, duals: Duals) -> tuple[Columns, Floats]:
        return self._build(found, range(len(found)), duals)

    def selected(self, found: Any, duals: Duals) -> tuple[Columns, Floats]:
        if not self._selects:
            return self.batch(found, duals)
        kept = limit_overlap(found.starts, self._row_of[found.vertices], _OVERLAP, self._most)
        return self._build(found, kept.tolist(), duals)

    def _build(self, found: Any, kept: Sequence[int], duals: Duals) -> tuple[Columns, Floats]:
        """Return some of the found paths as columns, and their reduced costs."""
        costs = np.asarray(found.costs, dtype=np.float64)[np.asarray(kept, dtype=np.int64)]
        columns = self.columns([found.arcs_of(k) for k in kept], duals.names.position[self.count_key])
        if self.mirror is None:
            return columns, costs
        first: dict[Path, int] = {}
        for k, path in enumerate(columns.structures):
            first.setdefault(path, k)
        taken = np.array(list(first.values()), dtype=np.int64)
        return columns.take(taken), costs[taken]

    def _canonical(self, path: Ints) -> Ints:
        """Return the path or its reverse, the same one for both."""
        if self.mirror is None:
            return path
        back = self.mirror[path][::-1]
        return path if path.tolist() <= back.tolist() else back

    def columns(self, paths: Sequence[Ints], count_row: int) -> Columns:
        """Return the columns of paths, each given by its arcs in the network."""
        block, size = self.block_of_paths, len(paths)
        paths = list(map(self._canonical, paths))
        lengths = np.array([len(path) for path in paths], dtype=np.int64)
        arcs = np.concatenate(paths) if size else np.empty(0, dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        used = sparse.csr_array((np.ones(len(arcs)), arcs, starts), shape=(size, len(self.costs)))
        entries = sparse.csr_array(used @ block.linking)
        entries.sum_duplicates()
        entries.eliminate_zeros()
        ends = entries.indptr[1:]
        rows = np.insert(entries.indices.astype(np.int64), ends, count_row)
        values = np.insert(entries.data, ends, 1.0)
        meanings = [block.path(block.arc_of[path].tolist()) for path in paths]
        owners = np.repeat(np.arange(size), lengths)
        costs = np.bincount(owners, self.costs[arcs], minlength=size)[:size]
        if block.has_penalties:
            costs = costs + block.solver.penalties(starts, arcs)
        return Columns(
            costs,
            (entries.indptr + np.arange(size + 1)).astype(np.int64),
            rows,
            values,
            meanings,
            [("path", (path.number, path.arcs)) for path in meanings],
            integer=[block.integer] * size,
        )

    def encode(self, path: Path) -> Column:
        """Return the column of a path by keys of rows."""
        steps = self.block_of_paths.follow(path.arcs)
        assert steps is not None
        batch = self.columns([np.array(steps, dtype=np.int64)], self._rows)
        keys = (*self.keys, self.count_key)
        return batch.over(keys, {key: k for k, key in enumerate(keys)})[0]
