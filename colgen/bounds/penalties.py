"""Stabilization by what distance from the centre costs: a box, or a penalty function of three or five pieces."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.bounds.stabilization import NoStabilization, Stabilization, lengthened
from colgen.core.budget import Budget
from colgen.core.duals import Duals
from colgen.master.linear import LinearMaster, as_linear
from colgen.master.penalised import Interval, PenalisedProgram
from colgen.master.protocol import RestrictedMaster

Floats = NDArray[np.float64]

_OUTER = 4.0
"""The second interval of five pieces is so many times as wide as the first, and its slope as steep."""

_AFTER_A_MISPRICE = 2.0
"""By what widths grow, and slopes shrink, after a round that mispriced: the penalty had held dual values back."""


class Penalty(Stabilization):
    """Prices where the restricted master's dual is best once distance from the stability centre is paid for.

    The centre is the point of the best dual bound so far.  Around each of its dual values lies an interval in which
    nothing is paid; beyond it each unit costs a share of the row's side: three pieces.  With five, another interval
    follows, beyond which it costs more.  The point is found by a linear program of its own, which takes about as long
    as the master's, so that it pays where oracles are dear.  After a misprice the master's own duals are priced at, and
    the penalty is halved.  Masters that are no linear programs are priced at their own duals.

    Parameters
    ----------
    pieces
        3 or 5.
    width
        Half of the interval, relative to the dual value in its middle, or to their mean if that is larger.
    slope
        What a unit beyond costs, relative to the row's side (to its size, if that is zero).
    below_root
        Penalise at all nodes.

    References
    ----------
    O. du Merle, D. Villeneuve, J. Desrosiers, P. Hansen, *Stabilized column generation*, Discrete Mathematics 194
    (1999); H. Ben Amor, J. Desrosiers, A. Frangioni, *On the choice of explicit stabilizing terms in column
    generation*, Discrete Applied Mathematics 157 (2009).
    """

    def __init__(self, pieces: int = 5, *, width: float = 0.1, slope: float = 0.2, below_root: bool = False) -> None:
        if pieces not in (3, 5):
            raise ValueError(f"a penalty function has 3 or 5 pieces, not {pieces}")
        if not 0.0 < width < math.inf:
            raise ValueError(f"the width of an interval must be positive and finite, not {width}")
        if not 0.0 < slope <= math.inf:
            raise ValueError(f"the slope of a penalty must be positive, not {slope}")
        self._factors = (1.0,) if pieces == 3 else (1.0, _OUTER)
        self._width, self._slope, self._below_root = width, slope, below_root
        self._master: LinearMaster | None = None
        self._budget = Budget()
        self.reset()

    def __getstate__(self) -> dict[str, Any]:
        """A copy is for another run: the master and its solver are left behind."""
        return self.__dict__ | {"_master": None, "_program": None}

    def at(self, depth: int) -> Stabilization:
        return self if depth == 0 or self._below_root else NoStabilization()

    def suit(self, master: RestrictedMaster, budget: Budget) -> None:
        self._master, self._budget = as_linear(master), budget

    def reset(self, centre: Floats | None = None) -> None:
        self._centre = centre
        self._guessed = centre is not None
        self._loosened = 1.0
        self._mispriced = False
        self._program: PenalisedProgram | None = None

    def forgo_centre(self) -> None:
        self._guessed = False

    def propose(self, duals: Duals) -> Duals:
        self._out = self._proposal = duals.values
        master = self._master
        if self._centre is None or self._mispriced or master is None or master.phase == 1 or not len(self._out):
            return duals
        centre = lengthened(self._centre, len(self._out))
        found = centre if self._guessed else self._penalised(master, centre)
        if found is None:
            return duals
        proposal = duals.replace(found)
        signed = master.centre(proposal)
        if signed is None or np.array_equal(signed, self._out):
            return duals
        self._proposal = signed
        return duals.replace(signed)

    def _penalised(self, master: LinearMaster, centre: Floats) -> Floats | None:
        rows = master.rows
        if self._program is None:
            self._program = PenalisedProgram(master, len(self._factors))
        sizes = np.abs(centre) * rows.sizes
        width = self._width * self._loosened * np.maximum(sizes, sizes.mean()) / rows.sizes
        side = np.where(np.isfinite(rows.lower), np.abs(rows.lower), np.abs(rows.upper))
        slope = self._slope / self._loosened * np.where(np.isfinite(side) & (side > 0.0), side, rows.sizes)
        intervals = [Interval(centre - k * width, centre + k * width, k * slope) for k in self._factors]
        return self._program.duals(intervals, self._budget)

    def misprice(self) -> bool:
        if self._proposal is self._out:
            return False
        self._mispriced = True
        return True

    def update(self, bound_improved: bool, subgradient: Callable[[], Floats | None]) -> None:
        if self._mispriced and not self._guessed:
            self._loosened *= _AFTER_A_MISPRICE
        if bound_improved or self._centre is None:
            self._centre = self._proposal
        self._guessed = self._mispriced = False


class BoxStep(Penalty):
    """Prices where the restricted master's dual is best in a box around the stability centre.

    That is a :class:`Penalty` of infinite slope; after a misprice the box is twice as large.

    Parameters
    ----------
    width, below_root
        As of :class:`Penalty`.

    References
    ----------
    R. E. Marsten, W. W. Hogan, J. W. Blankenship, *The boxstep method for large-scale optimization*, Operations
    Research 23 (1975).
    """

    def __init__(self, width: float = 0.3, *, below_root: bool = False) -> None:
        super().__init__(3, width=width, slope=math.inf, below_root=below_root)
