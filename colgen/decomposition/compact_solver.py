"""The compact model in HiGHS, solved completely if it is small."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from colgen.core.budget import Budget
from colgen.core.sense import Sense
from colgen.core.solution import Complete, Solution
from colgen.decomposition.reading.compact_model import CompactModel, Floats
from colgen.heuristics import RestrictedMIP
from colgen.solvers.linear.highs import LPStatus, SolverError
from colgen.solvers.linear.mip import solve_mip
from colgen.solvers.linear.program import Program

SOURCE = "HiGHS on the compact model"
"""Source of the bound."""

_MOST_ENTRIES = 10_000
"""Maximum number of matrix entries of a small model."""

_SHARE, _SECONDS = 0.25, 1.0
"""Share of the remaining time, and seconds that are always allowed."""


def solve_compact(
    compact: CompactModel, nodes: int | None, budget: Budget, as_solution: Callable[[Floats, float], Solution | None]
) -> Complete | None:
    """Return the result of HiGHS within a limit of nodes, or None if the model is large.

    It gets at most 1/4 of the remaining time, and no more than the run has taken so far.  If ``nodes`` is None, there
    are no such limits.  ``as_solution`` converts values of the variables and their objective to a solution of the
    master.
    """
    f = compact.formulation
    if nodes is not None and f.matrix.nnz > _MOST_ENTRIES:
        return None
    sides = (f.row_lower, f.row_upper)
    program = Program(f.sense is Sense.MAXIMIZE, f.matrix, f.costs, f.lower, f.upper, *sides, f.offset)
    try:
        seconds = budget.seconds_left
        if nodes is not None:
            seconds = min(_SHARE * seconds, max(_SECONDS, budget.seconds))
        found = solve_mip(program, f.integer, seconds, lambda: budget.expired, nodes)
    except SolverError:
        return None
    bound = f.sense.ideal
    if found.status is LPStatus.INFEASIBLE:
        bound = f.sense.hopeless
    elif found.status is not LPStatus.UNBOUNDED and f.integer.any() and np.isfinite(found.bound):
        bound = found.bound
    elif found.status is LPStatus.OPTIMAL:
        bound = found.objective
    solution = None if found.values is None else as_solution(found.values, found.objective)
    return Complete(SOURCE, bound, solution)


class AtTheEnd(RestrictedMIP):
    """The integer program of the current points, only if a limit ends a run without an incumbent."""

    def applies(self, depth: int) -> bool:
        return False
