"""Maximise a concave function of dual values; base class of subgradient, volume and bundle methods.

Minimisation and maximisation are both mapped to this (:mod:`colgen.bounding.lagrangian_dual`).  The methods are scale
invariant: a factor of a power of two on values or points scales every step exactly.  The engine verifies their results,
so they may use rules of thumb.
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
"""Without a target, distance of the level from the best value, relative to its size (Barahona and Anbil)."""

_RETREATS = 20
"""Number of times that a step is halved if the function is not finite at its end."""

STRAIGHT, FASTER = 0.9, 4.0
"""A step that gains ``STRAIGHT`` times its prediction is multiplied by ``FASTER``: the function is linear so far."""


@dataclass(frozen=True)
class DualEvaluation:
    """Value (-inf outside the domain) and slope of a concave function at a point of shape (m,).

    The slope g is a supergradient: at any other point p the function is at most ``value + g·(p - point)``.  It comes
    from ``solution``, the solution of the Lagrangian subproblem.
    """

    point: Floats
    value: float
    slope: Floats
    solution: Any = None


class Average:
    """A convex combination of solutions, stored as weights.  Columns are built on demand.

    At most ``most`` solutions are stored, those of largest weight.  The weights are normalised.
    """

    def __init__(self, most: int = 128) -> None:
        self._most = most
        self._weights: list[float] = []
        self._solutions: list[Any] = []

    def blend(self, share: float, solution: Any) -> None:
        """Add a solution with weight ``share`` and scale the other weights by ``1 - share``."""
        self._weights = [(1.0 - share) * weight for weight in self._weights] if self._weights else []
        self._weights.append(share if self._weights else 1.0)
        self._solutions.append(solution)
        if len(self._weights) > self._most:
            least = int(np.argmin(self._weights))
            del self._weights[least], self._solutions[least]

    def replace(self, weighted: list[tuple[float, Any]]) -> None:
        """Replace the average by these weights and solutions."""
        self._weights, self._solutions = [w for w, _ in weighted], [s for _, s in weighted]

    def __iter__(self) -> Iterator[tuple[float, Any]]:
        """Iterate over weights, whose sum is 1, and solutions."""
        total = sum(self._weights)
        return ((w / total, s) for w, s in zip(self._weights, self._solutions, strict=True) if w > 0.0)


class Ascent(ABC):
    """State of an ascent.  Subclasses implement :meth:`follow`, which sets ``point`` to the next point to evaluate.

    Points have the shape (m,) and stay in the box from ``lower`` to ``upper``, which may be infinite.  ``unit`` is the
    typical size of the values' terms; steps are relative to it while the values are zero.  ``target`` is an upper bound
    on the maximum (the incumbent's objective), possibly infinite.

    Attributes
    ----------
    best
        The evaluation of the best value so far; None before the first.
    average
        Averaged solution.  It converges to an optimum of the relaxation.
    converged
        Whether further steps would be negligible.
    """

    def __init__(
        self, start: Floats, lower: Floats, upper: Floats, *, unit: float = 1.0, target: float = math.inf
    ) -> None:
        self.lower, self.upper, self.unit, self.target = lower, upper, unit, target
        self.point = self.clip(start)
        self.best: DualEvaluation | None = None
        self.average = Average()
        self.converged = False
        self._retreats = 0

    def update(self, here: DualEvaluation) -> None:
        """Process the evaluation at :attr:`point` and set the next point."""
        if math.isfinite(here.value):
            self._retreats = 0
            self.follow(here)
        elif self.best is None or self._retreats >= _RETREATS:
            self.converged = True
        else:  # beyond the domain: half the way is closer to it
            self._retreats += 1
            self.point = 0.5 * (self.point + self.best.point)

    @abstractmethod
    def follow(self, here: DualEvaluation) -> None:
        """Process an evaluation with a finite value and set the next point."""

    def clip(self, point: Floats) -> Floats:
        """Return the nearest point of the box."""
        return np.minimum(np.maximum(point, self.lower), self.upper)

    def project_slope(self, point: Floats, slope: Floats) -> Floats:
        """Return the slope with components that lead out of the box set to zero."""
        out = ((slope < 0.0) & (point <= self.lower)) | ((slope > 0.0) & (point >= self.upper))
        return np.where(out, 0.0, slope)

    def level_gap(self, value: float) -> float:
        """Return the distance from a value to the level that steps aim at."""
        level = _LEVEL * size(self.unit, value)
        return min(level, self.target - value) if self.target > value else level

    def is_negligible(self, gain: float) -> bool:
        """Return whether a gain is below the tolerance."""
        assert self.best is not None
        return gain <= TOLERANCES.reduced_cost * size(self.unit, self.best.value)
