"""Ascent of a concave function of dual values: what subgradient, volume and bundle methods have in common.

All of them maximise; a problem's own sense is turned around before (:mod:`colgen.bounding.lagrangian_dual`).  They are
scale free: multiplying the function, or the dual values, by a power of two multiplies every step by what it must be,
bit by bit.  Nothing that they say is believed, so that their rules may be rules of thumb.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.tolerances import TOLERANCES, size

Floats = NDArray[np.float64]

_LEVEL = 0.05
"""Where no target is known it lies by this share of the value's size above the best value (Barahona and Anbil)."""

_RETREATS = 20
"""So often half of a step is tried where the function is not finite at its end."""

STRAIGHT, FASTER = 0.9, 4.0
"""A step that gains this share of what its slope has promised has met no bend yet: the next may be so much longer."""


@dataclass(frozen=True)
class DualEvaluation:
    """A concave function at a point.

    Attributes
    ----------
    point
        Shape (m,).
    value
        -inf where the function is not finite.
    slope
        A supergradient g, shape (m,): at any other point p the function is at most ``value + g·(p - point)``.
    solution
        What the slope comes from: the solution of the Lagrangian subproblem at this point.
    """

    point: Floats
    value: float
    slope: Floats
    solution: Any = None


class Average:
    """A convex combination of solutions, as weights: made into columns only if somebody wants them.

    Parameters
    ----------
    most
        So many solutions are kept, the heaviest; the weights of the others go to them.
    """

    def __init__(self, most: int = 128) -> None:
        self._most = most
        self._weights: list[float] = []
        self._solutions: list[Any] = []

    def blend(self, share: float, solution: Any) -> None:
        """Let ``share`` of the average be this solution, and the rest what it was."""
        self._weights = [(1.0 - share) * weight for weight in self._weights] if self._weights else []
        self._weights.append(share if self._weights else 1.0)
        self._solutions.append(solution)
        if len(self._weights) > self._most:
            least = int(np.argmin(self._weights))
            del self._weights[least], self._solutions[least]

    def replace(self, weighted: list[tuple[float, Any]]) -> None:
        """Let it be these weights of these solutions."""
        self._weights, self._solutions = [w for w, _ in weighted], [s for _, s in weighted]

    def __iter__(self) -> Iterator[tuple[float, Any]]:
        """Weights, whose sum is one, and solutions."""
        total = sum(self._weights)
        return ((w / total, s) for w, s in zip(self._weights, self._solutions, strict=True) if w > 0.0)


class Ascent(ABC):
    """A method under way.  Subclasses write :meth:`follow`, and set ``point`` to where the next evaluation is wanted.

    Parameters
    ----------
    start
        Where to evaluate first, shape (m,).
    lower, upper
        Sides of the box that points stay in, shape (m,), possibly infinite.
    unit
        The size of what values are made of: what steps are relative to while the values are zero.
    target
        The maximum is not above this, as far as anybody knows (the incumbent's objective); infinite if nobody does.

    Attributes
    ----------
    best
        The evaluation of the best value so far; None before the first.
    average
        Of the solutions: near the optimum of the relaxation, and feasible in it up to what :attr:`best` leaves.
    converged
        Whether further steps would be too short to tell.
    """

    def __init__(
        self, start: Floats, lower: Floats, upper: Floats, *, unit: float = 1.0, target: float = math.inf
    ) -> None:
        self.lower, self.upper, self.unit, self.target = lower, upper, unit, target
        self.point = self.clipped(start)
        self.best: DualEvaluation | None = None
        self.average = Average()
        self.converged = False
        self._retreats = 0

    def learn(self, here: DualEvaluation) -> None:
        """Take in the function at :attr:`point`, and choose the next one."""
        if math.isfinite(here.value):
            self._retreats = 0
            self.follow(here)
        elif self.best is None or self._retreats >= _RETREATS:
            self.converged = True
        else:  # outside of where the function is finite, half the way is nearer to it
            self._retreats += 1
            self.point = 0.5 * (self.point + self.best.point)

    @abstractmethod
    def follow(self, here: DualEvaluation) -> None:
        """Take in the function at a point where it is finite, and choose the next one."""

    def clipped(self, point: Floats) -> Floats:
        """The point of the box nearest to a point."""
        return np.minimum(np.maximum(point, self.lower), self.upper)

    def free(self, point: Floats, slope: Floats) -> Floats:
        """The slope without what would lead out of the box."""
        out = ((slope < 0.0) & (point <= self.lower)) | ((slope > 0.0) & (point >= self.upper))
        return np.where(out, 0.0, slope)

    def aim(self, value: float) -> float:
        """How far above a value the level lies that steps aim at."""
        level = _LEVEL * size(self.unit, value)
        return min(level, self.target - value) if self.target > value else level

    def too_short(self, gain: float) -> bool:
        """Whether a gain is too small to tell."""
        assert self.best is not None
        return gain <= TOLERANCES.reduced_cost * size(self.unit, self.best.value)
