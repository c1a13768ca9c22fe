"""The pricing problem: routes of least reduced cost by labelling, without arcs that the node forbids."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Columns, Decision, Duals, PricingContext
from colgen.branching.rules import Bound
from colgen.core.terms import Count, Linear
from colgen.core.text import plural
from colgen.pricing.labelling import PathOracle
from colgen.problems.vehicle_routing.instance import Route
from colgen.problems.vehicle_routing.layout import Arc, RouteLayout
from colgen.solvers.paths.labelling import Labelling, RankOneDuals, Routes


@dataclass(frozen=True, eq=False)
class RouteArcsForbidden(Decision):
    """Forbids all arcs that are not open.

    Attributes
    ----------
    open_arcs
        Mask of the network's arcs.
    """

    layout: RouteLayout = field(repr=False)
    open_arcs: NDArray[np.bool_] = field(repr=False)
    exhaustive: bool = True

    def allows(self, column: Column) -> bool:
        return all(number >= 0 and self.open_arcs[number] for number in self.layout.arcs(column.structure))

    def __str__(self) -> str:
        return f"{plural(int((~self.open_arcs).sum()), 'arc')} forbidden"


Mode = Literal["exact", "relaxed", "sparse"]

ARC = "arc"
"""Block of rows on directed arcs: capacity cuts."""

EDGE = "edge"
"""Block of branching rows on edges, for symmetric instances."""

VEHICLES = "vehicles"
"""Block of the branching row on the number of routes."""


def as_arc(index: Hashable) -> Arc:
    """Return a row index as an arc or edge."""
    tail, head = cast(Arc, index)
    return tail, head


def visits(column: Column) -> Route:
    """Return the customers of a route in visiting order."""
    route: Route = column.structure
    return route


class RouteOracle(PathOracle):
    """Oracle for routes of least reduced cost under capacity and time windows: elementary routes or ng-routes.

    Heuristic modes of labelling run first.  If they find no improving route, exact labelling runs and gives the bound.

    Parameters
    ----------
    modes
        Modes of labelling in the order of their calls; the last is exact.
    routes
        Maximum number of routes per call.
    """

    cost_bound = 0.0
    prices = frozenset({Linear, Count})
    arc_blocks = (EDGE,)

    def __init__(
        self, layout: RouteLayout, modes: Sequence[Mode] = ("sparse", "relaxed", "exact"), *, routes: int = 60
    ) -> None:
        self.layout = layout
        self.modes = tuple(modes)
        self.routes = routes
        self.multiplicity = float(layout.instance.most)
        self._terms: dict[Linear, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        self._open: tuple[object, NDArray[np.bool_] | None] = ((), None)

    @property
    def solver(self) -> Labelling:
        """The labelling solver, built on first use."""
        return self.layout.solver

    @property
    def costs(self) -> NDArray[np.float64]:  # type: ignore[override]
        """The distances of arcs."""
        return self.layout.distances

    def arguments(self, duals: Duals, context: PricingContext) -> dict[str, Any]:
        return {
            "rank_one": self.rank_one(duals),
            "forbidden": self.forbidden(context),
            "expired": context.expired,
        }

    def reduced_costs(self, duals: Duals, context: PricingContext) -> NDArray[np.float64]:
        """Return the reduced costs of arcs: distances minus the dual values of heads, the fleet and arc rows."""
        layout = self.layout
        earned = np.zeros(layout.instance.num_customers + 1)
        earned[1:] = duals.array("visit")
        linear = duals.terms(Linear)
        for term, dual in zip(linear.terms, linear.values, strict=True):
            if term.block == "visit":
                earned[list(term.members)] += dual * np.array(term.coefficients)  # type: ignore[index]
        costs = context.cost_weight * layout.distances - earned[layout.heads]
        routes = duals.get(("fleet", None)) + duals.get((VEHICLES, VEHICLES))
        costs[layout.tails == 0] -= routes
        for block in (ARC, EDGE):
            for arc, dual in zip(duals.members(block), duals.array(block), strict=True):
                costs[self.arcs_of(block, as_arc(arc))] -= dual
        for term, dual in zip(linear.terms, linear.values, strict=True):
            if term.block in (ARC, EDGE):
                arcs, coefficients = self._in_arcs(term)
                costs[arcs] -= dual * coefficients
        return costs

    def _in_arcs(self, term: Linear) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the arcs that a term counts, and their coefficients; cached, as terms have hundreds."""
        found = self._terms.get(term)
        if found is None:
            each = [self.arcs_of(term.block, as_arc(member)) for member in term.members]
            arcs = np.array([arc for some in each for arc in some], dtype=np.int64)
            found = self._terms[term] = arcs, np.repeat(term.coefficients, list(map(len, each))).astype(np.float64)
        return found

    def arcs_of(self, block: str, arc: Arc) -> list[int]:
        """Return the network's arcs that have an entry in the row of an arc or edge."""
        i, j = arc
        ends = ((i, j),) if block == ARC else ((i, j), (j, i))
        return [int(self.layout.number[end]) for end in ends if self.layout.number[end] >= 0]

    def rank_one(self, duals: Duals) -> RankOneDuals | None:
        """Return the rank-1 cuts with their dual values, which routes pay as charges; None without cuts."""
        counted = duals.terms(Count)
        if not counted:
            return None
        count, vertices = len(counted.terms), self.layout.network.num_vertices
        found = counted.arrays({i: i for i in self.layout.instance.customers})
        numerators, memory = np.zeros((count, vertices), dtype=np.int64), np.zeros((count, vertices), dtype=np.bool_)
        numerators[np.repeat(np.arange(count), np.diff(found.starts)), found.members] = found.weights
        memory[np.repeat(np.arange(count), np.diff(found.memory_starts)), found.memory] = True
        memory[~found.limited] = True
        return RankOneDuals(numerators, found.divisors, memory, np.maximum(-found.values, 0.0))

    def forbidden(self, context: PricingContext) -> NDArray[np.bool_] | None:
        """Return the mask of arcs that the decisions forbid, or None; it is cached for the next call."""
        if self._open[0] is not context.decisions:
            mask: NDArray[np.bool_] | None = None
            for decision in context.decisions:
                closed = self._forbidden_by(decision)
                if closed is not None:
                    mask = closed if mask is None else mask | closed
            self._open = context.decisions, mask
        return self._open[1]

    def _forbidden_by(self, decision: object) -> NDArray[np.bool_] | None:
        if isinstance(decision, RouteArcsForbidden):
            return ~decision.open_arcs
        if isinstance(decision, Bound) and decision.upper <= 0 and decision.key[0] == VEHICLES:
            return np.ones(len(self.layout.distances), dtype=np.bool_)  # all routes are forbidden
        if isinstance(decision, Bound) and decision.upper <= 0 and decision.key[0] in (ARC, EDGE):
            closed = np.zeros(len(self.layout.distances), dtype=np.bool_)
            closed[self.arcs_of(decision.key[0], as_arc(decision.key[1]))] = True
            return closed
        return None

    # --- columns -----------------------------------------------------------------------------------------------------

    def batch(self, found: Routes, duals: Duals) -> tuple[Columns, NDArray[np.float64]]:
        """Return the columns of routes and their reduced costs; a route and its reverse share a column."""
        numbers: dict[Route, int] = {}
        for k in range(len(found)):
            numbers.setdefault(self.layout.canonical(found.route(k)[1:-1].tolist()), k)
        routes, taken = list(numbers), np.array(list(numbers.values()), dtype=np.int64)
        lengths = np.array([len(route) for route in routes], dtype=np.int64)
        owners = np.repeat(np.arange(len(routes)), lengths)
        n = self.layout.instance.num_customers
        customers = np.array([i for route in routes for i in route], dtype=np.int64)
        entries, visits = np.unique(owners * (n + 1) + customers, return_counts=True)
        owners, customers = np.divmod(entries, n + 1)
        fleet = np.arange(len(routes))
        rows = np.concatenate([duals.rows("visit")[customers - 1], np.full(len(routes), duals.rows("fleet")[0])])
        order = np.argsort(np.concatenate([owners, fleet]), kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=len(routes)) + 1)])
        batch = Columns(
            self.layout.lengths(routes),
            starts.astype(np.int64),
            rows[order],
            np.concatenate([visits, np.ones(len(routes))])[order],
            routes,
            [("route", route) for route in routes],
        )
        return batch, np.asarray(found.costs, dtype=np.float64)[taken]

    def encode(self, route: Sequence[int]) -> Column:
        """Return the column of a route."""
        drawn: Route = self.layout.canonical(route)
        coefficients: dict[tuple[str, object], float] = {}
        for i in drawn:
            coefficients["visit", i] = coefficients.get(("visit", i), 0.0) + 1.0
        coefficients["fleet", None] = 1.0
        return Column(self.layout.instance.total([drawn]), coefficients, drawn, ("route", drawn))
