"""Instances: validation, distances, and the check of routes."""

import math

import numpy as np
import pytest

from colgen import InputError, solve
from colgen.problems.vehicle_routing import RoutingInstance, VehicleRouting, euclidean, random

PLACES = ((0.0, 0.0), (3.0, 4.0), (6.0, 8.0))
LINE = euclidean(PLACES)


def test_distances_by_convention():
    places = ((0.0, 0.0), (1.0, 1.0), (3.0, 4.0), (2.0, 0.0))
    assert euclidean(places, "exact")[0][1] == math.sqrt(2.0)
    assert euclidean(places, "truncated")[0][1:] == (1.4, 5.0, 2.0)
    assert euclidean(places, "whole")[0][1:] == (1.0, 5.0, 2.0)
    assert euclidean(((0.0, 0.0), (0.5, 0.0)), "whole")[0][1] == 1.0  # halves are rounded up, as in TSPLIB
    with pytest.raises(InputError, match="one of truncated, whole, exact"):
        euclidean(places, "rounded")


def test_a_truncated_distance_is_not_one_tenth_short():
    # 10 · 5.1 is 50.999... in floating point; distances of integer coordinates are truncated exactly.
    for x in range(60):
        for y in range(60):
            found = euclidean(((0.0, 0.0), (float(x), float(y))), "truncated")[0][1]
            assert round(10 * found) == math.isqrt(100 * (x * x + y * y))


def test_sums_are_multiples_of_the_step():
    instance = random(0, customers=30)
    assert instance.decimals == 1
    route = [tuple(range(1, 31))]
    assert instance.total(route) == round(10 * instance.total(route)) / 10
    assert random(0, customers=5, convention="whole").decimals == 0
    assert random(0, customers=5, convention="exact").decimals is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"distances": ((0.0, 1.0),)}, "square"),
        ({"distances": ((0.0,),)}, "square"),
        ({"distances": ((0.0, 1.0), (1.0,))}, "rows of equal length"),
        ({"distances": ((0.0, -1.0, 1.0),) * 3}, "from 0 to 2"),
        ({"demands": (0, 1)}, "3 demands.*2"),
        ({"demands": (1, 1, 1)}, "demand of the depot"),
        ({"demands": (0, 1, 11)}, "demand of customer 2 must be 0 to 10"),
        ({"demands": (0, 1, 1.5)}, "integer"),
        ({"capacity": 0}, "capacity must be 1"),
        ({"vehicles": 0}, "vehicles must be at least 1"),
        ({"service": (0.0, 1.0, 1.0)}, "without time windows"),
        ({"windows": ((0.0, 9.0),) * 2}, "3 windows.*2"),
        ({"windows": ((0.0, 9.0), (5.0, 4.0), (0.0, 9.0))}, "time window of location 1"),
        ({"windows": ((0.0, 99.0), (0.0, 4.0), (0.0, 99.0))}, "customer 1 cannot be served in time"),
        ({"windows": ((0.0, 19.0), (0.0, 19.0), (0.0, 19.0))}, "customer 2 cannot be served in time"),
        ({"windows": ((0.0, math.inf), (0.0, 19.0), (0.0, 19.0))}, "finite"),
        ({"places": ((0.0, 0.0), (1.0, 1.0), "x")}, "places"),
    ],
)
def test_invalid_data_raises(changes, message):
    with pytest.raises(InputError, match=message):
        RoutingInstance(**{"distances": LINE, "demands": (0, 1, 1), "capacity": 10, **changes})


def test_waiting_and_service_take_time():
    windows = ((0.0, 100.0), (20.0, 30.0), (0.0, 42.0))
    instance = RoutingInstance(LINE, (0, 1, 1), 10, windows, (0.0, 10.0, 1.0))
    assert instance.times((1, 2)) == [20.0, 35.0, 46.0]  # waits until 20, serves until 30, drives for 5
    assert instance.check([(1, 2)]) == 20.0
    late = RoutingInstance(LINE, (0, 1, 1), 10, (*windows[:2], (0.0, 34.0)), (0.0, 10.0, 1.0))
    with pytest.raises(ValueError, match="customer 2 is reached at 35, due 34"):
        late.check([(1, 2)])
    assert late.check([(2, 1)]) == 20.0
    home = RoutingInstance(LINE, (0, 1, 1), 10, ((0.0, 45.0), *windows[1:]), (0.0, 10.0, 1.0))
    with pytest.raises(ValueError, match="the depot is reached again at 46, due 45"):
        home.check([(1, 2)])


@pytest.mark.parametrize(
    ("routes", "message"),
    [
        ([(1,)], "customer 2 is visited 0 times"),
        ([(1, 2), (2,)], "customer 2 is visited 2 times"),
        ([(1, 2), ()], "at least one customer"),
        ([(1,), (3,)], "expected customers 1 to 2"),
        ([(0, 1, 2)], "expected customers 1 to 2"),
        ([(1, 2.5)], "expected routes of customers"),
        ([(1,), (2,)], "there are 2 routes, expected at most 1"),
    ],
)
def test_check_rejects_infeasible_routes(routes, message):
    with pytest.raises(ValueError, match=message):
        RoutingInstance(LINE, (0, 1, 1), 10, vehicles=1).check(routes)


def test_loads_are_checked():
    with pytest.raises(ValueError, match="the load is 12, the capacity 10"):
        RoutingInstance(LINE, (0, 6, 6), 10).check([(1, 2)])


def test_the_first_customers_are_an_instance():
    instance = random(3, customers=10)
    first = instance.first(4)
    assert first.num_customers == 4
    assert np.array_equal(first.matrix, instance.matrix[:5, :5])
    assert first.windows == instance.windows[:5]
    with pytest.raises(InputError, match="1 to 10 customers"):
        instance.first(11)


def test_symmetry():
    assert random(0, windows=False).is_symmetric
    assert not random(0).is_symmetric
    assert not RoutingInstance(((0.0, 1.0), (2.0, 0.0)), (0, 1), 1).is_symmetric


def test_a_distant_horizon_does_not_permit_lateness():
    # A tolerance of 1e-9 times this horizon would be 0.1.
    unit = 1.0 / 3.0  # many decimals, as few would be summed exactly
    line = unit * np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    windows = ((0.0, unit * 1e8), (0.0, unit), (0.0, 2.0 * unit))
    instance = RoutingInstance(tuple(map(tuple, line.tolist())), (0, 1, 1), 2, windows, (0.0, 0.05 * unit, 0.0))
    assert instance.fault((2, 1)) is not None
    assert "customer 2 is reached" in instance.fault((1, 2))
    assert solve(VehicleRouting(instance)).objective == pytest.approx(6.0 * unit)


@pytest.mark.parametrize("unit", [1.0, 1 / 3, 1e-9, 7e3])
def test_arrival_at_the_end_of_a_window_is_in_time_in_any_unit(unit):
    legs = [0.1, 0.2, 0.3]
    ends = np.cumsum([0.0, *legs])
    line = np.abs(np.subtract.outer(ends, ends)) * unit
    due = [sum(unit * leg for leg in legs[: k + 1]) for k in range(3)]
    windows = ((0.0, 1e6 * unit), *((0.0, end) for end in due))
    instance = RoutingInstance(tuple(map(tuple, line.tolist())), (0, 1, 1, 1), 3, windows, (0.0,) * 4)
    assert instance.fault((1, 2, 3)) is None
    assert len(solve(VehicleRouting(instance)).answer) == 1


def test_a_detour_may_be_in_time_when_the_direct_arc_is_not():
    # The distance to 2 is 9 directly and 2 through 1: only the latter is early enough for 3.
    far = ((0.0, 1.0, 9.0, 1.0), (1.0, 0.0, 1.0, 1.0), (9.0, 1.0, 0.0, 1.0), (1.0, 1.0, 1.0, 0.0))
    windows = ((0.0, 20.0), (0.0, 1.0), (0.0, 9.0), (0.0, 3.0))
    instance = RoutingInstance(far, (0, 0, 1, 1), 2, windows, (0.0,) * 4)
    problem = VehicleRouting(instance)
    assert len(problem.network.blocks[0].between((2, 3))) == 1
    assert solve(problem).answer == [(1, 2, 3)]
