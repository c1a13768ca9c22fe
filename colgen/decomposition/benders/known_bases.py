"""A basis of one second stage, tried at the sides of others: where it leaves a feasible point, that is the optimum."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from colgen.core.tolerances import TOLERANCES
from colgen.decomposition.reading.arrays import Floats, Ints

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class KnownBasis:
    """Which variables and slacks of a stage are basic, and at which end the others stand.

    Attributes
    ----------
    columns, rows
        Masks of the basic variables, and of the rows whose slacks are basic.
    at_upper, at_high
        Which variables stand at their upper bounds, and which rows at their higher sides, if they are not basic.
    """

    columns: Mask
    rows: Mask
    at_upper: Mask
    at_high: Mask

    def points(self, own: Floats, low: Floats, high: Floats, lower: Floats, upper: Floats) -> tuple[Floats, Mask]:
        """The point of the basis for several stages, and whether it is feasible for each.

        Parameters
        ----------
        own
            The matrix W, dense, the same one at each call.
        low, high
            Sides of all rows, shape (stages, rows).
        lower, upper
            Bounds of all variables, shape (stages, variables).

        Returns
        -------
        points, feasible
            Shapes (stages, variables) and (stages,).
        """
        points = np.where(self.columns, 0.0, np.where(self.at_upper, upper, lower))
        sides = np.where(self.at_high, high, low)[:, self._tight]
        there = np.isfinite(points).all(axis=1) & np.isfinite(sides).all(axis=1)
        inverse = self._inverse(own)
        if inverse is None or not there.any():
            return np.zeros_like(points), np.zeros_like(there)
        points[~there], sides[~there] = 0.0, 0.0
        points[:, self._basic] = (sides - points @ own[self._tight].T) @ inverse.T
        moved, sizes = points @ own.T, np.abs(points) @ np.abs(own).T
        return points, there & _within(points, lower, upper, np.abs(points)) & _within(moved, low, high, sizes)

    def same(self, other: KnownBasis) -> bool:
        """Whether the same ones are basic, and stand at the same ends."""
        mine, its = ((b.columns, b.rows, b.at_upper | b.columns, b.at_high | b.rows) for b in (self, other))
        return all(map(np.array_equal, mine, its))

    @cached_property
    def _basic(self) -> Ints:
        return np.flatnonzero(self.columns)

    @cached_property
    def _tight(self) -> Ints:
        return np.flatnonzero(~self.rows)

    def _inverse(self, own: Floats) -> Floats | None:
        """Of the tight rows and basic columns; None if these are no basis to rounding.  Computed once."""
        if "inverse" not in self.__dict__:
            self.__dict__["inverse"] = _inverse_of(own[np.ix_(self._tight, self._basic)])
        found: Floats | None = self.__dict__["inverse"]
        return found


def _inverse_of(square: Floats) -> Floats | None:
    if square.shape[0] != square.shape[1]:
        return None
    try:
        inverse = np.asarray(np.linalg.inv(square), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    off = np.abs(inverse @ square - np.eye(len(square))).max(initial=0.0)
    return inverse if off <= TOLERANCES.pruning else None


def _within(values: Floats, low: Floats, high: Floats, sizes: Floats) -> Mask:
    """Whether all values of each stage are between their ends, but for rounding."""
    room = TOLERANCES.pruning * np.maximum(sizes, sizes.max(axis=1, initial=0.0)[:, None])
    return np.asarray(((values >= low - room) & (values <= high + room)).all(axis=1))
