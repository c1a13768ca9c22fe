"""What column generation is compared with: the complete model in HiGHS."""

from __future__ import annotations

import math

from colgen.problems.assignment.instance import AssignmentInstance
from colgen.problems.assignment.model import full
from colgen.reporting.compared import solve_complete
from colgen.solvers.linear.mip import MIPSolution


def solve_full(instance: AssignmentInstance, formulation: str = "compact", time_limit: float = math.inf) -> MIPSolution:
    """HiGHS on a complete model, presolve on: optimum, bound and branch-and-bound nodes."""
    return solve_complete(full(instance, formulation), time_limit)
