"""Small instances for ``colgen demo``: column generation beside brute force."""

from __future__ import annotations

import math
import time

from colgen import WarmStart, solve
from colgen.cli.template import DemoLine
from colgen.core.budget import Budget
from problems.vehicle_routing.baseline import solve_full
from problems.vehicle_routing.instance import Instance, random
from problems.vehicle_routing.template import VehicleRouting
from solvers.linear.lp import LPStatus


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


def _compare(instance: Instance, name: str) -> DemoLine:
    solve(_FromScratch(instance.first(3)))  # compiles the kernels, which is nobody's speed
    started = time.perf_counter()
    complete = solve_full(instance, time_limit=20.0)
    brute_force_seconds = time.perf_counter() - started
    started = time.perf_counter()
    result = solve(_FromScratch(instance))
    seconds = time.perf_counter() - started
    instance.check(result.answer)
    return DemoLine(
        instance=name,
        objective=result.objective,
        brute_force_objective=None if complete.values is None else round(complete.objective, instance.decimals),
        proof=result.termination.value,
        columns_used=result.columns_generated,
        columns_possible=sum(math.perm(instance.num_customers, k) for k in range(1, instance.num_customers + 1)),
        brute_force="compact model in HiGHS",
        brute_force_seconds=brute_force_seconds,
        seconds=seconds,
        dual_bound=result.dual_bound,
        brute_force_proved=complete.status is LPStatus.OPTIMAL,
    )
