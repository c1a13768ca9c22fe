"""Branching on arcs and edges: children keep every feasible solution; integer edges form routes."""

import itertools

import pytest

from colgen import PricingContext, Sense, Solution
from colgen.branching.rules import Bound
from colgen.core.decision import admits
from colgen.problems.vehicle_routing import VehicleRouting, random
from colgen.problems.vehicle_routing.branching import OnRouteArcs, RouteArcFixing, arcs_of, edges_of
from colgen.problems.vehicle_routing.pricing import EDGE
from tests.twins.vehicle_routing import all_routes


def test_arcs_and_edges_of_a_route():
    problem = VehicleRouting(random(0, customers=4, windows=False))
    column = problem.oracle.encode((3, 1))
    assert column.structure == (1, 3)  # the same in both directions: the smaller stands for both
    assert edges_of(column) == {(0, 1): 1.0, (1, 3): 1.0, (0, 3): 1.0}
    assert edges_of(problem.oracle.encode((2,))) == {(0, 2): 2.0}
    assert arcs_of(VehicleRouting(random(0, customers=4)).oracle.encode((3, 1))) == {
        (0, 3): 1.0,
        (3, 1): 1.0,
        (1, 0): 1.0,
    }


@pytest.mark.parametrize("windows", [True, False])
def test_children_keep_every_solution_and_cut_off_the_relaxation(windows):
    problem = VehicleRouting(random(2, customers=4, stops=9.0, windows=windows))
    rule, encode = OnRouteArcs(problem.oracle), problem.oracle.encode
    routes = all_routes(problem.instance)
    i, j = next(route for route in routes if len(route) == 2)
    half = [(encode((i, j)), 0.5), (encode((i,)), 0.5), (encode((j,)), 0.5)]
    others = [(encode((k,)), 1.0) for k in problem.instance.customers if k not in (i, j)]
    relaxed = Solution(0.0, (*half, *others))
    children = rule.candidates(relaxed)[0].children
    assert len(children) == 2
    assert not any(admits(decisions, relaxed) for decisions in children)
    count = 0
    for some in itertools.chain.from_iterable(itertools.combinations(routes, k) for k in range(1, 5)):
        if sorted(customer for route in some for customer in route) == list(problem.instance.customers):
            answer = Solution(0.0, tuple((encode(route), 1.0) for route in some))
            assert any(admits(decisions, answer) for decisions in children)
            count += 1
    assert count > 4
    for (decision,) in children:  # what the oracle may drive is what the decision allows
        closed = problem.oracle.forbidden(PricingContext(Sense.MINIMIZE, decisions=(decision,)))
        for route in routes:
            drives = problem.layout.arcs(problem.layout.canonical(route))
            assert decision.allows(encode(route)) == (closed is None or not closed[drives].any())


def test_a_bound_of_zero_closes_both_directions_of_an_edge():
    problem = VehicleRouting(random(0, customers=4, windows=False, stops=9.0))
    closed = Bound((EDGE, (1, 2)), float("-inf"), 0.0, lambda column: 0.0)
    mask = problem.oracle.forbidden(PricingContext(Sense.MINIMIZE, decisions=(closed,)))
    number = problem.layout.number
    assert sorted(mask.nonzero()[0].tolist()) == sorted([number[1, 2], number[2, 1]])


def test_integer_edges_of_fractional_routes_form_routes():
    problem = VehicleRouting(random(0, customers=4, windows=False, stops=9.0))
    encode = problem.oracle.encode
    # 0-1-2-1-0 and 0-2-0, 0.5 each, use the edges of 0-1-2-0.
    walks = [(encode((1, 2, 1)), 0.5), (encode((2,)), 0.5), (encode((3, 4)), 1.0)]
    rule = OnRouteArcs(problem.oracle)
    assert rule.candidates(Solution(0.0, tuple(walks))) == []
    found = rule.recover(Solution(0.0, tuple(walks)))
    assert sorted(column.structure for column, _ in found.columns) == [(1, 2), (3, 4)]
    assert found.objective == pytest.approx(problem.instance.total([(1, 2), (3, 4)]))


def test_the_number_of_vehicles_is_one_row():
    problem = VehicleRouting(random(0, customers=4))
    columns = [(problem.oracle.encode((i,)), 0.6) for i in (1, 2, 3, 4)]
    (one,), (other,) = problem.branching()[0].branch(Solution(0.0, tuple(columns)))
    assert {one.row().lower, one.row().upper, other.row().lower, other.row().upper} >= {2.0, 3.0}


def test_fixing_forbids_worse_arcs():
    problem = VehicleRouting(random(0, customers=4))
    layout = problem.layout
    worse = layout.tails == 0
    (decision,) = RouteArcFixing(problem.oracle)._arcs(0, None, worse)
    assert not decision.exhaustive
    assert list(itertools.compress(layout.tails, ~decision.open_arcs)) == [0] * int(worse.sum())
