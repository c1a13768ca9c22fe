"""The template: optima against enumeration, with and without heuristics, fixing and enumeration."""

import dataclasses
import itertools

import numpy as np
import pytest

from colgen import Method, NoStabilization, OnOriginalVariable, Termination, TimeLimit, WarmStart, solve
from colgen.core.errors import InfeasibleAnswerError
from colgen.networks.pricing import ARC, EDGE, PATHS
from colgen.problems.vehicle_routing import RoutingInstance, VehicleRouting, random
from tests.sweeps import seeds
from tests.twins.vehicle_routing import optimum


class Bare(VehicleRouting):
    """Without guesses, enumeration, fixing or heuristics: branching closes the gap."""

    def warm_start(self, budget):
        return WarmStart()

    def method(self):
        return dataclasses.replace(super().method(), heuristics=(), reductions=(), enumeration=())


class Listing(Bare):
    """With a suboptimal answer and enumeration only."""

    def warm_start(self, budget):
        start = super(Bare, self).warm_start(budget)
        alone = [self.column((i,)) for i in self.instance.customers]
        if self.instance.num_customers > self.instance.most:
            return start
        own = tuple((column, 1.0) for column in alone)
        solution = dataclasses.replace(start.answers[0], objective=sum(c.cost for c in alone), columns=own)
        return WarmStart(answers=(solution,))

    def method(self):
        return dataclasses.replace(super(Bare, self).method(), heuristics=(), reductions=())


class Fixing(Bare):
    """With the optimum as a guess, and arcs fixed by it."""

    def warm_start(self, budget):
        return super(Bare, self).warm_start(budget)

    def method(self):
        return dataclasses.replace(super(Bare, self).method(), heuristics=(), enumeration=())


def draw(seed):
    """Small instances: with or without windows, few or many decimals, few or many customers per route."""
    return random(
        seed,
        customers=4 + seed % 3,
        windows=seed % 2 == 0,
        convention=("truncated", "whole", "exact")[seed // 2 % 3],
        stops=2.0 + seed // 3 % 3,
        side=(100, 6)[seed // 5 % 2],  # few different distances make ties
    )


@pytest.mark.parametrize("kind", [VehicleRouting, Bare, Listing, Fixing])
@pytest.mark.parametrize("seed", seeds(300, 8))
def test_optimum_is_that_of_enumeration(kind, seed):
    instance = draw(seed)
    result = solve(kind(instance, neighbours=(2, 4, None)[seed % 3], cuts=seed % 4 < 2))
    assert result.termination is Termination.OPTIMAL
    assert result.objective == pytest.approx(optimum(instance))
    assert result.dual_bound == pytest.approx(result.objective)
    assert instance.check(result.answer) == pytest.approx(result.objective)


@pytest.mark.parametrize("seed", seeds(24, 4))
def test_neighbourhoods_and_cuts_only_raise_the_bound(seed):
    instance = random(seed, customers=9, windows=seed % 2 == 0, stops=3.0)
    bounds = [
        solve(VehicleRouting(instance, neighbours=size, cuts=False), relaxation=True).dual_bound
        for size in (1, 4, None)
    ]
    bounds.append(solve(VehicleRouting(instance)).objective)
    assert all(one <= other + 1e-6 * other for one, other in itertools.pairwise(bounds))


def test_ties_everywhere():
    n = 6
    ones = tuple(tuple(float(i != j) for j in range(n + 1)) for i in range(n + 1))
    instance = RoutingInstance(ones, (0, *[1] * n), 3, places=((0.0, 0.0),) * (n + 1))
    for kind in (VehicleRouting, Bare):
        assert solve(kind(instance)).objective == 8.0


def test_an_asymmetric_instance_keeps_its_directions():
    distances = ((0.0, 1.0, 9.0, 9.0), (9.0, 0.0, 1.0, 9.0), (9.0, 9.0, 0.0, 1.0), (1.0, 9.0, 9.0, 0.0))
    result = solve(VehicleRouting(RoutingInstance(distances, (0, 1, 1, 1), 3)))
    assert result.answer == [(1, 2, 3)]
    assert result.objective == 4.0


def test_too_few_vehicles_have_no_solution():
    square = ((0.0, 1.0, 1.0), (1.0, 0.0, 5.0), (1.0, 5.0, 0.0))
    instance = RoutingInstance(square, (0, 2, 2), 3, vehicles=1)
    assert solve(VehicleRouting(instance)).termination is Termination.INFEASIBLE


def test_waiting_makes_a_route_possible():
    line = ((0.0, 2.0, 4.0), (2.0, 0.0, 2.0), (4.0, 2.0, 0.0))
    windows = ((0.0, 100.0), (10.0, 11.0), (20.0, 21.0))
    result = solve(VehicleRouting(RoutingInstance(line, (0, 1, 1), 2, windows, (0.0, 5.0, 5.0))))
    assert result.answer == [(1, 2)]
    slow = solve(VehicleRouting(RoutingInstance(line, (0, 1, 1), 2, windows, (0.0, 9.5, 5.0))))
    assert slow.answer == [(1,), (2,)]


def test_check_raises_infeasible_answer_error():
    with pytest.raises(InfeasibleAnswerError, match="visited 0 times"):
        VehicleRouting(random(0, customers=3)).check([(1, 2)])


def test_the_objective_step_follows_the_distances():
    assert VehicleRouting(random(0, customers=3)).objective_step == pytest.approx(0.1)
    assert VehicleRouting(random(0, customers=3, convention="whole")).objective_step == 1.0
    assert VehicleRouting(random(0, customers=3, convention="exact")).objective_step is None


@pytest.mark.parametrize("windows", [True, False])
def test_rules_in_their_order(windows):
    rules = VehicleRouting(random(0, customers=3, windows=windows)).branching()
    blocks = [rule.block for rule in rules if isinstance(rule, OnOriginalVariable)]
    assert blocks == [PATHS, ARC if windows else EDGE]


def test_a_limit_ends_a_run_with_a_bound():
    result = solve(
        VehicleRouting(random(1, customers=40)), stop=TimeLimit(0.5), method=Method(stabilization=NoStabilization())
    )
    assert result.dual_bound <= result.objective + 1e-6


SQUARE = ((0.0, 14.0, 13.0, 13.0), (14.0, 0.0, 17.0, 4.0), (13.0, 17.0, 0.0, 14.0), (13.0, 4.0, 14.0, 0.0))


def test_too_few_vehicles_are_infeasible():
    result = solve(VehicleRouting(RoutingInstance(SQUARE, (0, 2, 2, 2), 4, vehicles=1), neighbours=2))
    assert result.termination is Termination.INFEASIBLE


def test_customers_without_demand_are_not_visited_in_cycles():
    result = solve(VehicleRouting(RoutingInstance(SQUARE, (0, 0, 0, 2), 14, vehicles=1), neighbours=2))
    assert result.is_optimal
    assert result.objective == 45.0


@pytest.mark.parametrize("windows", [None, 2e9])
@pytest.mark.parametrize("service", [0.0, 1.0])
def test_customers_with_little_service_time_are_not_visited_up_to_the_horizon(windows, service):
    """Eight close places and a distant one: ng-routes had as many visits as there are ticks."""
    rng = np.random.default_rng(4)
    distances = rng.integers(0, 2, (9, 9)).astype(float)
    distances[0], distances[:, 0], distances[:, 8] = 9.0, 9.0, 1e9
    np.fill_diagonal(distances, 0.0)
    far = None if windows is None else ((0.0, 2 * windows),) * 9
    instance = RoutingInstance(
        tuple(map(tuple, distances.tolist())),
        (0,) * 9 if windows else (0, 0, 0, 0, 0, 1, 1, 1, 1),
        9,
        far,
        None if windows is None else (0.0,) + (service,) * 8,
        2,
    )
    result = solve(VehicleRouting(instance, neighbours=1))
    assert result.is_optimal
    assert result.objective == pytest.approx(optimum(instance))


@pytest.mark.parametrize("demand", [0, 1])
def test_one_customer_is_served(demand):
    result = solve(VehicleRouting(RoutingInstance(((0.0, 2.0), (2.0, 0.0)), (0, demand), 1), neighbours=1))
    assert (result.is_optimal, result.objective) == (True, 4.0)


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e-9, 1.0 / 3.0, 1e6])
@pytest.mark.parametrize("neighbours", [None, 2])
def test_lateness_by_rounding_is_tolerated(unit, neighbours):
    """The second customer's window ends at 9 + 1 + 9 = 19, in any units."""
    distances = unit * np.array([[0.0, 3.0, 11.0], [3.0, 0.0, 9.0], [11.0, 9.0, 0.0]])
    windows = unit * np.array([[0.0, 37.0], [9.0, 15.0], [6.0, 19.0]])
    instance = RoutingInstance(
        tuple(map(tuple, distances.tolist())),
        (0, 3, 5),
        14,
        tuple(map(tuple, windows.tolist())),
        (0.0, unit, 0.0),
    )
    result = solve(VehicleRouting(instance, neighbours=neighbours))
    assert result.is_optimal
    assert result.answer == [(1, 2)]
    assert result.objective == pytest.approx(23.0 * unit)
