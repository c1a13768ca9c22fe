"""Dual stabilization: which dual values to price at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from colgen.core.duals import Duals

Floats = NDArray[np.float64]


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
    """

    complementary: bool = False

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


class Wentges(Stabilization):
    """Wentges smoothing: price between the stability centre and the master's duals.

    The proposal is ``α·centre + (1 - α)·duals``, where the centre is the point of the best dual bound so far; a guess
    at it is proposed itself at first, for nothing is known of its bound (and a good guess may prove all).  After a
    misprice α shrinks until the master's own duals are reached, so that no column is missed; each mispriced round
    closes the gap by a constant factor. With ``alpha=None`` the parameter adjusts itself: it grows while the
    subgradient says that the bound improves towards the centre, and shrinks otherwise.

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

    References
    ----------
    P. Wentges, *Weighted Dantzig-Wolfe decomposition for linear mixed-integer programming*, ITOR 4 (1997);
    A. Pessoa, R. Sadykov, E. Uchoa, F. Vanderbeck, *Automation and combination of linear-programming based
    stabilization techniques in column generation*, INFORMS Journal on Computing 30 (2018), section 4 (Algorithm 1, and
    f_incr, f_decr).
    """

    def __init__(self, alpha: float | None = None, *, below_root: bool = False, after_rows: bool = True) -> None:
        if alpha is not None and not 0.0 <= alpha < 1.0:
            raise ValueError(f"the smoothing parameter alpha must be in [0, 1), not {alpha}")
        self._automatic = alpha is None
        self._start = 0.5 if alpha is None else alpha
        self._below_root = below_root
        self._after_rows = after_rows
        self.reset()

    def at(self, depth: int) -> Stabilization:
        return self if depth == 0 or self._below_root else NoStabilization()

    def reset(self, centre: Floats | None = None) -> None:
        self.alpha = self._start
        self._centre = centre
        self._guessed = centre is not None
        self._misprices = 0
        self._rows: int | None = None

    def forgo_centre(self) -> None:
        self._guessed = False

    def propose(self, duals: Duals) -> Duals:
        self._out = duals.values
        alpha = self._effective_alpha()
        self._rows = len(self._out) if self._rows is None else self._rows
        if not self._after_rows and len(self._out) > self._rows:
            alpha = 0.0
        if self._centre is not None and len(self._centre) < len(self._out):
            # Rows added since: at the centre they did not exist, which is what a dual value of zero says.
            self._centre = np.append(self._centre, np.zeros(len(self._out) - len(self._centre)))
        if self._centre is None or alpha == 0.0:
            self._proposal = self._out
            return duals
        self._proposal = alpha * self._centre + (1.0 - alpha) * self._out
        return duals.replace(self._proposal)

    def misprice(self) -> bool:
        if self._proposal is self._out:
            return False
        self._misprices += 1
        return True

    def update(self, bound_improved: bool, subgradient: Callable[[], Floats | None]) -> None:
        if self._automatic and self._centre is not None and not self._misprices:
            direction = subgradient()
            if direction is not None:
                self._adjust(float(direction @ (self._centre - self._out)))
        if bound_improved or self._centre is None:
            self._centre = self._proposal
        self._guessed = False
        self._misprices = 0

    def _adjust(self, slope_towards_centre: float) -> None:
        """Stay nearer to the centre if the bound improves from the proposal towards it, else move away."""
        if slope_towards_centre > 0.0:
            self.alpha = min(self.alpha + 0.1 * (1.0 - self.alpha), 0.99)
        elif self.alpha >= 0.5:
            self.alpha /= 1.1
        else:
            self.alpha = max(self.alpha - 0.1 * (1.0 - self.alpha), 0.0)

    def _effective_alpha(self) -> float:
        """α shrunk by the misprices of this round: ``max(0, 1 - k(1 - α))`` on the k-th try.

        A guess counts as a try before the first.
        """
        tries = self._misprices + (0 if self._guessed else 1)
        return max(0.0, 1.0 - tries * (1.0 - self.alpha))
