"""Where a restricted master in phase 1 may be priced at real costs: along its dual values, far enough."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from colgen.core.duals import Duals

Floats = NDArray[np.float64]

_FARTHER = 2.0
"""By what the length grows where no column was found: twice, for what was found farther out is dearer for its worth."""


class Ray:
    """The dual values of phase 1 as a ray, along which those of the real objective lie.

    Columns cost nothing in phase 1, so that those which come first are as dear as it happens.  Its dual values π prove
    that the master's columns do not suffice: the dual of the real objective grows without end along π.  Priced at real
    costs and at a length L along it, columns improve whose cost is less than L times what they take off the violation:
    those that are cheap for what they are worth.  As short a length as finds any is best; it is learned from columns of
    a round of phase 1 as it is, and doubled whenever no column improves, after which such a round follows.

    Where all columns cost the same, as in colouring or packing, phase 1 tells the good ones by itself: no length is
    learned until two costs differ.

    Attributes
    ----------
    length
        None while columns have not said what costs are like.
    """

    def __init__(self) -> None:
        self.length: float | None = None
        self._least, self._most = math.inf, -math.inf

    def point(self, duals: Duals) -> Duals | None:
        """Dual values of the real objective, given those of phase 1; None if no length is known yet."""
        return None if self.length is None else duals.replace(self.length * duals.values)

    def learn(self, costs: Floats, gains: Floats) -> None:
        """Take the least cost for its worth as the length, unless there is one already.

        Parameters
        ----------
        costs, gains
            Of columns that a round of phase 1 has found: their real costs, and by how much each improves.
        """
        self._least, self._most = min(self._least, float(costs.min())), max(self._most, float(costs.max()))
        counts = (costs != 0.0) & (gains > 0.0)
        if self.length is None and self._least < self._most and counts.any():
            self.length = float((np.abs(costs[counts]) / gains[counts]).min())

    def fell_short(self) -> None:
        """No column was found that far."""
        if self.length is not None:
            self.length *= _FARTHER
