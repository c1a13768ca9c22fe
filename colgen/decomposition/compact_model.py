"""The compact model in HiGHS: solved complete where it is small, and as a neighbourhood of a relaxation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from colgen.core.budget import Budget
from colgen.core.sense import Sense
from colgen.core.solution import Complete, Solution
from colgen.decomposition.reading.arrays import Floats, Reading
from colgen.decomposition.splitting import Splitting
from colgen.heuristics import Heuristic, HeuristicContext, RestrictedMIP, fair
from colgen.solvers.linear.highs import LPStatus, SolverError
from colgen.solvers.linear.mip import solve_mip
from colgen.solvers.linear.program import Program

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
    program = Program(f.sense is Sense.MAXIMIZE, f.matrix, f.costs, f.lower, f.upper, *sides, f.offset)
    try:
        found = solve_mip(program, f.integer, _SHARE * budget.seconds_left, lambda: budget.expired, nodes)
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


_MOST_OPEN = 200
"""Of more whole variables that are open the program is no small one."""


class AtTheEnd(RestrictedMIP):
    """The integer program of the points at hand, only where a limit ends a run that knows no answer."""

    def applies(self, depth: int) -> bool:
        return False


class Neighbourhood(Heuristic):
    """The compact model with all whole variables fixed that are whole in the relaxation (Berthold, 2014).

    Where blocks have continuous variables the points at hand seldom fit together, and what is made of each has to be
    chosen anew once it has been decided what is made at all: dives, which fix whole points, find that late.

    Parameters
    ----------
    others
        Heuristics that are asked where nothing is found, one after the other.
    seconds
        For one call; at most a quarter of what is left.

    References
    ----------
    T. Berthold, *RENS: the optimal rounding*, Mathematical Programming Computation 6 (2014).
    """

    def __init__(self, splitting: Splitting, others: Sequence[Heuristic] = (), *, seconds: float = 1.0) -> None:
        self._splitting, self._others, self.seconds = splitting, tuple(others), seconds

    def search(self, context: HeuristicContext) -> Solution | None:
        found = self._near(context)
        for heuristic in self._others:
            if found is not None or context.run.expired:
                break
            found = heuristic.search(context)
        return found

    def _near(self, context: HeuristicContext) -> Solution | None:
        """The best answer in the neighbourhood, if there is one and it is found in time."""
        f, run = self._splitting.reading.formulation, context.run
        x = self._splitting.values(context.relaxation)
        fixed = f.integer & (x == np.rint(x))
        if int((f.integer & ~fixed).sum()) > _MOST_OPEN:
            return None
        bounds = (np.where(fixed, x, f.lower), np.where(fixed, x, f.upper))
        program = Program(f.sense is Sense.MAXIMIZE, f.matrix, f.costs, *bounds, f.row_lower, f.row_upper, f.offset)
        found = solve_mip(program, f.integer, fair(self.seconds, run), lambda: run.expired)
        if found.values is None:
            return None
        solution = self._splitting.solution(found.values, found.objective)
        # What HiGHS allows rows to be off by is more than an answer may be: such a guess is none.
        rows = context.master.rows
        return solution if rows is None or rows.violation(solution) is None else None
