"""Dual stabilization: smoothing, boxes and penalties, which choose the dual values that a round prices at."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.budget import Budget
from colgen.core.duals import Duals
from colgen.core.text import Described
from colgen.master.linear_master import LinearMaster, as_linear
from colgen.master.penalised_program import Interval, PenalisedProgram
from colgen.master.protocol import RestrictedMaster

Floats = NDArray[np.float64]

_FARTHER = 2.0
"""Factor of the length after a round without columns: only twice, as columns from farther out cost more per gain."""


class Ray:
    """The dual values of phase 1 as a ray towards dual values of the real objective.

    Columns cost nothing in phase 1, so the first ones may be arbitrarily expensive. The dual values π of phase 1 prove
    that the master's columns do not suffice: the dual of the real objective is unbounded along π. At real costs and at
    length L along π, a column improves if its cost is less than L times its reduction of the violation. The shortest
    length at which columns improve is best. It is learned from the columns of an ordinary round of phase 1. If no
    column improves it is doubled, and an ordinary round follows.

    If all columns have the same cost, as in colouring or packing, phase 1 itself prefers good ones: no length is
    learned until two costs differ, and ``length`` is None.
    """

    def __init__(self) -> None:
        self.length: float | None = None
        self._least, self._most = math.inf, -math.inf

    def point(self, duals: Duals) -> Duals | None:
        """Return dual values of the real objective from those of phase 1; None without a length."""
        return None if self.length is None else duals.replace(self.length * duals.values)

    def learn(self, costs: Floats, gains: Floats) -> None:
        """Set the length to the least ratio of real cost to gain of a round's columns, if there is none yet."""
        self._least, self._most = min(self._least, float(costs.min())), max(self._most, float(costs.max()))
        counts = (costs != 0.0) & (gains > 0.0)
        if self.length is None and self._least < self._most and counts.any():
            self.length = float((np.abs(costs[counts]) / gains[counts]).min())

    def extend(self) -> None:
        """Increase the length after a round without columns."""
        if self.length is not None:
            self.length *= _FARTHER


_AFTER_A_MISPRICE = 0.5
"""Halves the misprices without more rounds, on relaxations of cutting stock, assignment, partitioning and colouring."""

_LOOK_BACK, _IN_VAIN = 12, 9
"""Patient smoothing begins when 9 of the last 12 rounds did not improve the dual bound. Begun earlier, it took 12.5%
more oracle calls than no smoothing on relaxations of colouring and partitioning."""

_START = 0.5
"""Initial value of the automatic parameter."""

_TURNED_START, _TURNED_DECREASE, _TURN = 0.3, 1.6, 0.2
"""For directional smoothing, whose proposals keep their distance without a large α. On the relaxations of the four
problems of ``colgen bench stabilization`` these values took 6% fewer rounds than those of Wentges smoothing."""


class Stabilization(Described, ABC):
    """Proposes the dual values at which the oracles price.

    In each round the engine calls :meth:`propose` with the master's duals. While the round misprices (no column found
    improves at the master's duals) it calls :meth:`misprice` and :meth:`propose` again. Finally it calls
    :meth:`update`.

    Attributes
    ----------
    complementary
        Whether every proposal is another optimal dual solution of the restricted master. Then, if no column improves at
        a proposal, none improves at all.
    ray
        The ray that phase 1 prices along, at real costs. None: phase 1 prices at its own dual values, where columns
        cost nothing.

    Examples
    --------
    >>> class Rounded(Stabilization):
    ...     def propose(self, duals):
    ...         return duals.replace(np.round(duals.values, 2))
    """

    complementary: bool = False
    ray: Ray | None = None

    def suit(self, master: RestrictedMaster, budget: Budget) -> None:
        """Prepare for a master, at the beginning of each node."""

    @abstractmethod
    def propose(self, duals: Duals) -> Duals:
        """Return the dual values to price at, given the master's."""

    def misprice(self) -> bool:
        """Move towards the master's duals after a misprice; return False if the last proposal was those duals."""
        return False

    def update(self, bound_improved: bool, subgradient: Callable[[], Floats | None]) -> None:
        """Update the centre and the parameters after a round.

        ``bound_improved`` is whether the dual bound at the last proposal is the best so far; that point becomes the
        stability centre. ``subgradient`` computes the subgradient of the dual bound there, in the direction that
        improves the bound; it returns None if unknown.
        """

    def reset(self, centre: Floats | None = None) -> None:
        """Start again with another dual function; ``centre`` is a guess at its optimum, which was not priced yet."""

    def forgo_centre(self) -> None:
        """Do not propose the centre given to :meth:`reset`: oracles priced there, and their columns were added."""

    def at(self, depth: int) -> Stabilization:
        """Return the stabilization for nodes of this depth; the root has depth 0."""
        return self


class NoStabilization(Stabilization):
    """Price at the master's duals.

    Examples
    --------
    >>> solve(problem, method=Method(stabilization=NoStabilization())).objective
    453.0
    """

    def propose(self, duals: Duals) -> Duals:
        return duals


class Smoothing(Stabilization):
    """Price between a stability centre, the point of the best dual bound so far, and the master's dual values.

    Subclasses define the point: :meth:`between`. A guessed centre is proposed first, because its bound is unknown and
    may already be optimal. After a misprice α shrinks until the master's own duals are reached, so no column is missed.
    With ``alpha=None`` the parameter adapts: it grows while the subgradient shows that the bound improves towards the
    centre, and shrinks otherwise. A mispriced round halves it.

    Below the root smoothing is off by default. Nodes start with columns that were optimal at their parents, so the
    master's duals are near the best ones from the first round.

    Parameters
    ----------
    alpha
        The smoothing parameter in [0, 1); None: adaptive.
    below_root
        Smooth at all nodes.
    after_rows
        Continue after rows were added at the node. Cuts move the master's duals so far that the centre is of little
        use, and if they make pricing hard, each misprice costs an exact search.
    patient
        Price at the master's own duals, unless a centre is guessed, until 9 of the last 12 rounds did not improve the
        dual bound. Before that, or in runs this short, smoothing costs more than it saves.
    real_costs
        In phase 1 price first at real costs, along the master's duals (:class:`~colgen.stabilization.Ray`); if no
        column is found, price at the master's duals.
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
        """Return the point to price at: the centre for α = 1, the master's duals ``out`` for α = 0."""

    def use_centre(self, subgradient: Callable[[], Floats | None]) -> None:
        """Use the subgradient at the new centre, the last proposal."""

    def accepts_centre(self, bound_improved: bool) -> bool:
        """Whether the last proposal becomes the centre."""
        return bound_improved

    def decrease(self, alpha: float) -> float:
        """Return the automatic parameter after the bound improved away from the centre."""
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
            # Rows added since had no influence at the centre: their dual values there are zero.
            self._centre = pad(self._centre, len(self._out))
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
        if self._waits:
            self._in_vain.append(not bound_improved)
            self._waits = sum(self._in_vain) < _IN_VAIN
        elif self._automatic and self._centre is not None and not self._misprices:
            direction = subgradient()

            def subgradient() -> Floats | None:  # it is expensive
                return direction

            if direction is not None:
                self._adjust(float(direction @ (self._centre - self._out)))
        elif self._automatic and self._misprices > self._guessed:  # a misprice at a guess is not due to smoothing
            # A mispriced round cost a call of every oracle: the proposal was too far from the master's duals, even if
            # the subgradient favours the centre.
            self.alpha *= _AFTER_A_MISPRICE
        if self._centre is None or self.accepts_centre(bound_improved):
            self._centre = self._proposal
            self.use_centre(subgradient)
        self._guessed = False
        self._misprices = 0

    def _adjust(self, slope_towards_centre: float) -> None:
        """Increase α if the bound improves in the direction from the proposal to the centre; otherwise decrease it."""
        if slope_towards_centre > 0.0:
            self.alpha = min(self.alpha + 0.1 * (1.0 - self.alpha), 0.99)
        else:
            self.alpha = self.decrease(self.alpha)

    def _effective_alpha(self) -> float:
        """Return α after the misprices of this round: ``max(0, 1 - k(1 - α))`` on try k; a guess is try 0."""
        tries = self._misprices + (0 if self._guessed else 1)
        return max(0.0, 1.0 - tries * (1.0 - self.alpha))


class Wentges(Smoothing):
    """Wentges smoothing: ``α·centre + (1 - α)·duals``; each misprice closes the gap by the same amount.

    Parameters are those of :class:`Smoothing`.

    References
    ----------
    P. Wentges, *Weighted Dantzig-Wolfe decomposition for linear mixed-integer programming*, ITOR 4 (1997);
    A. Pessoa, R. Sadykov, E. Uchoa, F. Vanderbeck, *Automation and combination of linear-programming based
    stabilization techniques in column generation*, INFORMS Journal on Computing 30 (2018), section 4 (Algorithm 1, and
    f_incr, f_decr).

    Examples
    --------
    >>> solve(problem, method=Method(stabilization=Wentges(alpha=0.8))).objective
    453.0
    """

    def between(self, centre: Floats, out: Floats, alpha: float, misprices: int) -> Floats:
        return alpha * centre + (1.0 - alpha) * out


class Directional(Smoothing):
    """Directional smoothing: Wentges' point, turned from the centre towards the subgradient there.

    With the subgradient g at the centre π, the master's duals π', and d = ‖π' - π‖::

        ρ = β (π + d g / ‖g‖) + (1 - β) π'          a direction between the subgradient's and the master's
        π + (1 - α) d (ρ - π) / ‖ρ - π‖              as far along it as Wentges goes towards π'

    After a misprice β is zero, which leaves Wentges' point and its convergence. If the centre and the master's duals
    have the same sign, so has the proposal. Lengths and angles use dual values times the sizes of their rows, so
    scaling a row changes nothing.

    Two things differ from the source. First, the centre is the last proposal, not the one of the best bound. Early
    bounds are weak if multiplicities are loose, and missing if oracles are heuristic. The best of them may belong to a
    point far from the optimum. A guessed centre is kept until a better bound is found. Second, in phase 1, where the
    duals form a ray, oracles price along it at real costs.

    Parameters
    ----------
    alpha, below_root, after_rows, patient, real_costs
        As in :class:`Wentges`; the automatic parameter starts lower and falls faster.
    beta
        The directional parameter in [0, 1]. None: the cosine of the angle between g and π' - π, as in the source; the
        subgradient then counts more the better the two directions agree.

    References
    ----------
    Pessoa, Sadykov, Uchoa, Vanderbeck (2018), see :class:`Wentges`, on directional smoothing; for the centre P. J.
    Neame, *Nonsmooth dual methods in integer programming*, University of Melbourne (1999).

    Examples
    --------
    >>> solve(problem, method=Method(stabilization=Directional())).objective
    453.0
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
        """Copies are for other runs, so they have no master."""
        return self.__dict__ | {"_master": None}

    def suit(self, master: RestrictedMaster, budget: Budget) -> None:
        self._master = as_linear(master)

    def use_centre(self, subgradient: Callable[[], Floats | None]) -> None:
        self._slope = subgradient()

    def accepts_centre(self, bound_improved: bool) -> bool:
        return bound_improved or self._follows

    def decrease(self, alpha: float) -> float:
        return alpha / _TURNED_DECREASE

    def between(self, centre: Floats, out: Floats, alpha: float, misprices: int) -> Floats:
        straight = alpha * centre + (1.0 - alpha) * out
        if self._slope is None or misprices:
            return straight
        slope = self._slope = pad(self._slope, len(out))
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


def pad(values: Floats, length: int) -> Floats:
    """Return dual values with a zero for each row that was added since."""
    return values if len(values) >= length else np.append(values, np.zeros(length - len(values)))


_OUTER = 4.0
"""Factor of width and slope of the second interval of five pieces."""

_LOOSENING = 2.0
"""Factor by which widths grow and slopes shrink after a mispriced round: the penalty held dual values back."""


class Penalty(Stabilization):
    """Price where the restricted master's dual minus a penalty for the distance from the stability centre is best.

    The centre is the point of the best dual bound so far. Within an interval around each of its dual values the penalty
    is zero; beyond it each unit costs a share of the row's side (three pieces). With five pieces the cost rises again
    beyond a second interval. A linear program computes the point. It takes about as long as the master, so this
    stabilization pays off only if oracles are slow. After a misprice the oracles price at the master's own duals, and
    the penalty is halved. If the master is not a linear program, they always price at its own duals.

    Parameters
    ----------
    pieces
        3 or 5.
    width
        Half of the interval, relative to the dual value at its middle, or to the mean of all if that is larger.
    slope
        Cost per unit beyond the interval, relative to the row's side (to its size, if that is zero).
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
        """Copies are for other runs, so they have no master and no solver."""
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
        centre = pad(self._centre, len(self._out))
        point = centre if self._guessed else self._penalised(master, centre)
        if point is None:
            return duals
        proposal = duals.replace(point)
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
    """Price where the restricted master's dual is best within a box around the stability centre.

    This is a :class:`Penalty` of infinite slope; a misprice doubles the box.

    Parameters
    ----------
    width, below_root
        As in :class:`Penalty`.

    References
    ----------
    R. E. Marsten, W. W. Hogan, J. W. Blankenship, *The boxstep method for large-scale optimization*, Operations
    Research 23 (1975).
    """

    def __init__(self, width: float = 0.3, *, below_root: bool = False) -> None:
        super().__init__(3, width=width, slope=math.inf, below_root=below_root)
