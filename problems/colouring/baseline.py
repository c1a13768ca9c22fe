"""What column generation is compared with: the complete models in HiGHS."""

from __future__ import annotations

import math

from colgen.problems.colouring.instance import ColouringInstance
from colgen.problems.colouring.model import full
from colgen.reporting.compared import solve_complete
from colgen.solvers.linear.mip import MIPSolution


def solve_full(
    instance: ColouringInstance, formulation: str = "representatives", time_limit: float = math.inf
) -> MIPSolution:
    """HiGHS on a complete model, presolve on: optimum, bound and branch-and-bound nodes."""
    return solve_complete(full(instance, formulation), time_limit)
