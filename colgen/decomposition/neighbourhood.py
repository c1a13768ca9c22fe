"""What a relaxation leaves open of the compact model, as a mixed-integer program of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.decomposition.splitting import Splitting
from colgen.tree.heuristics import Heuristic, HeuristicContext, RestrictedMIP, fair
from solvers.linear.mip import solve_mip

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
        found = solve_mip(
            f.sense is Sense.MAXIMIZE,
            f.matrix,
            f.costs,
            np.where(fixed, x, f.lower),
            np.where(fixed, x, f.upper),
            f.row_lower,
            f.row_upper,
            f.integer,
            f.offset,
            fair(self.seconds, run),
            lambda: run.expired,
        )
        if found.values is None:
            return None
        solution = self._splitting.solution(found.values, found.objective)
        # What HiGHS allows rows to be off by is more than an answer may be: such a guess is none.
        return None if context.master.violation(solution) else solution
