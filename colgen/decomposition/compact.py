"""The compact model itself in HiGHS, where it is small: for trees that do not come to an end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from colgen.core.budget import Budget
from colgen.core.sense import Sense
from colgen.core.solution import Complete, Solution
from colgen.decomposition.reading import Floats, Reading
from solvers.linear.highs import LPStatus, SolverError
from solvers.linear.mip import solve_mip

SOURCE = "HiGHS on the compact model"
"""Whose bound it is."""

_MOST_ENTRIES = 10_000
"""A model whose matrix has more entries is not small."""

_SHARE = 0.25
"""Of the time that is left."""


def solve_compact(
    reading: Reading, nodes: int, budget: Budget, as_solution: Callable[[Floats, float], Solution | None]
) -> Complete | None:
    """What HiGHS finds within so many nodes; None if the model is not small.

    Parameters
    ----------
    as_solution
        Makes a solution of the master of the variables' values and their objective.
    """
    f = reading.formulation
    if f.matrix.nnz > _MOST_ENTRIES:
        return None
    sides = (f.row_lower, f.row_upper)
    program = (f.matrix, f.costs, f.lower, f.upper, *sides, f.integer, f.offset)
    limits = (_SHARE * budget.seconds_left, lambda: budget.expired)
    try:
        found = solve_mip(f.sense is Sense.MAXIMIZE, *program, *limits, nodes)
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
