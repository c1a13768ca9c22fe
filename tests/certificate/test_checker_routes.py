"""The checker's routes."""

from fractions import Fraction
from itertools import permutations

import pytest

from colgen.certificate.checker_pricing import CheckerState, WrongError
from colgen.certificate.checker_routes import Routes
from colgen.problems.vehicle_routing import VehicleRouting, random


def test_all_routes_within_a_reduced_cost_are_listed():
    """Compare with all orders of all sets of customers."""
    instance = random(4, customers=6)
    checked = Routes(0, VehicleRouting(instance).certifier().formulation()["pricing"][0], 6)
    duals = [50, 30, 80, 20, 60, 40]
    costs = dict[int, Fraction]()
    for count in range(1, 7):
        for route in permutations(instance.customers, count):
            if instance.fault(route) is None:
                cost, entries = checked.column(list(route))
                rows = sum(1 << row for row in entries)
                costs[rows] = min(costs.get(rows, cost), cost)
    reduced = {rows: cost - sum(d for i, d in enumerate(duals) if rows >> i & 1) for rows, cost in costs.items()}
    most = sorted(reduced.values())[len(reduced) // 2]
    assert checked.within(duals, Fraction(1), most) == {r: costs[r] for r in costs if reduced[r] <= most}
    assert checked.least(duals, Fraction(1), {}, CheckerState()) <= min(reduced.values())


@pytest.mark.parametrize("route", [[], [1, 1], [0], [7], [1, 2, 3, 4, 5, 6]])
def test_infeasible_routes_are_refused(route):
    checked = Routes(0, VehicleRouting(random(4, customers=6)).certifier().formulation()["pricing"][0], 6)
    with pytest.raises(WrongError, match="route"):
        checked.column(route)
