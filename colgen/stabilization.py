"""Dual stabilization: smoothing, boxes and penalties that decide at which dual values a round prices."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.budget import Budget
from colgen.core.duals import Duals
from colgen.master.linear_master import LinearMaster, as_linear
from colgen.master.penalised_program import Interval, PenalisedProgram
from colgen.master.protocol import RestrictedMaster

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


_AFTER_A_MISPRICE = 0.5
"""On relaxations of cutting stock, assignment, partitioning and colouring: half of the misprices, in no more rounds."""

_LOOK_BACK, _IN_VAIN = 12, 9
"""Smoothing that is patient begins once so many of so many rounds in a row have not improved the dual bound: before, on
relaxations of colouring and partitioning, it took an eighth more calls of the oracles than none."""

_START = 0.5
"""Where the automatic parameter begins."""

_TURNED_START, _TURNED_DECREASE, _TURN = 0.3, 1.6, 0.2
"""Of directional smoothing.  Turned proposals keep their distance by themselves: on relaxations of the four problems of
``colgen bench stabilization`` it took six in a hundred fewer rounds with these than with those of Wentges smoothing."""


class Stabilization(ABC):
    """Proposes the dual values at which the oracles price.

    The engine calls, each round: :meth:`propose` with the master's duals, and then, while the round mispriced (no
    column found that improves at the master's own duals), :meth:`misprice` and :meth:`propose` again; at last
    :meth:`update`.

    Attributes
    ----------
    complementary
        Whether every proposal is an optimal dual solution of the restricted master, another one than its own: where no
        column improves at it, none improves.
    ray
        Where oracles are asked at real costs first while the master is in phase 1; None: nowhere, they are asked at its
        own dual values alone, at which columns cost nothing.
    """

    complementary: bool = False
    ray: Ray | None = None

    def suit(self, master: RestrictedMaster, budget: Budget) -> None:
        """See the master whose dual values are going to be proposed from, at the beginning of each node."""

    @abstractmethod
    def propose(self, duals: Duals) -> Duals:
        """Dual values to price at, given the master's."""

    def misprice(self) -> bool:
        """Move towards the master's duals after a misprice; False if the last proposal was those duals already."""
        return False

    def update(self, bound_improved: bool, subgradient: Callable[[], Floats | None]) -> None:
        """Learn from a round.

        Parameters
        ----------
        bound_improved
            Whether the dual bound at the last proposal is the best so far: that point becomes the stability centre.
        subgradient
            Computes that of the dual bound, as a function of the duals, at the last proposal (in the direction that
            improves the bound); its answer is None where it is not known.
        """

    def reset(self, centre: Floats | None = None) -> None:
        """Forget everything: another dual function begins; ``centre`` is a guess at its optimum, not priced at yet."""

    def forgo_centre(self) -> None:
        """What :meth:`reset` was given has been priced at, and its columns are there: once more shows nothing new."""

    def at(self, depth: int) -> Stabilization:
        """What is used at nodes of this depth; 0 is the root's."""
        return self


class NoStabilization(Stabilization):
    """Price at the master's duals."""

    def propose(self, duals: Duals) -> Duals:
        return duals


class Smoothing(Stabilization):
    """Prices between a stability centre, the point of the best dual bound so far, and the master's dual values.

    Subclasses say where exactly: :meth:`between`.  A guess at the centre is proposed itself at first, for nothing is
    known of its bound (and a good guess may prove all).  After a misprice α shrinks until the master's own duals are
    reached, so that no column is missed. With ``alpha=None`` the parameter adjusts itself: it grows while the
    subgradient says that the bound improves towards the centre, and shrinks otherwise; a round that has mispriced
    halves it.

    Nodes below the root start from columns that were optimal at their parents: their master's own dual values are near
    the best ones from the first round, and smoothing would only misprice before it comes to them.

    Parameters
    ----------
    alpha
        The smoothing parameter, at least 0 and below 1; None: it adjusts itself.
    below_root
        Smooth at all nodes.
    after_rows
        Go on once rows have been added at the node.  Cuts move the master's dual values so far that the centre is of
        little use, and where they make pricing dear each misprice costs an exact search.
    patient
        Price at the master's own duals, unless a centre is guessed, until most rounds among the last dozen have not
        improved the dual bound there: where they do, or a dozen is all it takes, smoothing costs more than it saves.
    real_costs
        In phase 1 ask the oracles at real costs first, as far along the master's duals as columns begin to improve
        (:class:`~colgen.stabilization.Ray`); its own duals are priced at where that finds nothing.
    """

    _first = _START

    def __init__(
        self,
        alpha: float | None = None,
        *,
        below_root: bool = False,
        after_rows: bool = True,
        patient: bool = False,
        real_costs: bool = False,
    ) -> None:
        if alpha is not None and not 0.0 <= alpha < 1.0:
            raise ValueError(f"the smoothing parameter alpha must be in [0, 1), not {alpha}")
        self._automatic = alpha is None
        self._start = self._first if alpha is None else alpha
        self._below_root = below_root
        self._after_rows = after_rows
        self._patient = patient
        self._real_costs = real_costs
        self.reset()

    @abstractmethod
    def between(self, centre: Floats, out: Floats, alpha: float, misprices: int) -> Floats:
        """Where to price: at the centre if α is 1, at the master's duals ``out`` if it is 0."""

    def moved(self, subgradient: Callable[[], Floats | None]) -> None:
        """The last proposal has become the centre; ``subgradient`` computes the dual bound's there."""

    def moves(self, bound_improved: bool) -> bool:
        """Whether the last proposal is to be the centre."""
        return bound_improved

    def decreased(self, alpha: float) -> float:
        """The automatic parameter where the bound improves away from the centre."""
        return alpha / 1.1 if alpha >= 0.5 else max(alpha - 0.1 * (1.0 - alpha), 0.0)

    def at(self, depth: int) -> Stabilization:
        return self if depth == 0 or self._below_root else NoStabilization()

    def reset(self, centre: Floats | None = None) -> None:
        self.alpha = self._start
        self._centre = centre
        self._guessed = centre is not None
        self._misprices = 0
        self._rows: int | None = None
        self._waits = self._patient and centre is None
        self._in_vain: deque[bool] = deque(maxlen=_LOOK_BACK)
        self.ray = Ray() if self._real_costs else None

    def forgo_centre(self) -> None:
        self._guessed = False

    def propose(self, duals: Duals) -> Duals:
        self._out = duals.values
        alpha = self._effective_alpha()
        self._rows = len(self._out) if self._rows is None else self._rows
        if self._waits or (not self._after_rows and len(self._out) > self._rows):
            alpha = 0.0
        if self._centre is not None:
            # Rows added since: at the centre they did not exist, which is what a dual value of zero says.
            self._centre = lengthened(self._centre, len(self._out))
        if self._centre is None or alpha == 0.0:
            self._proposal = self._out
            return duals
        self._proposal = self.between(self._centre, self._out, alpha, self._misprices)
        return duals.replace(self._proposal)

    def misprice(self) -> bool:
        if self._proposal is self._out:
            return False
        self._misprices += 1
        return True

    def update(self, bound_improved: bool, subgradient: Callable[[], Floats | None]) -> None:
        subgradient = cache(subgradient)
        if self._waits:
            self._in_vain.append(not bound_improved)
            self._waits = sum(self._in_vain) < _IN_VAIN
        elif self._automatic and self._centre is not None and not self._misprices:
            direction = subgradient()
            if direction is not None:
                self._adjust(float(direction @ (self._centre - self._out)))
        elif self._automatic and self._misprices > self._guessed:  # that of a guess says nothing of smoothing
            # A mispriced round has cost a call of every oracle: what led to it is too far from the master's duals,
            # whatever the subgradient says of the bound.
            self.alpha *= _AFTER_A_MISPRICE
        if self._centre is None or self.moves(bound_improved):
            self._centre = self._proposal
            self.moved(subgradient)
        self._guessed = False
        self._misprices = 0

    def _adjust(self, slope_towards_centre: float) -> None:
        """Stay nearer to the centre if the bound improves from the proposal towards it, else move away."""
        if slope_towards_centre > 0.0:
            self.alpha = min(self.alpha + 0.1 * (1.0 - self.alpha), 0.99)
        else:
            self.alpha = self.decreased(self.alpha)

    def _effective_alpha(self) -> float:
        """α shrunk by the misprices of this round: ``max(0, 1 - k(1 - α))`` on the k-th try.

        A guess counts as a try before the first.
        """
        tries = self._misprices + (0 if self._guessed else 1)
        return max(0.0, 1.0 - tries * (1.0 - self.alpha))


class Wentges(Smoothing):
    """Wentges smoothing: ``α·centre + (1 - α)·duals``; each mispriced round closes the gap by a constant factor.

    Parameters are those of every :class:`Smoothing`.

    References
    ----------
    P. Wentges, *Weighted Dantzig-Wolfe decomposition for linear mixed-integer programming*, ITOR 4 (1997);
    A. Pessoa, R. Sadykov, E. Uchoa, F. Vanderbeck, *Automation and combination of linear-programming based
    stabilization techniques in column generation*, INFORMS Journal on Computing 30 (2018), section 4 (Algorithm 1, and
    f_incr, f_decr).
    """

    def between(self, centre: Floats, out: Floats, alpha: float, misprices: int) -> Floats:
        return alpha * centre + (1.0 - alpha) * out


class Directional(Smoothing):
    """Directional smoothing: Wentges' point, turned from the centre towards the subgradient there.

    With the subgradient g at the centre π, the master's duals π', and d = ‖π' - π‖::

        ρ = β (π + d g / ‖g‖) + (1 - β) π'          a direction between the subgradient's and the master's
        π + (1 - α) d (ρ - π) / ‖ρ - π‖              as far along it as Wentges goes towards π'

    After a misprice β is zero, which leaves Wentges' point and its convergence.  Where the centre and the master's
    duals both have a sign, so has what is priced at.  Lengths and angles are those of dual values times the sizes of
    their rows, so that scaling a row changes nothing.

    Two things differ from the source.  The centre is the point that was priced at last, unless one was guessed: early
    bounds are so weak (where multiplicities are loose, or oracles search by rules of thumb there is none at all) that
    the best of them holds the centre far from where the subgradient has led since.  A guess is left for a better bound
    only.  And while the master is in phase 1, where its duals are no point but a ray, oracles are asked along it at
    real costs.

    Parameters
    ----------
    alpha, below_root, after_rows, patient, real_costs
        As of :class:`Wentges`; the automatic parameter begins lower, and falls faster.
    beta
        The directional parameter, at least 0 and at most 1.  None: the cosine of the angle between g and π' - π, as in
        the source: the less the two directions disagree, the more the subgradient is believed.

    References
    ----------
    Pessoa, Sadykov, Uchoa, Vanderbeck (2018), as of :class:`Wentges`, on directional smoothing; for the centre P. J.
    Neame, *Nonsmooth dual methods in integer programming*, University of Melbourne (1999).
    """

    _first = _TURNED_START

    def __init__(
        self,
        alpha: float | None = None,
        *,
        beta: float | None = _TURN,
        below_root: bool = False,
        after_rows: bool = True,
        patient: bool = False,
        real_costs: bool = True,
    ) -> None:
        if beta is not None and not 0.0 <= beta <= 1.0:
            raise ValueError(f"the directional parameter beta must be in [0, 1], not {beta}")
        self._beta = beta
        self._master: LinearMaster | None = None
        super().__init__(alpha, below_root=below_root, after_rows=after_rows, patient=patient, real_costs=real_costs)

    def reset(self, centre: Floats | None = None) -> None:
        super().reset(centre)
        self._follows = centre is None
        self._slope: Floats | None = None

    def __getstate__(self) -> dict[str, Any]:
        """A copy is for another run: the master is left behind."""
        return self.__dict__ | {"_master": None}

    def suit(self, master: RestrictedMaster, budget: Budget) -> None:
        self._master = as_linear(master)

    def moved(self, subgradient: Callable[[], Floats | None]) -> None:
        self._slope = subgradient()

    def moves(self, bound_improved: bool) -> bool:
        return bound_improved or self._follows

    def decreased(self, alpha: float) -> float:
        return alpha / _TURNED_DECREASE

    def between(self, centre: Floats, out: Floats, alpha: float, misprices: int) -> Floats:
        straight = alpha * centre + (1.0 - alpha) * out
        if self._slope is None or misprices:
            return straight
        slope = self._slope = lengthened(self._slope, len(out))
        sizes = np.ones(len(out)) if self._master is None else self._master.rows.sizes
        slope, step = slope / sizes, (out - centre) * sizes
        steepness = float(np.linalg.norm(slope))
        distance = float(np.linalg.norm(step))
        if not steepness or not distance:
            return straight
        cosine = float(slope @ step) / (steepness * distance)
        beta = max(cosine, 0.0) if self._beta is None else self._beta
        turned = beta * (distance / steepness) * slope + (1.0 - beta) * step
        length = float(np.linalg.norm(turned))
        if not beta or not length:
            return straight
        point = centre + ((1.0 - alpha) * distance / length) * turned / sizes
        low, high = np.minimum(centre, out), np.maximum(centre, out)
        return np.clip(point, np.where(low >= 0.0, 0.0, -np.inf), np.where(high <= 0.0, 0.0, np.inf))


def lengthened(values: Floats, length: int) -> Floats:
    """With a zero for each row that has been added since."""
    return values if len(values) >= length else np.append(values, np.zeros(length - len(values)))


_OUTER = 4.0
"""The second interval of five pieces is so many times as wide as the first, and its slope as steep."""

_LOOSENING = 2.0
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
        if (
            self._centre is None
            or self._mispriced
            or master is None
            or master.objective.phase == 1
            or not len(self._out)
        ):
            return duals
        centre = lengthened(self._centre, len(self._out))
        found = centre if self._guessed else self._penalised(master, centre)
        if found is None:
            return duals
        proposal = duals.replace(found)
        signed = master.rows.signed(proposal).values
        if np.array_equal(signed, self._out):
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
            self._loosened *= _LOOSENING
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
