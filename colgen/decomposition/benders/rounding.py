"""Rounding in Benders' decomposition: rounded rows of second stages, and rounded first stages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from colgen.core.solution import Solution
from colgen.core.tolerances import ROUNDING
from colgen.decomposition.benders.two_stage import TwoStage
from colgen.decomposition.reading.arrays import Floats
from colgen.heuristics import Heuristic, HeuristicContext
from colgen.solvers.cuts.rounding import round_inequalities


@dataclass(frozen=True, eq=False)
class Roundings:
    """What first stages there may be: bounds of their variables, and which of these are whole."""

    lower: Floats
    upper: Floats
    integer: NDArray[np.bool_]

    def most_violated(self, constants: Floats, slopes: Floats, cost: float, x: Floats) -> tuple[float, float, Floats]:
        """The rounding of two rows of a stage that a solution violates most.

        Parameters
        ----------
        constants, slopes
            Of rows ``Q ≥ constant - slopes·x``, shapes (rows,) and (rows, variables).
        cost, x
            What the solution thinks that the stage costs, and its first stage.

        Returns
        -------
        violation, constant, slopes
            Of a row of the same form; the violation is not above 0 where there is none.
        """
        one, other = np.nonzero(~np.eye(len(constants), dtype=np.bool_))
        a, b = slopes[one] - slopes[other], constants[one] - constants[other]
        # Lower than it is by what sums of numbers that cancel out may have lost.
        sizes = np.abs(slopes[one]) + np.abs(slopes[other])
        reach = np.maximum(np.abs(self._finite(self.lower)), np.abs(self._finite(self.upper)))
        lost = ROUNDING * (np.abs(constants[one]) + np.abs(constants[other]) + sizes @ reach)
        whole, rest = self._counted, np.where(self._counted, 0.0, a)
        # a·x is at least so much over the others, and what it is above that joins s.
        ends = np.where(rest > 0.0, self.lower, self.upper)
        possible = (np.isfinite(ends) | (rest == 0.0)).all(axis=1)
        paid = (rest * self._finite(ends)).sum(axis=1)
        start = self.lower[whole]
        rests = cost - constants[other] + slopes[other] @ x + rest @ x - paid
        violations, found, sides = round_inequalities(
            a[:, whole], b - lost - paid - a[:, whole] @ start, rests, x[whole] - start, self.upper[whole] - start
        )
        violations = np.where(possible, violations, -np.inf)
        best = int(violations.argmax()) if len(violations) else 0
        if not len(violations) or violations[best] == -np.inf:
            return -np.inf, 0.0, np.zeros_like(x)
        steep = slopes[other[best]] + rest[best]
        steep[whole] += found[best]
        constant = constants[other[best]] + paid[best] + sides[best] + found[best] @ start
        return float(violations[best]), float(constant), steep

    @cached_property
    def _counted(self) -> NDArray[np.bool_]:
        """Whole variables that are counted from their lower bounds; the others are like continuous ones."""
        return self.integer & np.isfinite(self.lower)

    @staticmethod
    def _finite(values: Floats) -> Floats:
        return np.where(np.isfinite(values), values, 0.0)


class Rounding(Heuristic):
    """A first stage rounded, to the nearest and upwards, with the best of what its second stages then can do.

    None is tried twice, nor is one that the dual values at hand prove to be no better than the incumbent.
    """

    every = 1

    def __init__(self, model: TwoStage) -> None:
        self._model = model
        self._tried: set[bytes] = set()

    def search(self, context: HeuristicContext) -> Solution | None:
        model, best = self._model, None
        x = model.first_stage(context.relaxation)
        for to in (np.rint, np.ceil):
            rounded = model.rounded(x, to)
            found = None if context.run.expired else self._tried_out(rounded, context)
            if found is not None and (best is None or context.run.sense.is_better(found.objective, best.objective)):
                best = found
        return best

    def _tried_out(self, x: Floats, context: HeuristicContext) -> Solution | None:
        model, key = self._model, x.tobytes()
        if key in self._tried or not model.is_first_stage(x):
            return None
        self._tried.add(key)
        cost = model.first_cost(x)

        def hopeless(costs: Floats) -> bool:
            return context.run.prunes(model.sign * (cost + float(costs.sum())))

        return None if model.recourse.best(x, hopeless) is None else model.solution(x)
