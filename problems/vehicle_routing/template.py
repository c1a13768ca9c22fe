"""The vehicle routing template, to copy or subclass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from colgen import (
    BranchingRule,
    Column,
    Method,
    OnOriginalVariable,
    Pricing,
    Problem,
    RestrictedMIP,
    Rows,
    Separation,
    Solution,
    StrongBranching,
    Wentges,
)
from colgen.certificate.certifier import Certifier
from colgen.core.budget import Budget
from colgen.core.columns import Codec
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.numbers import real
from colgen.core.warm_start import WarmStart
from colgen.enumeration import PathEnumeration, PathListing
from colgen.problems.vehicle_routing.branching import OnRouteArcs, RouteArcFixing
from colgen.problems.vehicle_routing.heuristics import as_answer, check_pyvrp, first_routes, later_routes
from colgen.problems.vehicle_routing.instance import Route, RoutingInstance
from colgen.problems.vehicle_routing.layout import RouteLayout
from colgen.problems.vehicle_routing.model import master
from colgen.problems.vehicle_routing.pricing import VEHICLES, RouteOracle
from colgen.problems.vehicle_routing.proof import RoutesCertifier
from colgen.problems.vehicle_routing.separation import capacity_then_rank_one


class VehicleRouting(Problem[list[Route]]):
    """Vehicle routing with or without time windows, by branch, price and cut.

    The answer is a list of routes, each a tuple of customers.

    Parameters
    ----------
    neighbours
        Size of ng-neighbourhoods; None: routes are elementary.
    cuts
        Whether to separate capacity cuts and rank-1 cuts.
    pyvrp
        Seconds for a warm start by PyVRP, after the template's own heuristics; needs the extra ``routing``.

    Raises
    ------
    InputError
        If PyVRP is requested and not installed, or cannot solve an instance whose distances are not rounded.
    """

    def __init__(
        self, instance: RoutingInstance, *, neighbours: int | None = 8, cuts: bool = True, pyvrp: float = 0.0
    ) -> None:
        self.instance = instance
        self.cuts = cuts
        self.pyvrp = real(pyvrp, "pyvrp")
        if self.pyvrp:
            check_pyvrp(instance)
        self.layout = RouteLayout(instance, neighbours)
        self.oracle = RouteOracle(self.layout)
        if instance.decimals is not None:
            self.objective_step = 1.0 / instance.ticks

    def master(self) -> Rows:
        return master(self.instance)

    def pricing(self) -> Pricing | Sequence[Pricing]:
        return self.oracle

    def separation(self) -> Sequence[Separation]:
        return (capacity_then_rank_one(self.instance, self.oracle),) if self.cuts else ()

    def method(self) -> Method:
        return Method(
            stabilization=Wentges(0.5, after_rows=False),
            choice=StrongBranching(),
            heuristics=(later_routes(self.instance, self.oracle.encode), RestrictedMIP(5.0)),
            reductions=(PathListing(self.oracle), RouteArcFixing(self.oracle)),
            enumeration=PathEnumeration(self.oracle),
        )

    def branching(self) -> Sequence[BranchingRule]:
        return (OnOriginalVariable(self.oracle.number_of, block=VEHICLES), OnRouteArcs(self.oracle))

    def warm_start(self, budget: Budget) -> WarmStart:
        routes, alone = first_routes(self.instance, budget, self.pyvrp), [(i,) for i in self.instance.customers]
        valid = [route for route in dict.fromkeys([*routes, *alone]) if not self.instance.fault(route)]
        answer = as_answer(self.instance, routes, self.oracle.encode)
        answers = () if answer is None else (answer,)
        return WarmStart(answers=answers, columns=[self.oracle.encode(route) for route in valid])

    def certifier(self) -> Certifier:
        if self.instance.decimals is None:  # certificates need integer ticks
            return super().certifier()
        return RoutesCertifier(self.instance, self._over)

    def _over(self, layout: RouteLayout) -> VehicleRouting:
        """Return the problem without cuts over another network."""
        other = VehicleRouting(self.instance, cuts=False)
        other.layout, other.oracle = layout, RouteOracle(layout)
        return other

    def codec(self) -> Codec:
        return Codec(self._read)

    def _read(self, data: Any) -> Column | None:
        route = tuple(int(i) for i in data)
        known = set(self.instance.customers)
        # Whether the oracle generates a route with repeated customers depends on the neighbourhoods.
        if len(set(route)) < len(route) or not route or not known.issuperset(route) or self.instance.fault(route):
            return None
        return self.oracle.encode(route)

    def answer(self, solution: Solution) -> list[Route]:
        return sorted(column.structure for column, value in solution.columns for _ in range(round(value)))

    def check(self, answer: Iterable[Sequence[int]]) -> float:
        try:
            return self.instance.check(answer)
        except ValueError as error:
            raise InfeasibleAnswerError(str(error)) from None
