"""Pricing of paths: any labelling solver as an oracle.

    oracle = Labelling(solver, distances, {i: ("visit", i) for i in customers}, vehicles=("vehicles", None))

The solver, such as ``colgen.solvers.paths.labelling.Labelling``, is an argument, so the engine imports no compiled
code.
"""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.column_batch import Columns
from colgen.core.columns import Column, Key
from colgen.core.duals import Duals
from colgen.core.errors import InputError
from colgen.core.sense import Sense
from colgen.core.terms import Box, Count, Linear, Term
from colgen.pricing.listed_paths import PathsListed
from colgen.pricing.oracles import PricedMarginals, Pricing, PricingContext, PricingResult
from colgen.pricing.visits import Visits
from colgen.solvers.work import STEP

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_KEPT = "kept"
"""An exact search over selected arcs."""

_DEARER, _CHEAP = 20.0, 3e7
"""Effort at which an exact search with cuts is given up: relative to those without cuts, and at least (a second)."""


class PathOracle(Pricing):
    """Base of oracles whose columns are paths: heuristic searches, then an exact one; marginals; lists of paths.

    Subclasses implement :meth:`reduced_costs`, :meth:`arguments` and :meth:`batch`.  It supports minimisation only.

    Attributes
    ----------
    solver
        A labelling solver with its network, resources and neighbourhoods; see ``colgen.solvers.paths.labelling``.
    costs
        Cost of each arc, shape (num_arcs,).
    routes
        Maximum number of columns per call.
    modes
        The solver's searches, in order.  The last is ``"exact"``.
    arc_blocks
        Blocks of branching rows on arcs.
    visit_blocks
        Blocks of branching rows in which paths over the same vertices have equal coefficients.
    effort
        The solver's effort limit for marginals, per label of the exact search; infinite: only time limits them.
    brief
        Effort limit of an exact search that precedes the others.
    mirror
        The arc that each arc becomes in a reversed path, shape (num_arcs,), if a path and its reverse share a column.
    """

    solver: Any
    costs: Floats
    routes: int
    modes: tuple[str, ...]
    arc_blocks: tuple[str, ...] = ()
    visit_blocks: tuple[str, ...] = ()
    effort: float = math.inf
    brief: float = math.inf
    mirror: Ints | None = None
    select_arcs: Callable[[PathOracle, Floats], Mask] | None = None
    """Returns the arcs that an additional first search may use; see :func:`colgen.pricing.arcs.keep_arcs`."""
    _usual: int = 0
    """Effort of the dearest exact search at the root without cuts on visits."""
    _forbidden: tuple[object, object, Mask | None] = (None, None, None)
    """The decisions of the last node, the columns fixed there by a dive, and the arcs that these forbid."""

    @abstractmethod
    def reduced_costs(self, duals: Duals, context: PricingContext) -> Floats:
        """Return the cost of each arc minus its dual values."""

    @abstractmethod
    def arguments(self, duals: Duals, context: PricingContext) -> dict[str, Any]:
        """Return the solver's arguments apart from the arcs' reduced costs."""

    @abstractmethod
    def batch(self, found: Any, duals: Duals) -> tuple[Columns, Floats]:
        """Return the routes as columns, and the solver's reduced costs of them."""

    def selected(self, found: Any, duals: Duals) -> tuple[Columns, Floats]:
        """Return the routes that join the master as columns, and the solver's reduced costs; by default all of them."""
        return self.batch(found, duals)

    def _modes_of(self, context: PricingContext) -> tuple[str, ...]:
        """Return the searches of a round, in order; ``"brief"`` is an exact one of little effort."""
        return self.modes

    @abstractmethod
    def close(self, closed: Mask, context: PricingContext) -> None:
        """Mark the arcs that the decisions of a node, or columns fixed by a dive, forbid."""

    def forbidden(self, context: PricingContext) -> Mask | None:
        """Return the mask of arcs that the decisions forbid, if any; it is cached, as fixing may forbid thousands."""
        known, fixed, mask = self._forbidden
        if known is not context.decisions or fixed is not context.fixed:
            closed = np.zeros(len(self.costs), dtype=np.bool_)
            self.close(closed, context)
            mask = closed if closed.any() else None
            self._forbidden = context.decisions, context.fixed, mask
        return mask

    def pay(self, reduced: Floats, duals: Duals, block: str, arcs_of: Callable[[Any], Sequence[int] | Ints]) -> None:
        """Subtract the dual values of a block's rows, and of linear terms over it, from the arcs of their names."""
        for name, value in zip(duals.members(block), duals.array(block).tolist(), strict=False):
            reduced[arcs_of(name)] -= value
        linear = duals.terms(Linear)
        for term, value in zip(linear.terms, linear.values.tolist(), strict=True):
            if term.block == block:
                arcs, coefficients = self._counted.get(term) or self._count(term, arcs_of)
                reduced[arcs] -= value * coefficients

    @cached_property
    def _counted(self) -> dict[Linear, tuple[Ints, Floats]]:
        """The arcs and coefficients of linear terms, which have hundreds."""
        return {}

    def _count(self, term: Linear, arcs_of: Callable[[Any], Sequence[int] | Ints]) -> tuple[Ints, Floats]:
        each = [np.asarray(arcs_of(member), dtype=np.int64) for member in term.members]
        coefficients = np.repeat(np.asarray(term.coefficients, dtype=np.float64), list(map(len, each)))
        self._counted[term] = np.concatenate(each), coefficients
        return self._counted[term]

    def solver_at(self, context: PricingContext) -> Any:
        """Return the solver, or one over the paths that a node lists."""
        for decision in reversed(context.decisions):
            if isinstance(decision, PathsListed) and decision.oracle.solver is self.solver:
                return decision.routes
        return self.solver

    def visited(self, column: Column) -> Ints | None:
        """Return the network's vertices that a column's path visits between source and sink; None if unknown."""
        return None

    def through_arcs(self, values: Floats) -> PricedMarginals:
        """Return the least reduced costs of paths through the arcs as marginals; by default the names are numbers."""
        if self.mirror is not None:
            values = np.minimum(values, values[self.mirror])
        return PricedMarginals(values, np.arange(len(values)))

    def exactly(self) -> Self:
        """Return a copy that runs the exact search only, as marginals require."""
        other = copy.copy(self)
        other.modes, other.select_arcs = ("exact",), None
        return other

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        if context.sense is not Sense.MINIMIZE:
            raise InputError(f"{self.name}: expected a minimisation problem, got {context.sense}")
        reduced, given = self.reduced_costs(duals, context), self.arguments(duals, context)
        listed = self.solver_at(context) is not self.solver
        modes = self.modes[-1:] if listed else self.modes[:-1] if context.quick else self._modes_of(context)
        narrowed = [] if listed else self._narrowed(reduced, given)
        for mode, how in [*narrowed, *((mode, given) for mode in modes)]:
            found = self._search(mode, reduced, how, context)
            if mode == "brief" and not found.finished:
                continue
            columns, stated = self.selected(found, duals)
            if mode == "brief":
                break
            improving = context.reduced_costs(columns, duals)
            if mode != "exact" and any(
                context.improves(float(cost)) and (context.find is None or context.is_new(columns[k]))
                for k, cost in enumerate(improving)
            ):
                return PricingResult(columns, None, stated)
            if not found.finished and (mode != _KEPT or context.expired()):
                return PricingResult(columns, None, stated, cut_off=True, costly=not context.expired())
        if context.quick and not listed:
            return PricingResult()

        if getattr(self.solver, "forward_only", False):
            return PricingResult(columns, found.bound, stated)

        def marginals() -> PricedMarginals | None:
            cutoff = context.slack - min(found.bound or 0.0, 0.0)
            effort = min(self.effort * max(found.labels, 1), context.budget.allotment.remaining / STEP)
            through = self.solver_at(context).completion(reduced, cutoff=cutoff, effort=effort, **given)
            return self.through_arcs(through.arcs) if through.finished else None

        return PricingResult(columns, found.bound, stated, marginals=marginals)

    def _narrowed(self, reduced: Floats, given: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Return the search over selected arcs with its arguments; none without paths, or over all arcs."""
        if self.select_arcs is None:
            return []
        kept, forbidden = self.select_arcs(self, reduced), given.get("forbidden")
        usable = np.ones(len(reduced), dtype=np.bool_) if forbidden is None else ~forbidden
        kept &= usable
        return [] if not kept.any() or kept.sum() == usable.sum() else [(_KEPT, {**given, "forbidden": ~kept})]

    def _search(self, mode: Any, reduced: Floats, given: Mapping[str, Any], context: PricingContext) -> Any:
        """Return routes below 0; exact searches give up if cuts make them much dearer than at the root."""
        limit: dict[str, float] = {}
        if getattr(self.solver, "has_penalties", False):
            given = {**given, "penalty_weight": context.cost_weight}
        has_cuts = given.get("rank_one") is not None and self._usual > 0
        search = "exact" if mode in ("brief", _KEPT) else mode
        if mode == "brief":
            limit["effort"] = self.brief
        elif search == "exact" and has_cuts:
            limit["effort"] = max(_DEARER * self._usual, _CHEAP)
        found = self.solver_at(context).price(reduced, mode=search, routes=self.routes, cutoff=0.0, **limit, **given)
        if mode == "exact" and found.finished and not has_cuts and not context.decisions:
            self._usual = max(self._usual, found.effort)
        return found

    def listed(self, duals: Duals, context: PricingContext, limit: int, effort: float = math.inf) -> Any:
        """Return all useful paths of a node, the cheapest for each set of vertices.

        ``context.slack`` bounds their reduced costs.  For ``limit`` and ``effort`` see
        :meth:`colgen.solvers.paths.labelling.Labelling.enumerate`; None if they, or the time, do not suffice, and if
        resources have penalties.
        """
        if getattr(self.solver, "has_penalties", False):
            return None
        reduced, given = self.reduced_costs(duals, context), self.arguments(duals, context)
        solver = self.solver_at(context)
        best = solver.price(reduced, **given)
        if best.bound is None:
            return None
        # Other paths of the solution may have negative reduced costs, unless the duals are optimal.
        found = solver.enumerate(
            reduced, context.slack + min(best.bound, 0.0), limit=limit, costs=self.costs, effort=effort, **given
        )
        return found if found.finished else None


def routes_within(
    oracles: Sequence[PathOracle], duals: Duals, context: PricingContext, limit: int, effort: float = math.inf
) -> list[Any] | None:
    """Return the useful paths of each oracle, see :meth:`PathOracle.listed`; None if they are more than a limit."""
    found: list[Any] = []
    for oracle in oracles:
        affordable = min(effort / len(oracles), context.budget.allotment.remaining / STEP)
        routes = oracle.listed(duals, context, limit - sum(map(len, found)), affordable)
        if routes is None:
            return None
        found.append(routes)
    return found


def list_paths(
    oracles: Sequence[PathOracle], duals: Duals, context: PricingContext, limit: int, effort: float = math.inf
) -> Columns | None:
    """Return the paths of :func:`routes_within` as one batch."""
    found = routes_within(oracles, duals, context, limit, effort)
    if found is None:
        return None
    batches = [oracle.batch(routes, duals)[0] for oracle, routes in zip(oracles, found, strict=True)]
    names = duals.names
    return batches[0] if len(batches) == 1 else Columns.concatenate(batches, names.keys, names.position)


class Labelling(PathOracle):
    """Find paths of minimum reduced cost by heuristic searches, then by an exact one.

    It uses dual values of rows of vertices and arcs, branching rows and cuts.  It prices ``Linear`` terms over vertices
    and arcs, and ``Count`` and ``Box`` terms over vertices.  Labels enforce branching on arcs, on the number of paths,
    and on pairs of vertices (:class:`colgen.RyanFoster`). It computes marginals of arcs
    (:class:`colgen.fixing.ReducedCostFixing`). It lists all paths of small reduced cost
    (:class:`colgen.enumeration.PathEnumeration`).  It supports minimisation only.

    Parameters
    ----------
    solver
        A labelling solver with its network, resources and neighbourhoods; see ``colgen.solvers.paths.labelling``.
    costs
        Cost of each arc, shape (num_arcs,).  A column costs the sum over its arcs, and penalties of resources.
    vertex_rows
        The row that a visit of each vertex covers once.
    arc_rows
        Entries of arcs in rows: ``(arc, row, coefficient)``.
    vehicles
        A row with coefficient 1 in every path.
    multiplicity
        Maximum number of paths in a solution.
    structure
        Function from a path's vertices, with source and sink, to the structure.  Default: a tuple.
    routes
        Maximum number of columns per call.
    modes
        The solver's searches, in order.  The last must be ``"exact"``.  ``"tabu"`` is available too.
    arcs
        Block of the branching rows on arcs.  They are named ``(tail, head)``; see :meth:`arcs_of`.
    paths
        Block of the branching row on the number of paths; see :meth:`number_of`.

    Raises
    ------
    InputError
        If a vertex or an arc is not in the network.

    Examples
    --------
    >>> from colgen.solvers.paths import labelling
    >>> network = labelling.Network.complete(3)  # three customers and a depot
    >>> load = labelling.Resource(np.ones(network.num_arcs), 2.0, name="load")
    >>> solver = labelling.Labelling(network, [load])
    >>> oracle = Labelling(solver, np.ones(network.num_arcs), {i: ("visit", i) for i in (1, 2, 3)})
    """

    prices: frozenset[type[Term]] = frozenset({Linear, Count, Box})

    def __init__(
        self,
        solver: Any,
        costs: ArrayLike,
        vertex_rows: Mapping[int, Key],
        *,
        arc_rows: Iterable[tuple[int, Key, float]] = (),
        vehicles: Key | None = None,
        multiplicity: float = math.inf,
        structure: Callable[[Sequence[int]], Any] | None = None,
        routes: int = 50,
        modes: Sequence[str] = ("sparse", "relaxed", "exact"),
        arcs: str = "arc",
        paths: str = "path",
    ) -> None:
        network = solver.network
        self.solver, self.routes, self.modes, self.block = solver, routes, tuple(modes), arcs
        self.arc_blocks, self.visit_blocks = (arcs,), (paths,)
        self.paths = paths
        self.costs: Floats = np.array(costs, dtype=np.float64)
        if self.costs.shape != (network.num_arcs,):
            raise InputError(f"costs: expected {network.num_arcs} numbers, one per arc, got {self.costs.shape}")
        if not self.modes or self.modes[-1] != "exact":
            raise InputError(f"modes: expected 'exact' last, got {self.modes}")
        self.vertex_rows = dict(vertex_rows)
        self.arc_rows = tuple(arc_rows)
        for vertex in self.vertex_rows:
            if not 0 <= vertex < network.num_vertices or vertex in (network.source, network.sink):
                raise InputError(f"vertex_rows: expected vertices between source and sink, got {vertex}")
        for arc, _, _ in self.arc_rows:
            if not 0 <= arc < network.num_arcs:
                raise InputError(f"arc_rows: expected arcs from 0 to {network.num_arcs - 1}, got {arc}")
        self.vehicles, self.multiplicity = vehicles, multiplicity
        self._structure = structure
        self._keys: list[Key] = list(dict.fromkeys([*self.vertex_rows.values(), *(key for _, key, _ in self.arc_rows)]))
        if vehicles is not None and vehicles not in self._keys:
            self._keys.append(vehicles)
        number = {key: k for k, key in enumerate(self._keys)}
        self._row_of = np.full(network.num_vertices, -1, dtype=np.int64)
        for vertex, key in self.vertex_rows.items():
            self._row_of[vertex] = number[key]
        by_arc = sorted((arc, number[key], amount) for arc, key, amount in self.arc_rows)
        self._arc_entries = tuple(np.array(each) for each in zip(*by_arc, strict=True)) if by_arc else None
        others = {vehicles, *(key for _, key, _ in self.arc_rows)}
        self._visits = Visits(self.name, self.vertex_rows, others, arcs, solver)
        self._arcs_named: dict[Hashable, list[int]] = {}
        for arc, ends in enumerate(zip(network.tails.tolist(), network.heads.tolist(), strict=True)):
            self._arcs_named.setdefault(ends, []).append(arc)
        self._parallel = len(self._arcs_named) < network.num_arcs

    @staticmethod
    def arcs_of(vertices: Sequence[int]) -> dict[Hashable, float]:
        """Return the original variables of a path for a branching rule: its arcs with counts."""
        found: dict[Hashable, float] = {}
        for tail, head in pairwise(map(int, vertices)):
            found[tail, head] = found.get((tail, head), 0.0) + 1.0
        return found

    @staticmethod
    def number_of(_column: Column) -> dict[Hashable, float]:
        """Return the original variable for branching on the number of paths."""
        return {"number": 1.0}

    def through_arcs(self, values: Floats) -> PricedMarginals:
        network = self.solver.network
        names: dict[Hashable, float] = {}
        for tail, head, value in zip(network.tails.tolist(), network.heads.tolist(), values, strict=True):
            names[tail, head] = min(names.get((tail, head), math.inf), float(value))
        return PricedMarginals(np.array(list(names.values())), list(names))

    # --- dual values -------------------------------------------------------------------------------------------------

    def arguments(self, duals: Duals, context: PricingContext) -> dict[str, Any]:
        return {
            "rank_one": self._visits.rank_one_cuts(duals.terms(Count)),
            "boxes": self._visits.boxes(duals.terms(Box), context.decisions),
            "forbidden": self.forbidden(context),
            "expired": context.expired,
        }

    def reduced_costs(self, duals: Duals, context: PricingContext) -> Floats:
        """Return the cost of each arc minus its dual values: of the arc, of its head and, at the source, of a path."""
        network = self.solver.network
        values: dict[Key, float] = {}
        for block in dict.fromkeys(key[0] for key in self._keys):
            values.update({(block, index): value for index, value in duals.items(block)})
        of_row = np.array([values.get(key, 0.0) for key in self._keys] + [0.0])  # last: vertices without a row
        reduced = context.cost_weight * self.costs - of_row[self._row_of][network.heads]
        if self._arc_entries is not None:
            arcs, rows, amounts = self._arc_entries
            np.subtract.at(reduced, arcs, amounts * of_row[rows])
        self.pay(reduced, duals, self.block, self._arcs)
        leaving = sum(value for _, value in duals.items(self.paths))
        if self.vehicles is not None:
            leaving += values.get(self.vehicles, 0.0)
        reduced[network.tails == network.source] -= leaving
        return np.asarray(reduced)

    # --- decisions ---------------------------------------------------------------------------------------------------

    def visited(self, column: Column) -> Ints | None:
        route = column.structure
        return np.array(route[1:-1], dtype=np.int64) if self._structure is None and isinstance(route, tuple) else None

    def _arcs(self, name: Hashable) -> list[int]:
        """Return the arcs of this name.  Parallel arcs share it."""
        if not (isinstance(name, tuple) and len(name) == 2):
            raise InputError(f"{self.block}: expected arcs named (tail, head), got {name!r}")
        return self._arcs_named.get(name, [])

    def close(self, closed: Mask, context: PricingContext) -> None:
        for name in context.forbidden(self.block):
            closed[self._arcs(name)] = True
        if context.forbidden(self.paths):
            closed[:] = True

    # --- columns -----------------------------------------------------------------------------------------------------

    def batch(self, found: Any, duals: Duals) -> tuple[Columns, Floats]:
        count, size = len(found), len(self._keys)
        owners = np.repeat(np.arange(count), np.diff(found.starts))
        visited = self._row_of[found.vertices]
        entries = [(owners[visited >= 0] * size + visited[visited >= 0], np.ones(int((visited >= 0).sum())))]
        drivers = np.repeat(np.arange(count), np.diff(found.starts) - 1)
        if self._arc_entries is not None:
            arcs, rows, amounts = self._arc_entries
            first, end = np.searchsorted(arcs, found.arcs), np.searchsorted(arcs, found.arcs, side="right")
            each = np.repeat(np.arange(len(found.arcs)), end - first)
            place = np.arange(len(each)) - np.repeat(np.cumsum(end - first) - (end - first), end - first) + first[each]
            entries.append((drivers[each] * size + rows[place], amounts[place]))
        if self.vehicles is not None:
            entries.append((np.arange(count) * size + self._keys.index(self.vehicles), np.ones(count)))
        codes, inverse = np.unique(np.concatenate([code for code, _ in entries]), return_inverse=True)
        values = np.bincount(inverse, np.concatenate([amount for _, amount in entries]), minlength=len(codes))
        of_columns, of_keys = np.divmod(codes, size)
        meanings = [tuple(found.route(k).tolist()) for k in range(count)]
        costs = np.bincount(drivers, self.costs[found.arcs], minlength=count)[:count]
        if self.solver.has_penalties:
            costs = costs + self.solver.penalties(found.starts - np.arange(count + 1), found.arcs)
        batch = Columns(
            costs,
            np.searchsorted(of_columns, np.arange(count + 1)).astype(np.int64),
            self._positions(duals)[of_keys],
            values,
            [self._structure(route) if self._structure is not None else route for route in meanings],
            [
                ("path", tuple(found.arcs_of(k).tolist()) if self._parallel else route)
                for k, route in enumerate(meanings)
            ],
        )
        return batch, np.asarray(found.costs, dtype=np.float64)

    def _positions(self, duals: Duals) -> Ints:
        """Return the positions in the master of the rows that paths touch."""
        where: dict[Key, int] = {}
        for block in dict.fromkeys(key[0] for key in self._keys):
            members = duals.members(block)
            where.update(zip(((block, index) for index in members), duals.rows(block).tolist(), strict=True))
        return np.array([where[key] for key in self._keys], dtype=np.int64)
