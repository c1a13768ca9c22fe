"""Branching on arcs or edges; fixing of arcs by reduced cost."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Decision, OnOriginalVariable, Solution
from colgen.branching.rules import Bound
from colgen.fixing import ReducedCostFixing
from colgen.pricing.oracles import PricedMarginals
from colgen.problems.vehicle_routing.instance import Route
from colgen.problems.vehicle_routing.layout import Arc
from colgen.problems.vehicle_routing.pricing import ARC, EDGE, RouteArcsForbidden, RouteOracle


def arcs_of(column: Column) -> Mapping[Hashable, float]:
    """Return how often a route uses each arc ``(tail, head)``; 0 is the depot."""
    route: Route = column.structure
    return {arc: float(times) for arc, times in Counter(itertools.pairwise((0, *route, 0))).items()}


def edges_of(column: Column) -> Mapping[Hashable, float]:
    """Return how often a route uses each edge ``(smaller, larger)`` in either direction."""
    route: Route = column.structure
    edges = Counter((min(arc), max(arc)) for arc in itertools.pairwise((0, *route, 0)))
    return {edge: float(times) for edge, times in edges.items()}


class OnRouteArcs(OnOriginalVariable):
    """Branch on arcs, or on edges if routes can be reversed.

    A required arc needs no row: the other arcs leaving its tail or entering its head are forbidden.
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
        i, j = cast(Arc, bound.key[1])
        tails, heads = self.layout.tails, self.layout.heads
        closed = np.zeros(len(tails), dtype=np.bool_)
        if i:
            closed |= (tails == i) & (heads != j)
        if j:
            closed |= (heads == j) & (tails != i)
        return RouteArcsForbidden(self.layout, ~closed)

    def recover(self, solution: Solution) -> Solution | None:
        """Return routes made of integer edges.  The routes of ``solution`` may be fractional."""
        edges = {edge: round(value) for edge, value in self.values(solution).items() if round(value)}
        routes = _trace_routes(edges)  # type: ignore[arg-type]
        if not self.symmetric or any(self.layout.instance.fault(route) for route in routes):
            return None
        columns = [self.oracle.encode(route) for route in routes]
        return Solution(sum(column.cost for column in columns), tuple((column, 1.0) for column in columns))


def _trace_routes(edges: dict[tuple[int, int], int]) -> list[list[int]]:
    """Return the routes formed by edges with multiplicities."""
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
    """Forbid arcs that no improving solution uses: the best route over them has a reduced cost above the gap."""

    makes: Sequence[type[Decision]] = (RouteArcsForbidden,)

    def __init__(self, oracle: RouteOracle, share: float = 0.02) -> None:
        super().__init__(oracle.exactly(), share=share, decide=self._arcs)
        self.layout = oracle.layout

    def _arcs(self, number: int, marginals: PricedMarginals, worse: NDArray[np.bool_]) -> Sequence[Decision]:
        return (RouteArcsForbidden(self.layout, ~worse, exhaustive=False),)
