"""The vehicle routing template, to copy or subclass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from typing import Any

from colgen import BranchingRule, Column, Method, Pricing, Problem, Rows, Separation, Solution
from colgen.certificate.certifier import Certifier
from colgen.core.budget import Budget
from colgen.core.columns import Codec
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.numbers import real
from colgen.core.warm_start import WarmStart
from colgen.decomposition.networked import NetworkModel
from colgen.networks.rules import Elementary, Neighbourhoods, Resource, Rule
from colgen.problems.vehicle_routing.heuristics import by_pyvrp, check_pyvrp
from colgen.problems.vehicle_routing.instance import Route, RoutingInstance
from colgen.problems.vehicle_routing.model import limits, network, route_of
from colgen.problems.vehicle_routing.proof import RoutesCertifier


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
        Seconds for a warm start by PyVRP, after ruin and recreate; needs the extra ``routing``.

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
        self.rule: Rule = Elementary() if neighbours is None else Neighbourhoods(neighbours)
        if instance.decimals is not None:
            self.objective_step = 1.0 / instance.ticks

    def resources(self) -> list[Resource]:
        """Return the resources of each route; subclasses may add others."""
        return limits(self.instance)

    @cached_property
    def network(self) -> NetworkModel:
        """The model over arcs, whose paths are the routes."""
        return network(self.instance, self.resources(), [self.rule])

    def master(self) -> Rows:
        return self.network.master()

    def pricing(self) -> Sequence[Pricing]:
        return self.network.pricing()

    def separation(self) -> Sequence[Separation]:
        return self.network.separation() if self.cuts else ()

    def method(self) -> Method:
        return self.network.method()

    def branching(self) -> Sequence[BranchingRule]:
        return self.network.branching()

    def warm_start(self, budget: Budget) -> WarmStart:
        start = self.network.warm_start(budget)
        alone = [self.column((i,)) for i in self.instance.customers if not self.fault((i,))]
        answers = list(start.answers)
        if self.pyvrp and not budget.expired:
            found = by_pyvrp(self.instance, min(self.pyvrp, budget.seconds_left))
            answer = None if found is None else self.as_answer(found)
            answers += [] if answer is None else [answer]
        best = sorted(answers, key=lambda each: each.objective)[:1]
        return WarmStart(answers=best, columns=list({c.key: c for c in (*start.columns, *alone)}.values()))

    def certifier(self) -> Certifier:
        if self.instance.decimals is None:  # certificates need integer ticks
            return super().certifier()
        return self.network.certified_by(partial(RoutesCertifier, self.instance))

    def codec(self) -> Codec:
        return Codec(self._read, route_of)

    def _read(self, data: Any) -> Column | None:
        route = tuple(int(i) for i in data)
        known = set(self.instance.customers)
        # Whether the oracle generates a route with repeated customers depends on the neighbourhoods.
        if len(set(route)) < len(route) or not route or not known.issuperset(route) or self.fault(route):
            return None
        return self.column(route)

    # --- routes ------------------------------------------------------------------------------------------------------

    def column(self, route: Sequence[int]) -> Column:
        """Return the column of a route."""
        return self.network.path(self.network.blocks[0].name, (0, *route, 0))

    def fault(self, route: Sequence[int]) -> str | None:
        """Return why a route is infeasible, or None; it may visit a customer twice."""
        found = self.instance.fault(route)
        if found is None:
            block = self.network.blocks[0]
            arcs = block.arcs_through((0, *route, 0))
            return "it uses an arc that no feasible route uses" if arcs is None else block.fault(arcs)
        return found

    def as_answer(self, routes: Iterable[Route]) -> Solution | None:
        """Return routes as a solution of the master; None if they are no answer."""
        valid = [route for route in routes if not self.fault(route)]
        if len(valid) > self.instance.most or sum(map(len, valid)) != self.instance.num_customers:
            return None
        return Solution(self.instance.total(valid), tuple((self.column(route), 1.0) for route in valid))

    def answer(self, solution: Solution) -> list[Route]:
        return sorted(route_of(column.structure) for column, value in solution.columns for _ in range(round(value)))

    def check(self, answer: Sequence[Sequence[int]]) -> float:
        try:
            distance = self.instance.check(answer)
        except ValueError as error:
            raise InfeasibleAnswerError(str(error)) from None
        for route in answer:
            fault = self.fault(route)
            if fault is not None:
                raise InfeasibleAnswerError(f"route {tuple(route)} is infeasible: {fault}")
        return distance
