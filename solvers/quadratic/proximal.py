r"""The proximal model of a scenario dual: prices near the centre that the known points of all scenarios allow.

Scenario s has points x_sp of cost c_sp.  Prices w of its copies of the first stage give it the value
``min_p c_sp + w_s·x_sp``, and the prices of each variable sum to its cost.  With centre ŵ and step t the model is

    max_w  Σ_s min_p (c_sp + w_s·x_sp) - Σ_s ‖w_s - ŵ_s‖² / 2t,    Σ_s (w_s - ŵ_s) = 0,

and its dual, over weights λ_s in simplices with x̄_s = Σ_p λ_sp x_sp and their mean x̄,

    min_λ  Σ_s Σ_p λ_sp (c_sp + ŵ_s·x_sp) + t/2 Σ_s ‖x̄_s - x̄‖²,    w_s = ŵ_s + t (x̄_s - x̄).

Accelerated projected gradients solve it, restarted where they oscillate.  The weights x̄_s become one first stage as t
grows: the method is progressive hedging over the known points.

Sources: K. C. Kiwiel, *Proximity control in bundle methods for convex nondifferentiable minimization*, Mathematical
Programming 46 (1990); N. Boland et al., *Combining progressive hedging with a Frank-Wolfe method to compute Lagrangian
dual bounds in stochastic mixed-integer programming*, SIAM Journal on Optimization 28 (2018).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit
from colgen.solvers.linear.simplex_projection import project_in_place

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_INNER = 1000
"""Maximum number of gradient steps."""

_NEAR = 0.02
"""Share of the predicted gain that the gradient steps may leave."""


@dataclass(frozen=True)
class ProximalPoint:
    """The solution of the model.

    ``prices`` has shape (scenarios, variables) and ``weights`` (scenarios, points).  ``gain`` is what the model
    predicts over the value at the centre; ``error`` is the part of it that does not come from moving the prices.
    """

    prices: Floats
    weights: Floats
    gain: float
    error: float


def proximal_point(
    points: Floats, costs: Floats, counts: Ints, weights: Floats, prices: Floats, value: float, step: float
) -> ProximalPoint:
    """Maximise the model.

    Parameters
    ----------
    points, costs
        Points in units of similar size, shape (scenarios, points, variables), and their costs at the centre.
    counts
        Number of points of each scenario; the first ones are used.
    weights
        Initial weights, shape (scenarios, points).
    prices, value
        The centre and its value.
    step
        The step t.
    """
    weights = weights.copy()
    sizes = np.array([_curvature(points[s, :count]) for s, count in enumerate(counts.tolist())])
    least, error, deviations = _descend(points, costs, counts, weights, step, sizes, value)
    return ProximalPoint(prices + step * deviations, weights, least - value, error - value)


def _curvature(points: Floats) -> float:
    """Return the largest eigenvalue of the points' Gram matrix, which that of the smaller product is too."""
    few = points.T @ points if points.shape[0] > points.shape[1] else points @ points.T
    return max(float(np.linalg.eigvalsh(few)[-1]), 1e-12)


@njit(cache=True)
def _descend(
    points: Floats, costs: Floats, counts: Ints, weights: Floats, step: float, sizes: Floats, value: float
) -> tuple[float, float, Floats]:
    """Improve the weights in place; return the model's value at the new prices, the weights' cost, and x̄_s - x̄."""
    scenarios, width, variables = points.shape
    probe, moved = weights.copy(), weights.copy()
    gradient = np.zeros((scenarios, width))
    centre = np.empty((scenarios, variables))
    momentum, least, cost = 1.0, 0.0, 0.0
    for iteration in range(_INNER + 1):
        last = iteration == _INNER
        at = weights if last else probe
        mean = np.zeros(variables)
        for s in range(scenarios):
            centre[s, :] = 0.0
            for p in range(counts[s]):
                if at[s, p] != 0.0:
                    for j in range(variables):
                        centre[s, j] += at[s, p] * points[s, p, j]
            for j in range(variables):
                mean[j] += centre[s, j] / scenarios
        least, spent, cost = 0.0, 0.0, 0.0
        squares = 0.0
        for s in range(scenarios):
            lowest = math.inf
            for j in range(variables):
                centre[s, j] -= mean[j]
                squares += centre[s, j] * centre[s, j]
            for p in range(counts[s]):
                entry = 0.0
                for j in range(variables):
                    entry += points[s, p, j] * centre[s, j]
                gradient[s, p] = costs[s, p] + step * entry
                spent += at[s, p] * gradient[s, p]
                cost += at[s, p] * costs[s, p]
                lowest = min(lowest, gradient[s, p])
            least += lowest
        if last or spent - least <= _NEAR * max(least - 0.5 * step * squares - value, 0.0):
            weights[:, :] = at
            break
        turn = 0.0
        for s in range(scenarios):
            count = counts[s]
            rate = 1.0 / (step * sizes[s])
            for p in range(count):
                moved[s, p] = probe[s, p] - rate * gradient[s, p]
            project_in_place(moved[s, :count])
            for p in range(count):
                turn += (probe[s, p] - moved[s, p]) * (moved[s, p] - weights[s, p])
        if turn > 0.0:
            momentum = 1.0
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum * momentum))
        for s in range(scenarios):
            for p in range(counts[s]):
                ahead = moved[s, p] + (momentum - 1.0) / following * (moved[s, p] - weights[s, p])
                weights[s, p] = moved[s, p]
                probe[s, p] = ahead
            project_in_place(probe[s, : counts[s]])
        momentum = following
    return least, cost, centre
