"""Routes of ruin and recreate and of PyVRP are answers if they are feasible."""

import numpy as np
import pytest

from colgen import InputError, IterationLimit, Method, WarmStart, solve
from colgen.core.budget import Budget
from colgen.networks import heuristics
from colgen.problems.vehicle_routing import RoutingInstance, VehicleRouting, random
from colgen.problems.vehicle_routing.heuristics import by_pyvrp, has_pyvrp


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
    problem = VehicleRouting(instance)
    (answer,) = problem.warm_start(Budget()).answers
    assert instance.check(problem.answer(answer)) == pytest.approx(answer.objective)


def test_pyvrp_needs_installation_and_integers():
    if has_pyvrp():
        with pytest.raises(InputError, match="integer"):
            by_pyvrp(random(0, convention="exact"), 1.0)
        instance = random(0, customers=8)
        assert instance.check(by_pyvrp(instance, 1.0)) >= solve(VehicleRouting(instance)).objective
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


def test_routes_are_an_answer_only_if_they_are_feasible():
    instance = random(3, customers=12, windows=False)
    problem = VehicleRouting(instance)
    routes = solve(problem).answer
    assert problem.as_answer(routes).objective == instance.check(routes)
    assert problem.as_answer(routes[1:]) is None
    assert problem.as_answer([tuple(i for route in routes for i in route)]) is None  # above the capacity


@pytest.mark.parametrize("windows", [True, False])
def test_a_run_that_takes_long_improves_its_routes(windows, monkeypatch):
    class Alone(VehicleRouting):
        def warm_start(self, budget):
            return WarmStart(columns=[self.column((i,)) for i in self.instance.customers])

    instance = random(3, customers=12, windows=windows)
    problem = Alone(instance)
    late = solve(problem, stop=IterationLimit(2), method=Method(heuristics=problem.method().heuristics[:1]))
    monkeypatch.setattr(heuristics, "_FIRST", 0)
    soon = solve(problem, stop=IterationLimit(2), method=Method(heuristics=problem.method().heuristics[:1]))
    assert instance.check(soon.answer) == soon.objective == pytest.approx(solve(problem).objective)
    assert late.answer is None or late.objective > soon.objective
