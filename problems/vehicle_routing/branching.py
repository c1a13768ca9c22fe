"""Branching on the number of vehicles, then on arcs; fixing of arcs by reduced cost."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Decision, OnOriginalVariable, Solution
from colgen.branching.rules import Bound
from colgen.fixing import ReducedCostFixing
from colgen.pricing.oracles import PricedMarginals
from colgen.problems.vehicle_routing.instance import Route
from colgen.problems.vehicle_routing.pricing import ARC, EDGE, VEHICLES, RouteArcsForbidden, RouteOracle, as_arc


def arcs_of(column: Column) -> Mapping[Hashable, float]:
    """How often a route drives each arc ``(tail, head)``, 0 the depot."""
    route: Route = column.structure
    return {arc: float(times) for arc, times in Counter(itertools.pairwise((0, *route, 0))).items()}


def edges_of(column: Column) -> Mapping[Hashable, float]:
    """How often a route drives each edge ``(smaller, larger)``, in any direction."""
    route: Route = column.structure
    edges = Counter((min(arc), max(arc)) for arc in itertools.pairwise((0, *route, 0)))
    return {edge: float(times) for edge, times in edges.items()}


class OnVehicles(OnOriginalVariable):
    """Branch on the number of routes."""

    def __init__(self) -> None:
        super().__init__(lambda column: {VEHICLES: 1.0}, block=VEHICLES)


class OnRouteArcs(OnOriginalVariable):
    """Branch on whether an arc is driven; on edges where a route is the same in both directions.

    An arc that must be driven forbids all others that leave its tail or enter its head, which needs no row.
    """

    makes: Sequence[type[Decision]] = (Bound, RouteArcsForbidden)

    def __init__(self, oracle: RouteOracle) -> None:
        self.oracle = oracle
        self.layout = oracle.layout
        self.symmetric = self.layout.instance.is_symmetric
        super().__init__(edges_of if self.symmetric else arcs_of, block=EDGE if self.symmetric else ARC)

    def imposed(self, bound: Bound) -> Decision:
        if self.symmetric or bound.lower < 1.0:
            return bound
        i, j = as_arc(bound.key[1])
        tails, heads = self.layout.tails, self.layout.heads
        closed = np.zeros(len(tails), dtype=np.bool_)
        if i:
            closed |= (tails == i) & (heads != j)
        if j:
            closed |= (heads == j) & (tails != i)
        return RouteArcsForbidden(self.layout, ~closed)

    def recover(self, solution: Solution) -> Solution | None:
        """Routes from whole edges, where the routes that make them are fractional."""
        edges = {edge: round(value) for edge, value in self.values(solution).items() if round(value)}
        routes = _followed(edges)  # type: ignore[arg-type]
        if not self.symmetric or any(self.layout.instance.fault(route) for route in routes):
            return None
        columns = [self.oracle.encode(route) for route in routes]
        return Solution(sum(column.cost for column in columns), tuple((column, 1.0) for column in columns))


def _followed(edges: dict[tuple[int, int], int]) -> list[list[int]]:
    """The routes that edges make, each used as often as it says."""
    left = Counter(edges)
    routes: list[list[int]] = []
    route: list[int]
    while True:
        route, at = [], 0
        while True:
            edge = next((e for e, times in left.items() if times and at in e and (route or e[0] == 0)), None)
            if edge is None:
                break
            left[edge] -= 1
            at = edge[1] if edge[0] == at else edge[0]
            if at == 0:
                break
            route.append(at)
        if not route:
            return routes
        routes.append(route)


class RouteArcFixing(ReducedCostFixing):
    """Forbids arcs that no better answer drives: those whose best route costs more than the gap."""

    makes: Sequence[type[Decision]] = (RouteArcsForbidden,)

    def __init__(self, oracle: RouteOracle, share: float = 0.02) -> None:
        exact = RouteOracle(oracle.layout, ("exact",), routes=oracle.routes)
        super().__init__(exact, share=share, decide=self._arcs)
        self.layout = oracle.layout

    def _arcs(self, number: int, marginals: PricedMarginals, worse: NDArray[np.bool_]) -> Sequence[Decision]:
        return (RouteArcsForbidden(self.layout, ~worse, exhaustive=False),)
