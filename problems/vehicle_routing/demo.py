"""Small instances for ``colgen demo``: column generation beside brute force."""

from __future__ import annotations

import math

from colgen import WarmStart
from colgen.cli.demonstration import beside
from colgen.cli.template import DemoLine
from colgen.core.budget import Budget
from colgen.problems.vehicle_routing.baseline import solve_full
from colgen.problems.vehicle_routing.instance import RoutingInstance, random
from colgen.problems.vehicle_routing.template import VehicleRouting


def time_windows() -> list[DemoLine]:
    """A dozen customers with time windows."""
    return [_compare(random(3, customers=12), "time windows, 12 customers")]


def capacities() -> list[DemoLine]:
    """Eleven customers, capacities alone."""
    return [_compare(random(5, customers=11, windows=False, convention="whole"), "capacities, 11 customers")]


class _FromScratch(VehicleRouting):
    """Starts without any route, so that every column shown is a generated one."""

    def warm_start(self, budget: Budget) -> WarmStart:
        return WarmStart()


def _compare(instance: RoutingInstance, name: str) -> DemoLine:
    return beside(
        _FromScratch(instance),
        instance.check,
        lambda: solve_full(instance, time_limit=20.0),
        "compact model in HiGHS",
        name=name,
        possible=sum(math.perm(instance.num_customers, k) for k in range(1, instance.num_customers + 1)),
        decimals=instance.decimals,
        small=_FromScratch(instance.first(3)),
    )
