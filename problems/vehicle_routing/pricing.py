"""The pricing problem: routes of least reduced cost by labelling, without arcs that the node forbids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Columns, Decision, Duals, PricingContext
from colgen.core.text import plural
from colgen.pricing.labelling import Labelling, PathOracle
from colgen.problems.vehicle_routing.instance import Route
from colgen.problems.vehicle_routing.layout import RouteLayout
from colgen.solvers.paths.labelling import Routes


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


def visits(column: Column) -> Route:
    """Return the customers of a route in visiting order."""
    route: Route = column.structure
    return route


class RouteOracle(Labelling):
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
    through_arcs = PathOracle.through_arcs  # by the numbers of arcs

    def __init__(
        self, layout: RouteLayout, modes: Sequence[Mode] = ("sparse", "relaxed", "exact"), *, routes: int = 60
    ) -> None:
        self.layout = layout
        super().__init__(
            layout.solver,
            layout.distances,
            {i: ("visit", i) for i in layout.instance.customers},
            vehicles=("fleet", None),
            multiplicity=float(layout.instance.most),
            routes=routes,
            modes=modes,
            arcs=ARC,
            paths=VEHICLES,
        )
        self.arc_blocks = (ARC, EDGE)
        if layout.instance.is_symmetric:
            self.mirror = layout.number[layout.heads, layout.tails]

    def _arcs(self, name: Any) -> list[int]:
        """Return the network's arcs of this name; the depot at either end is 0."""
        return [int(number) for number in (self.layout.number[name],) if number >= 0]

    def _both_ways(self, edge: Any) -> list[int]:
        return self._arcs(edge) + self._arcs(edge[::-1])

    def reduced_costs(self, duals: Duals, context: PricingContext) -> NDArray[np.float64]:
        """Return the reduced costs of arcs: distances minus the dual values of heads, the fleet, arcs and edges."""
        reduced = super().reduced_costs(duals, context)
        self.pay(reduced, duals, EDGE, self._both_ways)
        return reduced

    def close(self, closed: NDArray[np.bool_], context: PricingContext) -> None:
        super().close(closed, context)
        for edge in context.forbidden(EDGE):
            closed[self._both_ways(edge)] = True
        for decision in context.decisions:
            if isinstance(decision, RouteArcsForbidden):
                closed |= ~decision.open_arcs

    def visited(self, column: Column) -> NDArray[np.int64]:
        return np.array(visits(column), dtype=np.int64)

    # --- columns -----------------------------------------------------------------------------------------------------

    def batch(self, found: Routes, duals: Duals) -> tuple[Columns, NDArray[np.float64]]:
        """Return the columns of routes and their reduced costs; a route and its reverse share a column."""
        columns, reduced = super().batch(found, duals)
        numbers: dict[Route, int] = {}
        for k, path in enumerate(columns.structures):
            numbers.setdefault(self.layout.canonical(path[1:-1]), k)
        routes, taken = list(numbers), np.array(list(numbers.values()), dtype=np.int64)
        rest = columns.take(taken)
        keys = [("route", route) for route in routes]
        return Columns(self.layout.lengths(routes), rest.starts, rest.rows, rest.values, routes, keys), reduced[taken]

    def encode(self, route: Sequence[int]) -> Column:
        """Return the column of a route."""
        drawn: Route = self.layout.canonical(route)
        coefficients: dict[tuple[str, object], float] = {}
        for i in drawn:
            coefficients["visit", i] = coefficients.get(("visit", i), 0.0) + 1.0
        coefficients["fleet", None] = 1.0
        return Column(self.layout.instance.total([drawn]), coefficients, drawn, ("route", drawn))
