"""The basis of one second stage, tried for others: if its point is feasible there, it is optimal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from colgen.core.tolerances import TOLERANCES
from colgen.decomposition.reading.compact_model import Floats, Ints

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class KnownBasis:
    """The basic variables and slacks of a stage, and the bounds of the nonbasic ones.

    ``columns`` and ``rows`` are masks of the basic variables, and of the rows with basic slacks.  ``at_upper`` and
    ``at_high`` are masks of nonbasic variables at their upper bounds, and of rows at their upper sides.
    """

    columns: Mask
    rows: Mask
    at_upper: Mask
    at_high: Mask

    def points(self, own: Floats, low: Floats, high: Floats, lower: Floats, upper: Floats) -> tuple[Floats, Mask]:
        """Return the point of the basis for several stages, shape (stages, variables), and a mask of feasible stages.

        ``own`` is the dense matrix W, the same in all calls; sides have the shape (stages, rows), and bounds
        (stages, variables).
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
        """Return whether two bases are equal."""
        mine, its = ((b.columns, b.rows, b.at_upper | b.columns, b.at_high | b.rows) for b in (self, other))
        return all(map(np.array_equal, mine, its))

    @cached_property
    def _basic(self) -> Ints:
        return np.flatnonzero(self.columns)

    @cached_property
    def _tight(self) -> Ints:
        return np.flatnonzero(~self.rows)

    def _inverse(self, own: Floats) -> Floats | None:
        """Return the cached inverse over tight rows and basic columns; None if it is numerically singular."""
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
    """Return whether all values of each stage are within bounds up to rounding."""
    room = TOLERANCES.pruning * np.maximum(sizes, sizes.max(axis=1, initial=0.0)[:, None])
    return np.asarray(((values >= low - room) & (values <= high + room)).all(axis=1))
