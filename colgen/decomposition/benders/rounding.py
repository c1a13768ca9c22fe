"""Rounding in Benders decomposition: rounded rows of second stages, and rounded first stages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from colgen.core.solution import Solution
from colgen.core.tolerances import ROUNDING
from colgen.decomposition.benders.two_stage import TwoStage
from colgen.decomposition.reading.compact_model import Floats
from colgen.heuristics import Heuristic, HeuristicContext
from colgen.solvers.cuts.rounding import round_inequalities


@dataclass(frozen=True, eq=False)
class Roundings:
    """Bounds and integrality of the first stage, for rounding rows."""

    lower: Floats
    upper: Floats
    integer: NDArray[np.bool_]

    def most_violated(self, constants: Floats, slopes: Floats, cost: float, x: Floats) -> tuple[float, float, Floats]:
        """Return the rounding of two rows of a stage that a solution violates most: violation, constant, slopes.

        Rows are ``Q ≥ constant - slopes·x``, with shapes (rows,) and (rows, variables).  ``cost`` and ``x`` are the
        stage's cost and first stage in the solution.  If no rounding is violated, the violation is at most 0.
        """
        one, other = np.nonzero(~np.eye(len(constants), dtype=np.bool_))
        a, b = slopes[one] - slopes[other], constants[one] - constants[other]
        # Subtract the rounding error of sums that cancel out.
        sizes = np.abs(slopes[one]) + np.abs(slopes[other])
        reach = np.maximum(np.abs(self._finite(self.lower)), np.abs(self._finite(self.upper)))
        lost = ROUNDING * (np.abs(constants[one]) + np.abs(constants[other]) + sizes @ reach)
        integral, rest = self._counted, np.where(self._counted, 0.0, a)
        # Bound the other terms of a·x from below; their excess is added to s.
        ends = np.where(rest > 0.0, self.lower, self.upper)
        possible = (np.isfinite(ends) | (rest == 0.0)).all(axis=1)
        paid = (rest * self._finite(ends)).sum(axis=1)
        start = self.lower[integral]
        rests = cost - constants[other] + slopes[other] @ x + rest @ x - paid
        violations, found, sides = round_inequalities(
            a[:, integral],
            b - lost - paid - a[:, integral] @ start,
            rests,
            x[integral] - start,
            self.upper[integral] - start,
        )
        violations = np.where(possible, violations, -np.inf)
        best = int(violations.argmax()) if len(violations) else 0
        if not len(violations) or violations[best] == -np.inf:
            return -np.inf, 0.0, np.zeros_like(x)
        steep = slopes[other[best]] + rest[best]
        steep[integral] += found[best]
        constant = constants[other[best]] + paid[best] + sides[best] + found[best] @ start
        return float(violations[best]), float(constant), steep

    @cached_property
    def _counted(self) -> NDArray[np.bool_]:
        """Mask of integer variables with finite lower bounds; the others are treated as continuous."""
        return self.integer & np.isfinite(self.lower)

    @staticmethod
    def _finite(values: Floats) -> Floats:
        return np.where(np.isfinite(values), values, 0.0)


class Rounding(Heuristic):
    """Round a first stage to the nearest integers and upwards, and complete it with optimal second stages.

    No first stage is tried twice, or if known dual values prove that it is no better than the incumbent.
    """

    every = 1

    def __init__(self, model: TwoStage) -> None:
        self._model = model
        self._tried: set[bytes] = set()

    def search(self, context: HeuristicContext) -> Solution | None:
        model, best = self._model, None
        x = model.first_stage(context.relaxation)
        for to in (np.rint, np.ceil):
            rounded = model.round_first_stage(x, to)
            found = None if context.run.expired else self._try(rounded, context)
            if found is not None and (best is None or context.run.sense.is_better(found.objective, best.objective)):
                best = found
        return best

    def _try(self, x: Floats, context: HeuristicContext) -> Solution | None:
        model, key = self._model, x.tobytes()
        if key in self._tried or not model.is_first_stage(x):
            return None
        self._tried.add(key)
        known = float(model.recourse.known_bounds(x)[0].sum())
        if context.run.prunes(model.sign * (model.first_cost(x) + known)):
            return None
        return model.solution(x) if np.isfinite(model.recourse.optima(x).costs).all() else None
