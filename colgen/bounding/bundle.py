"""A proximal bundle method: maximise the model of all slopes so far, close to the best point.

Sources: C. Lemaréchal, *An extension of Davidon methods to nondifferentiable problems*, Mathematical Programming Study
3 (1975); K. C. Kiwiel, *Proximity control in bundle methods for convex nondifferentiable minimization*, Mathematical
Programming 46 (1990).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from colgen.bounding.ascent import FASTER, STRAIGHT, Ascent, DualEvaluation, Floats
from colgen.bounding.ascent_bounding import AscentBounding
from colgen.core.errors import InputError
from colgen.solvers.linear.simplex_projection import project

_SERIOUS = 0.1
"""The centre moves to a point that gains this share of the model's prediction."""

_LONGER = 0.5
"""With this share of the prediction gained, the next step is longer."""

_NULL_STEPS = 3
"""After this many rounds without a move, the next step is shorter."""

_INNER, _NEAR = 200, 0.05
"""Maximum number of inner iterations, and the share of the prediction that they may leave."""


class BundleAscent(Ascent):
    """State of the proximal bundle method with at most ``most`` pieces.

    With linear pieces q_i + g_i·(p - p_i) ≥ q(p) the next point is

        argmax over the box of   min_i [q_i + g_i·(p - p_i)] - ‖p - ĉ‖² / 2t,

    where ĉ is the centre.  The dual problem is over weights λ of the pieces (λ ≥ 0, Σ λ_i = 1).  For given weights the
    best point is ĉ + t Σ λ_i g_i, clipped to the box.  The gradient is the pieces' values there.  Accelerated projected
    gradients solve it (Nesterov's, restarted).  Any λ gives a valid aggregate piece, and the weights define the
    averaged solution.
    """

    def __init__(
        self,
        start: Floats,
        lower: Floats,
        upper: Floats,
        *,
        unit: float,
        target: float = math.inf,
        most: int = 40,
    ) -> None:
        super().__init__(start, lower, upper, unit=unit, target=target)
        self._most = most
        self._slopes = np.empty((0, len(start)))
        self._constants = np.empty(0)  # of the pieces, as q_i - g_i·p_i
        self._solutions: list[list[tuple[float, Any]]] = []
        self._weights = np.empty(0)
        self._step = 0.0
        self._promised = math.inf
        self._null = 0

    def follow(self, here: DualEvaluation) -> None:
        self._add(here)
        if self.best is None:
            self.best = here
        else:
            self._move(here)
        self._propose()

    def _add(self, here: DualEvaluation) -> None:
        if len(self._constants) >= self._most:
            self._merge()
        self._slopes = np.vstack([self._slopes, here.slope])
        self._constants = np.append(self._constants, here.value - float(here.slope @ here.point))
        self._solutions.append([(1.0, here.solution)])
        self._weights = np.append(self._weights, 0.0 if len(self._weights) else 1.0)

    def _merge(self) -> None:
        """Merge the pieces of least weight into one, with the same value at the present weights."""
        order = np.argsort(self._weights, kind="stable")
        old, kept = order[: self._most // 2], np.sort(order[self._most // 2 :])
        total = float(self._weights[old].sum())
        shares = self._weights[old] / total if total > 0.0 else np.full(len(old), 1.0 / len(old))
        mixed = [
            (float(share * weight), solution)
            for share, k in zip(shares, old.tolist(), strict=True)
            for weight, solution in self._solutions[k]
            if share > 0.0
        ]
        self._slopes = np.vstack([shares @ self._slopes[old], self._slopes[kept]])
        self._constants = np.append(shares @ self._constants[old], self._constants[kept])
        self._solutions = [mixed, *(self._solutions[k] for k in kept.tolist())]
        self._weights = np.append(total, self._weights[kept])

    def _move(self, here: DualEvaluation) -> None:
        """Move the centre if the gain suffices, and adapt the step length."""
        assert self.best is not None
        gain = here.value - self.best.value
        if gain >= _SERIOUS * self._promised and gain > 0.0:
            if gain >= _LONGER * self._promised:
                self._step *= FASTER if gain >= STRAIGHT * self._promised else 2.0
            self.best, self._null = here, 0
            return
        self._null += 1
        if self._null >= _NULL_STEPS and gain < 0.0:
            self._step, self._null = 0.5 * self._step, 0

    def _propose(self) -> None:
        """Maximise the model close to the centre."""
        assert self.best is not None
        centre = self.best.point
        if not self._step:
            direction = self.project_slope(centre, self.best.slope)
            squared = float(direction @ direction)
            if not squared > 0.0:
                self.converged = True
                return
            self._step = self.level_gap(self.best.value) / squared
        errors = self._constants + self._slopes @ centre - self.best.value  # of the pieces at the centre, ≥ 0
        self._weights, self.point, self._promised = self._solve(centre, np.maximum(errors, 0.0))
        self.average.replace(
            [
                (float(weight * share), solution)
                for weight, pieces in zip(self._weights, self._solutions, strict=True)
                for share, solution in pieces
                if weight > 0.0
            ]
        )
        self.converged = self.is_negligible(self._promised)

    def _solve(self, centre: Floats, errors: Floats) -> tuple[Floats, Floats, float]:
        """Return the pieces' weights, the point, and the gain over the centre that their aggregate predicts there."""
        slopes, t = self._slopes, self._step
        # The gradient's Lipschitz constant in the weights is at most t ‖G‖².
        curvature = t * float(np.linalg.norm(slopes @ slopes.T, 2))
        weights = probe = self._weights / self._weights.sum()
        momentum = 1.0
        for _ in range(_INNER):
            point = self.clip(centre + t * (probe @ slopes))
            moved = point - centre
            values = errors + slopes @ moved
            model, penalty = float(values.min()), float(moved @ moved) / (2.0 * t)
            if float(probe @ values) - model <= _NEAR * max(model - penalty, 0.0) or not curvature > 0.0:
                return probe, point, float(probe @ values)
            stepped = project(probe - values / curvature)
            if float((probe - stepped) @ (stepped - weights)) > 0.0:  # it oscillates: restart the acceleration
                momentum = 1.0
            following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum * momentum))
            probe = project(stepped + ((momentum - 1.0) / following) * (stepped - weights))
            weights, momentum = stepped, following
        point = self.clip(centre + t * (weights @ slopes))
        return weights, point, float(weights @ (errors + slopes @ (point - centre)))


class Bundle(AscentBounding):
    """A proximal bundle method on the linking rows: fewer rounds than subgradients, each with a small program.

    For requirements see :class:`colgen.bounding.ascent_bounding.AscentBounding`.

    Parameters
    ----------
    rounds
        Maximum number of rounds at each node.
    pieces
        Maximum number of pieces in the model of the dual function.
    """

    def __init__(self, rounds: int = 300, pieces: int = 40) -> None:
        super().__init__(rounds)
        if pieces < 2:
            raise InputError(f"Bundle: expected pieces of 2 or more, got {pieces}")
        self.pieces = pieces

    def ascent(self, start: Floats, lower: Floats, upper: Floats, unit: float, target: float) -> BundleAscent:
        return BundleAscent(start, lower, upper, unit=unit, target=target, most=self.pieces)
