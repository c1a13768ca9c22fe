r"""Rows of second stages, rounded: what two bounds on a stage's cost say of whole first stages.

Any two rows of a stage, ``Q ≥ c - a·x`` and ``Q ≥ c' - a'·x``, say that ``s = Q - c' + a'·x`` is not negative, and that

    s + (a - a')·x ≥ c - c',

which mixed-integer rounding makes tighter where x is whole.  The cost of a stage is convex in x, and a solution of the
relaxation lies between whole points, on the edge where two of its rows meet: there such roundings cut it off.

References
----------
M. Bodur, J. R. Luedtke, *Mixed-integer rounding enhanced Benders decomposition for multiclass service-system staffing
and scheduling with arrival rate uncertainty*, Management Science 63 (2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from colgen.core.tolerances import ROUNDING
from colgen.decomposition.reading import Floats
from solvers.cuts.rounding import rounded


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
        violations, found, sides = rounded(
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
