"""The compact model in HiGHS: solved completely if it is small, or as a neighbourhood of a relaxation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from colgen.core.budget import Budget
from colgen.core.sense import Sense
from colgen.core.solution import Complete, Solution
from colgen.decomposition.reading.compact_model import CompactModel, Floats
from colgen.decomposition.splitting import Splitting
from colgen.heuristics import Heuristic, HeuristicContext, RestrictedMIP, fair
from colgen.solvers.linear.highs import LPStatus, SolverError
from colgen.solvers.linear.mip import solve_mip
from colgen.solvers.linear.program import Program

SOURCE = "HiGHS on the compact model"
"""Source of the bound."""

_MOST_ENTRIES = 10_000
"""Maximum number of matrix entries of a small model."""

_SHARE = 0.25
"""Share of the remaining time."""


def solve_compact(
    compact: CompactModel, nodes: int | None, budget: Budget, as_solution: Callable[[Floats, float], Solution | None]
) -> Complete | None:
    """Return the result of HiGHS within a limit of nodes and 1/4 of the remaining time, or None if the model is large.

    If ``nodes`` is None, there are no such limits.  ``as_solution`` converts values of the variables and their
    objective to a solution of the master.
    """
    f = compact.formulation
    if nodes is not None and f.matrix.nnz > _MOST_ENTRIES:
        return None
    sides = (f.row_lower, f.row_upper)
    program = Program(f.sense is Sense.MAXIMIZE, f.matrix, f.costs, f.lower, f.upper, *sides, f.offset)
    try:
        seconds = budget.seconds_left * (1.0 if nodes is None else _SHARE)
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


_MOST_OPEN = 200
"""Maximum number of integer variables that are not fixed."""


class AtTheEnd(RestrictedMIP):
    """The integer program of the current points, only if a limit ends a run without an incumbent."""

    def applies(self, depth: int) -> bool:
        return False


class Neighbourhood(Heuristic):
    """The compact model with all variables fixed that must be and are integer in the relaxation (Berthold, 2014).

    If blocks have continuous variables, the current points seldom fit together: once the integer decisions are made,
    the continuous values must be chosen anew.  Dives fix entire points, and find such solutions late.

    If no solution is found within ``seconds`` (at most 1/4 of the remaining time), ``others`` run until one succeeds.

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
        """Return the best solution in the neighbourhood, or None if none is found in time."""
        f, run = self._splitting.compact.formulation, context.run
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
        # HiGHS tolerates larger violations of rows than a solution may have; such a guess is dropped.
        rows = context.master.rows
        return solution if rows is None or rows.violation(solution) is None else None
