"""What column generation is compared with: the complete model in HiGHS."""

from __future__ import annotations

import math

from colgen.problems.vehicle_routing.instance import RoutingInstance
from colgen.problems.vehicle_routing.model import full
from colgen.reporting.compared import solve_complete
from colgen.solvers.linear.mip import MIPSolution


def solve_full(instance: RoutingInstance, formulation: str = "two_index", time_limit: float = math.inf) -> MIPSolution:
    """HiGHS on a complete model, presolve on: optimum, bound and branch-and-bound nodes."""
    return solve_complete(full(instance, formulation), time_limit)
