"""Pricing problems whose columns are paths: any labelling solver as an oracle, with the dual values read for it.

    oracle = Labelling(solver, distances, {i: ("visit", i) for i in customers}, vehicles=("vehicles", None))

The solver is handed in (``solvers.paths.labelling.Labelling``, or whatever has its methods): the engine imports no
compiled code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.batches import Columns
from colgen.core.columns import Key
from colgen.core.decision import Apart, Together
from colgen.core.duals import Duals
from colgen.core.errors import InputError
from colgen.core.sense import Sense
from colgen.core.terms import Count, Linear, Term
from colgen.pricing.oracles import Marginals, Pricing, PricingContext, PricingResult

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Labelling(Pricing):
    """Paths of best reduced cost, when minimising: cheap searches first, then one that states the bound.

    It reads the dual values of the rows that vertices and arcs touch, of rows on arcs that branching adds, and of cuts:
    ``Linear`` terms over vertices and arcs, ``Count`` terms over vertices.  It honours branching on arcs, on pairs of
    vertices that are to be visited apart, and on the number of paths; that vertices are visited together it refuses.

    Parameters
    ----------
    solver
        Of ``solvers.paths.labelling``: its network, its resources and its neighbourhoods.
    costs
        What a column costs, by arc of the network.
    vertex_rows
        The row that each visit of a vertex covers once.
    arc_rows
        Rows that arcs touch besides: ``(arc, row, coefficient)``.
    vehicles
        A row that every path enters with 1.
    multiplicity
        At most so many paths are used.
    structure
        What a column means: a function of its vertices, source and sink included; by default these as a tuple.
    routes
        Columns a call, at most.
    modes
        Of the solver, in order; the last is exact.
    arcs
        Block of the branching rule's rows on arcs, whose names are ``(tail, head)``; a column's arcs are
        :meth:`arcs_of`.

    Raises
    ------
    InputError
        If a vertex or an arc is not one of the network.
    """

    prices: frozenset[type[Term]] = frozenset({Linear, Count})

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
    ) -> None:
        network = solver.network
        self.solver, self.routes, self.modes, self.block = solver, routes, tuple(modes), arcs
        self.costs: Floats = np.array(costs, dtype=np.float64)
        if self.costs.shape != (network.num_arcs,):
            raise InputError(f"costs: expected {network.num_arcs} numbers, one an arc, got {self.costs.shape}")
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
        self._vertex_of = {key: vertex for vertex, key in self.vertex_rows.items()}

    @staticmethod
    def arcs_of(vertices: Sequence[int]) -> dict[Hashable, float]:
        """The arcs of a path with how often it uses each: original variables for a branching rule."""
        found: dict[Hashable, float] = {}
        for tail, head in pairwise(map(int, vertices)):
            found[tail, head] = found.get((tail, head), 0.0) + 1.0
        return found

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        if context.sense is not Sense.MINIMIZE:
            raise InputError(f"{self.name}: expected a problem that minimises")
        reduced, forbidden = self.reduced_costs(duals, context), self.forbidden(context)
        rank_one = self._counted(duals, self._apart(context), reduced)
        for mode in self.modes:
            found = self.solver.price(
                reduced, rank_one=rank_one, forbidden=forbidden, mode=mode, routes=self.routes, cutoff=0.0,
                deadline=context.deadline, expired=lambda: context.budget.expired,
            )  # fmt: skip
            columns, stated = self._batch(found, duals)
            improving = context.reduced_costs(columns, duals)
            if mode != "exact" and any(
                context.improves(float(cost)) and (context.held is None or context.is_new(columns[k]))
                for k, cost in enumerate(improving)
            ):
                return PricingResult(columns, None, stated)
            if not found.finished:
                return PricingResult(columns, None, stated, cut_off=True)

        def marginals() -> Marginals | None:
            through = self.solver.completion(
                reduced, rank_one=rank_one, forbidden=forbidden, cutoff=context.slack - min(found.bound or 0.0, 0.0),
                deadline=context.deadline, expired=lambda: context.budget.expired,
            )  # fmt: skip
            if not through.finished:
                return None
            network = self.solver.network
            names: dict[Hashable, float] = {}
            for tail, head, value in zip(network.tails.tolist(), network.heads.tolist(), through.arcs, strict=True):
                names[tail, head] = min(names.get((tail, head), math.inf), float(value))
            return Marginals(np.array(list(names.values())), list(names))

        return PricingResult(columns, found.bound, stated, marginals=marginals)

    # --- dual values -------------------------------------------------------------------------------------------------

    def reduced_costs(self, duals: Duals, context: PricingContext) -> Floats:
        """Of the arcs: what each costs, less what it, its head, and a path that leaves the source earn."""
        network = self.solver.network
        earned = np.zeros(network.num_vertices)
        for vertex, key in self.vertex_rows.items():
            earned[vertex] += duals.get(key)
        reduced = context.cost_weight * self.costs
        for arc, key, coefficient in self.arc_rows:
            reduced[arc] -= coefficient * duals.get(key)
        linear = duals.terms(Linear)
        for block in {key[0] for key in self._vertex_of}:
            for member, value in linear.earned(block).items():
                if (block, member) in self._vertex_of:
                    earned[self._vertex_of[block, member]] += value
        for name, value in duals.items(self.block):
            reduced[self._arcs(name)] -= value
        if self.vehicles is not None:
            reduced[network.tails == network.source] -= duals.get(self.vehicles)
        return np.asarray(reduced - earned[network.heads])

    def _counted(self, duals: Duals, apart: Sequence[tuple[int, int]], reduced: Floats) -> tuple[Any, ...] | None:
        """Rank-1 cuts: numerators, denominators, memory, and what they charge.

        A pair of vertices that are kept apart is one more, ``⌊(a_i + a_j) / 2⌋``, that charges more than all arcs of a
        path can earn.
        """
        counted = duals.terms(Count)
        if not counted and not apart:
            return None
        count, n = len(counted.terms), self.solver.network.num_vertices
        numerators, memory = (
            np.zeros((count + len(apart), n), dtype=np.int64),
            np.ones((count + len(apart), n), dtype=bool),
        )
        divisors, penalties = np.full(len(numerators), 2, dtype=np.int64), np.full(len(numerators), math.inf)
        if counted:
            blocks = {term.block for term in counted.terms}
            found = counted.arrays({key[1]: vertex for key, vertex in self._vertex_of.items() if key[0] in blocks})
            terms = np.arange(count)
            numerators[np.repeat(terms, np.diff(found.starts)), found.members] = found.weights
            memory[:count][found.limited] = False
            memory[np.repeat(terms, np.diff(found.memory_starts)), found.memory] = True
            divisors[:count], penalties[:count] = found.divisors, np.maximum(-found.values, 0.0)
        for k, pair in enumerate(apart, start=count):
            numerators[k, list(pair)] = 1
        # a path has no more arcs than there are vertices, or else than its resources allow: see the solver's limits
        penalties[count:] = 1.0 + n * n * float(np.abs(reduced).max(initial=0.0))
        return numerators, divisors, memory, penalties

    # --- decisions ---------------------------------------------------------------------------------------------------

    def _arcs(self, name: Hashable) -> Mask:
        """The arcs that a name is about: parallel ones have the same."""
        network = self.solver.network
        if not (isinstance(name, tuple) and len(name) == 2):
            raise InputError(f"{self.block}: expected arcs named (tail, head), got {name!r}")
        return np.asarray((network.tails == name[0]) & (network.heads == name[1]))

    def forbidden(self, context: PricingContext) -> Mask | None:
        """The arcs that the decisions forbid; None where they forbid none."""
        closed = np.zeros(len(self.costs), dtype=np.bool_)
        for name in context.forbidden(self.block):
            closed |= self._arcs(name)
        return closed if closed.any() else None

    def _apart(self, context: PricingContext) -> list[tuple[int, int]]:
        """Pairs of vertices that no path may visit both of.

        Raises
        ------
        InputError
            If decisions join vertices: labels do not know what a path will still visit.
        """
        blocks = {key[0] for key in self._vertex_of}
        pairs = []
        for decision in context.decisions:
            if isinstance(decision, Together) and decision.first[0] in blocks:
                raise InputError(
                    f"{self.name}: {decision.first} and {decision.second} are to be visited together, which it cannot "
                    "price; branch on arcs instead (OnOriginalVariable with Labelling.arcs_of)"
                )
            if isinstance(decision, Apart) and decision.first in self._vertex_of:
                pairs.append((self._vertex_of[decision.first], self._vertex_of[decision.second]))
        return list(dict.fromkeys(pairs))

    # --- columns -----------------------------------------------------------------------------------------------------

    def _batch(self, found: Any, duals: Duals) -> tuple[Columns, Floats]:
        """The columns of routes, and what the solver says that their reduced costs are."""
        entries: list[dict[int, float]] = []
        rows = {key: int(duals.rows(key[0])[duals.members(key[0]).index(key[1])]) for key in self._keys()}
        touched: dict[int, list[tuple[Key, float]]] = {}
        for arc, key, coefficient in self.arc_rows:
            touched.setdefault(arc, []).append((key, coefficient))
        costs = []
        for k in range(len(found)):
            entry: dict[int, float] = {}
            amounts = [(self.vertex_rows[v], 1.0) for v in found.route(k).tolist() if v in self.vertex_rows]
            amounts += [each for arc in found.arcs_of(k).tolist() for each in touched.get(arc, ())]
            amounts += [(self.vehicles, 1.0)] if self.vehicles is not None else []
            for key, amount in amounts:
                entry[rows[key]] = entry.get(rows[key], 0.0) + amount
            entries.append(entry)
            costs.append(float(self.costs[found.arcs_of(k)].sum()))
        starts = np.concatenate([[0], np.cumsum([len(entry) for entry in entries])]).astype(np.int64)
        meanings = [tuple(found.route(k).tolist()) for k in range(len(found))]
        batch = Columns(
            costs,
            starts,
            np.array([row for entry in entries for row in entry], dtype=np.int64),
            np.array([amount for entry in entries for amount in entry.values()]),
            [self._structure(route) if self._structure is not None else route for route in meanings],
            [("path", route) for route in meanings],
        )
        return batch, np.asarray(found.costs, dtype=np.float64)

    def _keys(self) -> list[Key]:
        """The rows that paths touch."""
        keys = [*self.vertex_rows.values(), *(key for _, key, _ in self.arc_rows)]
        return list(dict.fromkeys([*keys, *([self.vehicles] if self.vehicles is not None else [])]))
