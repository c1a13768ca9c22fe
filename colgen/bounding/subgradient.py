"""Subgradient steps of Polyak's length.

Sources: B. T. Polyak, *Minimization of unsmooth functionals*, USSR Computational Mathematics and Mathematical Physics 9
(1969); M. Held, P. Wolfe, H. P. Crowder, *Validation of subgradient optimization*, Mathematical Programming 6 (1974);
for the averages T. Larsson, M. Patriksson, A.-B. Strömberg, *Ergodic, primal convergence in dual subgradient schemes
for convex programming*, Mathematical Programming 86 (1999).
"""

from __future__ import annotations

import math

from colgen.bounding.ascent import FASTER, STRAIGHT, Ascent, DualEvaluation, Floats
from colgen.bounding.ascent_bounding import AscentBounding

_FIRST_FACTOR, _LONGEST = 1.0, 2.0
_BLENDED = 0.1
"""Share of each new solution in the average, so that a solution fades in about twenty rounds."""

_PATIENCE = 10
"""After this many rounds without a better value, steps are halved and continue from the best point."""


class SubgradientAscent(Ascent):
    """State of the subgradient method.

    Let q be the value, g the slope at the present point.  A round moves by f (T - q) / ‖g‖² times g.  T is the target
    if it is known, else a level above the best value.  The factor f is halved if nothing improves, and grows while the
    function is linear.
    """

    def __init__(self, start: Floats, lower: Floats, upper: Floats, *, unit: float, target: float = math.inf) -> None:
        super().__init__(start, lower, upper, unit=unit, target=target)
        self._factor = _FIRST_FACTOR
        self._worse = 0
        self._promised = math.inf
        self._before = 0.0

    def follow(self, here: DualEvaluation) -> None:
        straight = here.value - self._before >= STRAIGHT * self._promised
        if self.best is None or here.value > self.best.value:
            self.best, self._worse = here, 0
            if straight:
                self._factor *= FASTER
        else:
            self._worse += 1
        self.average.blend(_BLENDED, here.solution)
        if self._worse >= _PATIENCE:
            self._factor, self._worse = 0.5 * min(self._factor, _LONGEST), 0
            here = self.best
        direction = self.project_slope(here.point, here.slope)
        squared = float(direction @ direction)
        aim = self._factor * (self.level_gap(self.best.value) + self.best.value - here.value)
        if not squared > 0.0 or self.is_negligible(self._factor * self.level_gap(self.best.value)):
            self.converged = True
            return
        length = aim / squared
        self.point = self.clip(here.point + length * direction)
        self._before = here.value
        self._promised = float(here.slope @ (self.point - here.point))


class Subgradient(AscentBounding):
    """Subgradient steps of Polyak's length on the linking rows: the cheapest rounds and the weakest bound.

    For the parameter and requirements see :class:`colgen.bounding.ascent_bounding.AscentBounding`.
    """

    def ascent(self, start: Floats, lower: Floats, upper: Floats, unit: float, target: float) -> SubgradientAscent:
        return SubgradientAscent(start, lower, upper, unit=unit, target=target)
