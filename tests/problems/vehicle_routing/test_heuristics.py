"""Savings, local search, ruin and recreate: feasible routes that are no longer than before."""

import numpy as np
import pytest

from colgen import InputError, IterationLimit, Method, WarmStart, solve
from colgen.networks import heuristics
from colgen.problems.vehicle_routing import RoutingInstance, VehicleRouting, random
from colgen.problems.vehicle_routing.heuristics import (
    as_answer,
    by_pyvrp,
    by_savings,
    has_pyvrp,
    improve_routes,
    later_routes,
)
from tests.sweeps import seeds
from tests.twins.vehicle_routing import optimum


def alone(instance):
    return [(i,) for i in instance.customers]


@pytest.mark.parametrize("seed", seeds(24, 6))
@pytest.mark.parametrize("windows", [True, False])
def test_each_step_is_feasible_and_no_worse(seed, windows):
    instance = random(seed, customers=20, windows=windows, convention=("truncated", "exact")[seed % 2])
    routes = by_savings(instance)
    found = instance.check(routes)
    assert found <= instance.total(alone(instance))
    assert instance.check(improve_routes(instance, routes)) <= found * (1 + 1e-9)
    assert instance.check(improve_routes(instance, routes, steps=200, seed=seed)) <= found * (1 + 1e-9)


@pytest.mark.parametrize("seed", seeds(24, 6))
def test_ruin_and_recreate_finds_small_optima(seed):
    instance = random(seed, customers=6, windows=seed % 2 == 0, stops=2)
    routes = improve_routes(instance, alone(instance), steps=300)
    assert instance.check(routes) == pytest.approx(optimum(instance))


@pytest.mark.parametrize(
    ("seed", "count", "room", "longest", "capacity"), [(2, 12, 40, 100, 6), (38, 12, 20, 100, 12), (48, 8, 10, 20, 8)]
)
def test_removing_a_customer_does_not_make_routes_late(seed, count, room, longest, capacity):
    """A route may be late without one of its customers if the detour is shorter than the direct arc."""
    rng = np.random.default_rng(seed)
    distances = rng.integers(1, longest, (count + 1, count + 1)).astype(float)
    due = np.append(0.0, distances[0, 1:] + rng.integers(0, room, count))
    due[0] = (due + distances[:, 0]).max()
    windows = tuple((0.0, last) for last in due.tolist())
    instance = RoutingInstance(tuple(map(tuple, distances.tolist())), (0,) + (1,) * count, capacity, windows)
    steps = 1_000 if capacity == 6 else 300
    assert instance.check(improve_routes(instance, alone(instance), steps=steps, seed=seed)) > 0.0


def test_too_many_routes_are_merged_where_they_can_be():
    square = ((0.0, 1.0, 1.0), (1.0, 0.0, 5.0), (1.0, 5.0, 0.0))
    one = RoutingInstance(square, (0, 1, 1), 2, vehicles=1)
    assert sorted(map(len, improve_routes(one, alone(one), steps=200))) == [2]


def test_one_customer():
    instance = RoutingInstance(((0.0, 2.0), (3.0, 0.0)), (0, 1), 1)
    assert by_savings(instance) == improve_routes(instance, [(1,)], steps=50) == [(1,)]


def test_all_in_one_place():
    instance = RoutingInstance(((0.0,) * 5,) * 5, (0, 1, 1, 1, 1), 2)
    assert instance.check(improve_routes(instance, by_savings(instance), steps=50)) == 0.0


def test_the_same_seed_gives_the_same_routes():
    instance = random(5, customers=20)
    assert improve_routes(instance, alone(instance), steps=300) == improve_routes(instance, alone(instance), steps=300)


def test_pyvrp_needs_installation_and_integers():
    if has_pyvrp():
        with pytest.raises(InputError, match="integer"):
            by_pyvrp(random(0, convention="exact"), 1.0)
        instance = random(0, customers=8)
        assert instance.check(by_pyvrp(instance, 1.0)) >= instance.check(
            improve_routes(instance, alone(instance), steps=500)
        )
    else:
        with pytest.raises(InputError, match="pip install colgen"):
            by_pyvrp(random(0), 1.0)


def test_pyvrp_is_an_additional_heuristic():
    if has_pyvrp():
        assert solve(VehicleRouting(random(0, customers=8), pyvrp=0.5)).is_optimal
        with pytest.raises(InputError, match="integer"):
            VehicleRouting(random(0, convention="exact"), pyvrp=0.5)
    else:
        with pytest.raises(InputError, match="pip install colgen"):
            VehicleRouting(random(0, customers=8), pyvrp=0.5)


def test_expired_runs_stop_improving():
    instance = random(5, customers=30)
    assert instance.check(improve_routes(instance, alone(instance), steps=10**9, expired=lambda: True)) > 0.0


@pytest.mark.parametrize("windows", [True, False])
def test_a_run_that_takes_long_improves_its_routes(windows, monkeypatch):
    class Alone(VehicleRouting):
        def warm_start(self, budget):
            return WarmStart(columns=[self.oracle.encode(route) for route in alone(self.instance)])

    instance = random(3, customers=12, windows=windows)
    problem = Alone(instance)
    search = later_routes(instance, problem.oracle.encode)
    late = solve(problem, stop=IterationLimit(2), method=Method(heuristics=(search,)))
    monkeypatch.setattr(heuristics, "_FIRST", 0)
    search = later_routes(instance, problem.oracle.encode)
    soon = solve(problem, stop=IterationLimit(2), method=Method(heuristics=(search,)))
    assert instance.check(soon.answer) == soon.objective == pytest.approx(solve(problem).objective)
    assert late.answer is None or late.objective > soon.objective


def test_routes_are_an_answer_only_if_they_are_feasible():
    instance = random(3, customers=12, windows=False)
    encode = VehicleRouting(instance).oracle.encode
    routes = by_savings(instance)
    assert as_answer(instance, routes, encode).objective == instance.check(routes)
    assert as_answer(instance, routes[1:], encode) is None
    assert as_answer(instance, [tuple(i for route in routes for i in route)], encode) is None  # above the capacity
