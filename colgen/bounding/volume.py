"""The volume algorithm: subgradient steps along an averaged slope, with an approximate primal solution.

Sources: F. Barahona, R. Anbil, *The volume algorithm: producing primal solutions with a subgradient method*,
Mathematical Programming 87 (2000); for the shares L. Bahiense, N. Maculan, C. Sagastizábal, *The volume algorithm
revisited: relation with bundle methods*, Mathematical Programming 94 (2002).
"""

from __future__ import annotations

import math

import numpy as np

from colgen.bounding.ascent import FASTER, STRAIGHT, Ascent, DualEvaluation, Floats
from colgen.bounding.ascent_bounding import AscentBounding

_FIRST_FACTOR = 0.1

_GREEN, _RED = 1.5, 0.66
_PATIENCE, _LEAST_PATIENCE = 4, 2
"""A green step multiplies the step length by ``_GREEN``; ``_PATIENCE`` red ones in a row multiply it by ``_RED``.

The patience falls to ``_LEAST_PATIENCE`` while red steps continue.  The source has 1.1, 0.66 and 20 (section 3): it
starts near the optimum.
"""

_MOST_BLENDED, _LEAST_BLENDED = 0.5, 1e-3
_LITTLE = 0.02
"""Least share of the maximum that is blended in, however bad a solution seems."""

_ROUNDS, _SLOW, _LESS = 20, 0.01, 0.9
"""If ``_ROUNDS`` rounds gain less than ``_SLOW`` of the value, the maximum share is multiplied by ``_LESS``."""


class VolumeAscent(Ascent):
    """State of the volume algorithm.

    The *centre* is the best point so far.  A round steps from there along v, the slope of the averaged solution, by s =
    f (T - q) / ‖v‖². It evaluates the function and blends the new solution into the average.  The share (at most
    ``_MOST_BLENDED``) minimises the mixed piece near the centre, so that distant solutions count little.  The colour of
    the step sets f.  A *red* step does not improve; an improving step is *green* if its slope agrees with v, otherwise
    *yellow*. In addition to the sources, the first steps search for the size of dual values.  They multiply f while
    steps gain their prediction, and halve it after a step beyond.
    """

    def __init__(self, start: Floats, lower: Floats, upper: Floats, *, unit: float, target: float = math.inf) -> None:
        super().__init__(start, lower, upper, unit=unit, target=target)
        self._factor = _FIRST_FACTOR
        self._most = _MOST_BLENDED
        self._patience = _PATIENCE
        self._red = self._rounds = 0
        self._slope = np.zeros(len(start))
        self._constant = self._length = 0.0
        self._promised = math.inf
        self._searching = True
        self._checked = self._restarted = -math.inf

    def follow(self, here: DualEvaluation) -> None:
        if self.best is None:
            self.best, self._slope, self._constant, self._checked = here, here.slope, _constant(here), here.value
            self.average.replace([(1.0, here.solution)])
        elif self._searching:
            self._search(here)
        else:
            centre = here if here.value > self.best.value else self.best
            share = self._share(here, centre)
            self._colour(here)
            self._slope = share * here.slope + (1.0 - share) * self._slope
            self._constant = share * _constant(here) + (1.0 - share) * self._constant
            self.average.blend(share, here.solution)
            self.best = centre
        self._step()

    def _search(self, here: DualEvaluation) -> None:
        assert self.best is not None
        gain = here.value - self.best.value
        self._searching = gain <= 0.0 or gain >= STRAIGHT * self._promised
        self._factor *= FASTER if gain > 0.0 and self._searching else 0.5
        if gain <= 0.0:
            return
        self.best, self._slope, self._constant, self._checked = here, here.slope, _constant(here), here.value
        self.average.replace([(1.0, here.solution)])

    def _colour(self, here: DualEvaluation) -> None:
        assert self.best is not None
        if here.value > self.best.value:
            self._red, self._patience = 0, _PATIENCE
            if float(here.slope @ self._slope) >= 0.0:
                self._factor *= _GREEN
            return
        self._red += 1
        if self._red >= self._patience:
            self._factor, self._red = _RED * self._factor, 0
            self._patience = max(self._patience // 2, _LEAST_PATIENCE)

    def _share(self, here: DualEvaluation, centre: DualEvaluation) -> float:
        """Return the share of a solution that is blended into the average.

        It minimises the mixture of both linear pieces near the centre, as a bundle method with two pieces does.
        """
        assert self.best is not None
        self._rounds += 1
        if self._rounds % _ROUNDS == 0:
            if centre.value - self._checked < _SLOW * abs(centre.value):
                self._most = max(_LESS * self._most, _LEAST_BLENDED)
            self._checked = centre.value
        difference = here.slope - self._slope
        squared = self._length * float(difference @ difference)
        higher = _constant(here) - self._constant + float(difference @ centre.point)
        share = -(self._length * float(self._slope @ difference) + higher) / squared if squared > 0.0 else 0.0
        return min(max(share, _LITTLE * self._most), self._most)

    def _step(self) -> None:
        assert self.best is not None
        centre = self.best.point
        direction = self.project_slope(centre, self._slope)
        squared = float(direction @ direction)
        aim = self._factor * self.level_gap(self.best.value)
        if not squared > 0.0 or self.is_negligible(aim):
            # Either this is the maximum, or the average is too far from the centre.
            if self.is_negligible(self.best.value - self._restarted):
                self.converged = True
                return
            self._restarted, self._factor = self.best.value, _FIRST_FACTOR
            self._slope, self._constant = self.best.slope, _constant(self.best)
            self.average.replace([(1.0, self.best.solution)])
            self._step()
            return
        self._length = aim / squared
        self.point = self.clip(centre + self._length * direction)
        self._promised = float(self.best.slope @ (self.point - centre))


def _constant(here: DualEvaluation) -> float:
    """Return the value at the origin of an evaluation's linear piece."""
    return here.value - float(here.slope @ here.point)


class Volume(AscentBounding):
    """The volume algorithm on the linking rows: a bound and an approximate solution, without a linear program.

    For the parameter and requirements see :class:`colgen.bounding.ascent_bounding.AscentBounding`.
    """

    def ascent(self, start: Floats, lower: Floats, upper: Floats, unit: float, target: float) -> VolumeAscent:
        return VolumeAscent(start, lower, upper, unit=unit, target=target)
