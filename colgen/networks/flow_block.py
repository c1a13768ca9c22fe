"""A block of commodities as arrays: shortest paths, groups of commodities, and flows as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.budget import Budget
from colgen.core.errors import FormulationError, InputError
from colgen.model.rows import Rows
from colgen.networks.commodities import Unsplittable
from colgen.networks.graph import Floats, Graph, Ints
from colgen.networks.statement import Paths
from colgen.solvers.flows.equilibrium import Equilibrium, equilibrium
from colgen.solvers.flows.many_sinks import ManySinks, PathsFound
from colgen.solvers.flows.near_paths import near_shortest_paths
from colgen.solvers.flows.shortest_paths import search

_FEW = 300
"""Up to this many commodities have a row each; more are aggregated by origin."""

_FULL = 1e-3
"""An arc is full if its flow is within this share of its capacity."""

_PATHS_EACH, _PATHS = 10, 1000
"""An unsplittable block starts with this many paths of each commodity, or with this many in total if that is more."""

_DOUBLINGS = 20
"""Times that the slack of near paths is doubled at most."""

_ROUNDING = 1e-9
"""Reduced arc costs below zero by at most this share of the largest count as zero."""


@dataclass(frozen=True, eq=False)
class Routing:
    """The paths of some commodities of one origin: the structure of a column.

    Attributes
    ----------
    graph
        Name of the block.
    number, group
        Index of the block, and of the group of commodities.
    paths
        Arcs of the path of each commodity of the group, in the order of the user's graph.
    arcs, amounts
        The arcs in use, and their flows if the whole demand of the group takes these paths.
    """

    graph: str
    number: int
    group: int
    paths: tuple[Ints, ...]
    arcs: Ints
    amounts: Floats

    def __repr__(self) -> str:
        shown = ", ".join(str(tuple(path.tolist())) for path in self.paths[:3])
        return f"{self.graph}: arcs {shown}" + (" ..." if len(self.paths) > 3 else "")


class FlowBlock:
    """The flows of one statement with commodities, over the rows of a model.

    Commodities without demand, or from a vertex to itself, have no flow.  Up to 300 commodities, and all unsplittable
    ones, have a row each: their columns are paths.  More are aggregated by origin, except those that a nearly optimal
    flow splits: the columns of an aggregate are trees of shortest paths.

    Attributes
    ----------
    number, name, graph
        Index and name of the block, and its graph.
    columns
        Column of each arc, -1 for closed arcs.
    costs, upper
        Cost per unit of flow, and capacity of each arc.
    demands
        Demand of each commodity with flow.
    commodities
        Their indices in the statement.
    unsplittable
        Whether each commodity uses one path.
    linking
        Coefficients of the arcs in the master's rows, shape (arcs, rows).
    """

    def __init__(self, number: int, paths: Paths, name: str, columns: Ints, rows: Rows, linking: Ints) -> None:
        self.number, self.name, self.columns = number, name, columns
        self.graph: Graph = paths._graph
        commodities = paths._commodities
        assert commodities is not None
        self.unsplittable = any(isinstance(rule, Unsplittable) for rule in paths._rules)
        open_arcs = columns >= 0
        if rows.integer[columns[open_arcs]].any():
            raise InputError(
                f"{name}: flow: expected continuous variables; rules=[Unsplittable()] states one path per commodity"
            )
        self.costs: Floats = np.where(open_arcs, rows.costs[columns], 0.0)
        self.upper: Floats = np.where(open_arcs, rows.upper[columns], 0.0)
        matrix = sparse.csr_array(sparse.csc_array(rows.matrix)[:, np.maximum(columns, 0)].T)
        self.linking = sparse.csr_array(sparse.diags_array(open_arcs.astype(float)) @ matrix[:, linking])
        self.linking.sort_indices()
        position = {vertex: k for k, vertex in enumerate(self.graph.vertices)}
        ends = [np.array([position[v] for v in each], dtype=np.int64) for each in commodities.ends]
        used = np.flatnonzero((commodities.demands > 0.0) & (ends[0] != ends[1]))
        self.commodities: Ints = used
        self.demands = commodities.demands[used]
        self.origins, self.destinations = ends[0][used], ends[1][used]
        self.own_costs = None if commodities.costs is None else commodities.costs[used]
        self.limits = None if commodities.limits is None else commodities.limits[used]
        self._finder = ManySinks(len(position), self.graph.tails, self.graph.heads, self.origins, self.destinations)
        self._finders: dict[int, ManySinks] = {}
        self.first_capacity = 0
        """Position of the first row of a capacity in the master."""
        self._shortest = self.search(self.costs)
        lost = np.flatnonzero(np.isinf(self._shortest.distances))
        if len(lost):
            first, last = (self.graph.vertices[end[lost[0]]] for end in (self.origins, self.destinations))
            raise InputError(
                f"{name}: commodity {used[lost[0]]} has no path from {first!r} to {last!r} over arcs that it may use"
            )

    # --- shortest paths ----------------------------------------------------------------------------------------------

    @cached_property
    def _closed(self) -> NDArray[np.bool_]:
        return self.upper <= 0.0

    @cached_property
    def _special(self) -> dict[int, Floats]:
        """Additional arc costs of commodities, of their own or infinite for arcs that they must not use.

        An unsplittable commodity uses no arc with a capacity below its demand.
        """
        found: dict[int, Floats] = {}
        if not self.unsplittable and self.own_costs is None and self.limits is None:
            return found
        for k, demand in enumerate(self.demands.tolist()):
            more = np.zeros(len(self.costs)) if self.own_costs is None else self.own_costs[k]
            limits = self.upper if self.limits is None else np.minimum(self.limits[k], self.upper)
            closed = limits < demand * (1.0 - _ROUNDING) if self.unsplittable else limits <= 0.0
            closed &= self.upper > 0.0
            if closed.any():
                more = np.where(closed, np.inf, more)
            if more.any():
                found[k] = more
        return found

    def search(self, costs: Floats, weight: float = 1.0, special: Mapping[int, Floats] | None = None) -> PathsFound:
        """Return a shortest path of each commodity.

        Parameters
        ----------
        costs
            Reduced cost of each arc, without the commodities' own costs.
        weight
            Factor of these, 0 or 1.
        special
            Further arc costs by commodity; infinite for forbidden arcs.
        """
        found = self._search(self._finder, costs, self.origins, self.destinations)
        known = self._special
        alone = sorted({*known, *(special or ())})
        if not alone:
            return found
        distances, pieces = found.distances.copy(), np.split(found.arcs, found.starts[1:-1])
        for k in alone:
            mine = self._costs_of(k, costs, weight, special or {})
            if k not in self._finders:
                ends = self.origins[k : k + 1], self.destinations[k : k + 1]
                self._finders[k] = ManySinks(len(self.graph.vertices), self.graph.tails, self.graph.heads, *ends)
            own = self._search(self._finders[k], mine, self.origins[k : k + 1], self.destinations[k : k + 1])
            distances[k], pieces[k] = own.distances[0], own.arcs
        starts = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])])
        return PathsFound(distances, starts, np.concatenate(pieces), found.searched + len(alone))

    def _costs_of(self, k: int, costs: Floats, weight: float, special: Mapping[int, Floats]) -> Floats:
        """Return the arc costs of one commodity, infinite for arcs that it must not use."""
        mine, own = np.where(self._closed, np.inf, costs), self._special.get(k)
        if own is not None:
            mine += own if weight else np.where(np.isinf(own), np.inf, 0.0)
        if k in special:
            mine += special[k]
        return mine

    def _search(self, finder: ManySinks, costs: Floats, origins: Ints, destinations: Ints) -> PathsFound:
        costs = np.where(self._closed, np.inf, costs)
        least = costs.min(initial=0.0)
        if least >= 0.0:
            return finder.search(costs)
        finite = costs[np.isfinite(costs)]
        if least >= -_ROUNDING * np.abs(finite).max():
            return finder.search(np.maximum(costs, 0.0))
        potentials = self._potentials(costs)
        shifted = costs + potentials[self.graph.tails] - potentials[self.graph.heads]
        found = finder.search(np.maximum(shifted, 0.0))
        distances = found.distances - potentials[origins] + potentials[destinations]
        return PathsFound(distances, found.starts, found.arcs, found.searched)

    def _potentials(self, costs: Floats) -> Floats:
        """Return potentials that make the reduced costs of all arcs nonnegative."""
        graph, potentials = self.graph, np.empty(len(self.graph.vertices))
        mask = np.zeros((1, len(costs)), dtype=np.bool_)
        order = np.arange(len(costs))
        if search(graph.tails, graph.heads, costs, order, 0, 0, potentials, mask) < 0:
            raise FormulationError(
                f"{self.name}: arcs on a cycle have a negative total cost, or rows reward flow on a cycle; flows over "
                "cycles are no sums of paths"
            )
        return potentials

    # --- groups ------------------------------------------------------------------------------------------------------

    @cached_property
    def start(self) -> Equilibrium:
        """A nearly optimal flow with regard to the capacities alone."""
        return self.begin(Budget())

    def begin(self, budget: Budget) -> Equilibrium:
        """Compute :attr:`start` within a budget, if it is not known."""
        if "start" in self.__dict__:
            return self.start

        def extra(owners: Ints, starts: Ints, arcs: Ints) -> Floats:
            found = np.zeros(len(owners))
            for i, k in enumerate(owners.tolist()):
                if k in self._special:
                    found[i] = self._special[k][arcs[starts[i] : starts[i + 1]]].sum()
            return found

        known = extra if self._special else None
        found = equilibrium(self.search, self.costs, self.upper, self.demands, known, lambda: budget.expired)
        self.__dict__["start"] = found
        return found

    @cached_property
    def group_of(self) -> Ints:
        """The group of each commodity; the commodities of a group share a row."""
        count = len(self.demands)
        if self.unsplittable or count <= _FEW:
            return np.arange(count)
        alone = np.bincount(self.start.owners, minlength=count) > 1
        alone[list(self._special)] = True
        if self.limits is not None:
            alone |= (self.limits < self.demands[:, None]).any(axis=1)
        labels = np.where(alone, len(self.graph.vertices) + np.arange(count), self.origins)
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def members(self) -> sparse.csr_array:
        """The demand of each commodity in its group, shape (groups, commodities)."""
        count = len(self.demands)
        groups = int(self.group_of.max(initial=-1)) + 1
        return sparse.csr_array((self.demands, (self.group_of, np.arange(count))), shape=(groups, count))

    @property
    def num_groups(self) -> int:
        return int(self.members.shape[0])

    @cached_property
    def limited(self) -> Ints:
        """The commodity of each group whose limits may matter, else -1; such a group has no other commodity."""
        found = np.full(self.num_groups, -1, dtype=np.int64)
        if self.limits is not None:
            alone = np.flatnonzero((self.limits < self.demands[:, None]).any(axis=1))
            found[self.group_of[alone]] = alone
        return found

    @cached_property
    def tight(self) -> Ints:
        """The arcs whose capacities are rows from the start: those that a nearly optimal flow fills.

        With unsplittable commodities these are all arcs whose capacity may matter.
        """
        if self.unsplittable:  # a program over listed paths needs all rows
            return np.flatnonzero(self.upper < self.demands.sum())
        start, capacities = self.start, np.where(np.isfinite(self.upper), self.upper, 0.0)
        full = (start.flow >= capacities * (1.0 - _FULL)) & (start.flow > 0.0) | (start.multipliers > 0.0)
        return np.flatnonzero(full & np.isfinite(self.upper))

    # --- flows -------------------------------------------------------------------------------------------------------

    def start_flows(self) -> Flows:
        """Return flows of all groups over the paths of :attr:`start`."""
        start, members = self.start, self.members
        size = np.diff(members.indptr)
        of_group = self.group_of[start.owners]
        order = np.lexsort((start.owners, of_group))
        groups = of_group[order]
        begins = np.ones(len(order), dtype=np.bool_)  # paths of one commodity are flows each, others belong to one
        begins[1:] = (size[groups[1:]] == 1) | (groups[1:] != groups[:-1])
        first = np.append(np.flatnonzero(begins), len(order))
        pieces = [start.arcs[start.starts[p] : start.starts[p + 1]] for p in order.tolist()]
        return self.flows_over(groups[first[:-1]], first, start.owners[order], pieces)

    def near(
        self, costs: Floats, weight: float, special: Mapping[int, Floats], slack: float, limit: int
    ) -> Flows | None:
        """Return the paths of unsplittable commodities whose reduced costs exceed the least ones by at most a slack.

        The other parameters are those of :meth:`search`.  None: there are more than ``limit`` paths.
        """
        groups: list[int] = []
        pieces: list[Ints] = []
        for k, demand in enumerate(self.demands.tolist()):
            mine = self._costs_of(k, costs, weight, special)
            ends = int(self.origins[k]), int(self.destinations[k])
            if mine.min() < 0.0:
                potentials = self._potentials(mine)
                mine = np.maximum(mine + potentials[self.graph.tails] - potentials[self.graph.heads], 0.0)
            found = near_shortest_paths(
                len(self.graph.vertices), self.graph.tails, self.graph.heads, mine, *ends, slack / demand,
                limit - len(groups),
            )  # fmt: skip
            if found is None:
                return None
            starts, arcs = found
            pieces += np.split(arcs, starts[1:-1]) if len(starts) > 1 else []
            groups += [k] * (len(starts) - 1)
        of = np.array(groups, dtype=np.int64)
        return self.flows_over(of, np.arange(len(of) + 1), of, pieces)

    def nearest(self, multipliers: Floats) -> Flows:
        """Return paths of unsplittable commodities of least reduced cost at prices of capacities.

        There are about ten of each commodity, or all paths of a small network.
        """
        costs, most = self.costs + multipliers, max(_PATHS_EACH * len(self.demands), _PATHS)
        slack = 1e-4 * float(self.demands @ self.search(costs).distances) or float(self.demands.max(initial=0.0))
        found = self.flows(np.arange(len(self.demands)), self._shortest)
        for _ in range(_DOUBLINGS):
            larger = self.near(costs, 1.0, {}, slack, most)
            if larger is None:
                break
            found, slack = larger, 2.0 * slack
        return found

    def given(self, group: int, pieces: Sequence[Ints]) -> Flows | None:
        """Return the flow of a group over given paths, or None if they are not paths of its commodities."""
        members, graph = self.members, self.graph
        mine = members.indices[members.indptr[group] : members.indptr[group + 1]]
        if len(pieces) != len(mine):
            return None
        for k, arcs in zip(mine.tolist(), pieces, strict=True):
            if not len(arcs) or arcs.min() < 0 or arcs.max() >= len(graph.tails):
                return None
            ends = [int(self.origins[k]), *graph.heads[arcs].tolist()]
            closed = self._closed[arcs].any() or (k in self._special and np.isinf(self._special[k][arcs]).any())
            if closed or ends[:-1] != graph.tails[arcs].tolist() or ends[-1] != self.destinations[k]:
                return None
        return self.flows_over(np.array([group]), np.array([0, len(mine)]), mine, pieces)

    def flows(self, groups: Ints, found: PathsFound) -> Flows:
        """Return the flows of groups whose commodities take these paths."""
        members = self.members[groups, :]
        members.sort_indices()
        pieces = [found.arcs[found.starts[k] : found.starts[k + 1]] for k in members.indices.tolist()]
        return self.flows_over(groups, members.indptr, members.indices, pieces)

    def flows_over(self, groups: Ints, first: Ints, commodities: Ints, pieces: Sequence[Ints]) -> Flows:
        """Return the flows of groups: row i has the commodities, and arcs of their paths, from ``first[i]`` on."""
        sizes = np.fromiter(map(len, pieces), np.int64, len(pieces))
        owners = np.repeat(np.repeat(np.arange(len(groups)), np.diff(first)), sizes)
        arcs = np.concatenate(pieces) if len(pieces) else np.empty(0, np.int64)
        amounts = np.repeat(self.demands[commodities], sizes)
        table = sparse.csr_array((amounts, (owners, arcs)), shape=(len(groups), len(self.costs)))
        table.sum_duplicates()
        costs = table @ self.costs
        if self.own_costs is not None:
            own = self.own_costs[np.repeat(commodities, sizes), arcs]
            costs += np.bincount(owners, own * amounts, minlength=len(groups))
        return Flows(self, groups, costs, table, first, pieces)


@dataclass(frozen=True, eq=False)
class Flows:
    """Flows of groups on arcs, shape (groups, arcs), their costs, and the paths of the commodities."""

    block: FlowBlock
    groups: Ints
    costs: Floats
    table: sparse.csr_array
    first: Ints
    pieces: Sequence[Ints]

    def routing(self, k: int) -> Routing:
        """Return flow k as the structure of a column."""
        mine, table, block = slice(self.table.indptr[k], self.table.indptr[k + 1]), self.table, self.block
        paths = tuple(self.pieces[self.first[k] : self.first[k + 1]])
        return Routing(block.name, block.number, int(self.groups[k]), paths, table.indices[mine], table.data[mine])

    def key(self, k: int) -> tuple[str, Any]:
        """Return the key of the column of flow k."""
        paths = tuple(piece.tobytes() for piece in self.pieces[self.first[k] : self.first[k + 1]])
        return "routing", (self.block.number, int(self.groups[k]), paths)
