"""Enumeration of the routes within the gap: the shortest for each set of customers."""

import math

import pytest

from colgen import PricingContext, Record, Sense, SeparationContext, enumeration, solve
from colgen.branching.rules import Bound
from colgen.core.budget import Budget
from colgen.enumeration import FewPathsLeft, PathEnumeration
from colgen.fixing import ReductionContext
from colgen.networks.pricing import EDGE
from colgen.problems.vehicle_routing import VehicleRouting, random
from colgen.problems.vehicle_routing.model import route_of
from tests.sweeps import seeds
from tests.twins.vehicle_routing import all_routes


def context_of(problem, target, decisions=()):
    result = solve(problem, relaxation=True, record=Record(duals=True))
    last = result.iterations[-1]
    told = PricingContext(Sense.MINIMIZE, decisions=decisions)
    return ReductionContext(Sense.MINIMIZE, last.duals, result.dual_bound, target, decisions, pricing_context=told)


@pytest.mark.parametrize("seed", seeds(24, 6))
def test_every_route_within_the_gap_is_listed(seed):
    instance = random(seed, customers=6, windows=seed % 2 == 0, stops=3.0)
    problem = VehicleRouting(instance, cuts=False, neighbours=None)
    context = context_of(problem, math.inf)
    for slack in (0.0, 20.0, 1000.0):
        found = PathEnumeration(problem.network.oracles).enumerate(
            ReductionContext(
                context.sense, context.duals, context.bound, context.bound + slack, (), pricing_context=context.pricing
            )
        )
        routes = [route_of(found.columns.meanings.of(k)) for k in range(len(found.columns))]
        listed = dict(zip(map(frozenset, routes), found.columns.costs.tolist(), strict=True))
        visit = context.duals["visit"]
        fleet = context.duals.get(problem.network.oracles[0].count_key)
        for route in all_routes(instance):
            reduced = instance.total([route]) - sum(visit[i - 1] for i in route) - fleet
            if reduced <= slack:
                assert listed[frozenset(route)] <= instance.total([route]) + 1e-9


def test_too_many_routes_return_none():
    problem = VehicleRouting(random(1, customers=6, stops=3.0), cuts=False)
    context = context_of(problem, math.inf)
    wide = ReductionContext(
        context.sense, context.duals, context.bound, context.bound + 1e3, (), pricing_context=context.pricing
    )
    assert PathEnumeration(problem.network.oracles, limit=3).enumerate(wide) is None


def test_enumeration_respects_its_effort_limit(monkeypatch):
    problem = VehicleRouting(random(1, customers=6, stops=3.0), cuts=False)
    context = context_of(problem, math.inf)
    wide = ReductionContext(
        context.sense, context.duals, context.bound, context.bound + 1e3, (), pricing_context=context.pricing
    )
    bounds = {"bound": context.bound, "incumbent": context.bound + 1e3}
    told = SeparationContext(Sense.MINIMIZE, duals=context.duals, **bounds)
    for effort in (1e7, 10.0):
        monkeypatch.setattr(enumeration, "_EFFORT", effort)
        assert (PathEnumeration(problem.network.oracles, effort=effort).enumerate(wide) is None) is (effort == 10.0)
        assert FewPathsLeft(problem.network.oracles, gap=math.inf)(told) is (effort == 1e7)


def test_enumeration_stops_without_a_deadline():
    problem = VehicleRouting(random(1, customers=6, stops=3.0), cuts=False)
    context = context_of(problem, math.inf)
    for budget, heard in ((Budget(), False), (Budget(memory=1.0), True)):
        wide = ReductionContext(
            context.sense,
            context.duals,
            context.bound,
            context.bound + 1e3,
            (),
            budget=budget,
            pricing_context=context.pricing,
        )
        assert (PathEnumeration(problem.network.oracles).enumerate(wide) is None) is heard
        few = FewPathsLeft(problem.network.oracles, gap=math.inf)
        bounds = {"bound": context.bound, "incumbent": context.bound + 1e3}
        told = SeparationContext(Sense.MINIMIZE, duals=context.duals, budget=budget, **bounds)
        assert few(told) is not heard


def test_rows_on_edges_are_left_out():
    problem = VehicleRouting(random(1, customers=5, windows=False))
    (rule,) = (rule for rule in problem.branching() if getattr(rule, "block", None) == EDGE)
    row = Bound((EDGE, (1, 2)), 1.0, math.inf, lambda column: 0.0, rule.rows)
    context = context_of(problem, math.inf)
    wide = ReductionContext(
        context.sense, context.duals, context.bound, context.bound + 50.0, (row,), pricing_context=context.pricing
    )
    assert PathEnumeration(problem.network.oracles).enumerate(wide).sides == {(EDGE, (1, 2)): (-math.inf, math.inf)}
