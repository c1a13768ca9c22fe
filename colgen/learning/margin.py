r"""Support vector machines over structures: one convex program, its optimum proved by a bound from its dual.

    min over w   P(w) = λ/2 ‖w‖² + 1/n Σ_i H_i(w),        H_i(w) = max_y Δ_i(y) + wᵀψ_i(y) - wᵀψ_i(right)

Cutting planes generate rows: each pass over the examples gives one, Σ_i H_i(w)/n ≥ b - gᵀw, with the mean g of
ψ(right) - ψ(y) and the mean cost b of the worst violators.  In the dual these are columns, and the master is the
quadratic program over the simplex that SparseMAP has: w = Σ_j p_j g_j / λ, and its value is a bound that no weights
fall below.  Block-coordinate Frank-Wolfe keeps a mean for each example instead, and takes the best step towards one
violator at a time; a pass that looks at all examples gives the bound.

Sources: T. Joachims, T. Finley, C.-N. Yu, *Cutting-plane training of structural SVMs*, Machine Learning 77 (2009);
S. Lacoste-Julien, M. Jaggi, M. Schmidt, P. Pletscher, *Block-coordinate Frank-Wolfe optimization for structural SVMs*,
ICML 2013.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.core.tolerances import ROUNDING, TOLERANCES
from colgen.learning.examples import Example, Features, checked_examples, less, summed
from colgen.learning.losses import Margin, augmented
from colgen.learning.training import Trained
from solvers.quadratic.over_simplex import ActiveSet

Floats = NDArray[np.float64]


def cutting_planes(
    examples: Sequence[Example],
    size: int,
    *,
    regularization: float = 0.1,
    margin: Margin = "hamming",
    gap: float = TOLERANCES.optimality,
    passes: int = 200,
) -> Trained:
    """The weights of least P by cutting planes (one slack variable): proved within the gap.

    Parameters
    ----------
    size
        Number of weights.
    regularization
        λ.
    margin
        Δ: ``"hamming"`` or ``"zero_one"``.
    gap
        How near to the bound the objective has to come, relative to it.
    passes
        At most so many over the examples.
    """
    _check(examples, regularization, passes)
    master = ActiveSet()
    planes: list[Features] = [(np.zeros(0, dtype=np.int64), np.zeros(0))]  # the hinge is never negative
    master.add(np.zeros(1), 0.0)
    weights, best, objective, bound = np.zeros(size), np.zeros(size), np.inf, 0.0
    losses: list[float] = []
    for _ in range(passes):
        plane, cost = _mean_plane(examples, weights, margin)
        loss = cost - float(plane[1] @ weights[plane[0]])
        losses.append(loss)
        value = 0.5 * regularization * float(weights @ weights) + loss
        if value < objective:
            objective, best = value, weights
        if objective - bound <= gap * max(abs(objective), gap):
            break
        dense = np.zeros(size)
        dense[plane[0]] = plane[1]
        planes.append(plane)
        products = np.array([values @ dense[numbers] for numbers, values in planes]) / regularization
        entered = master.add(products, cost)
        bound = max(bound, master.value)
        if not entered:  # it improves by rounding alone
            break
        weights = np.zeros(size)
        for k, share in zip(master.members.tolist(), master.weights.tolist(), strict=True):
            numbers, values = planes[k]
            weights[numbers] += share / regularization * values
    return Trained(best, tuple(losses), objective, min(bound, objective))


def frank_wolfe(
    examples: Sequence[Example],
    size: int,
    *,
    regularization: float = 0.1,
    margin: Margin = "hamming",
    gap: float = 1e4 * TOLERANCES.optimality,
    passes: int = 200,
    blocks: bool = True,
    seed: int = 0,
) -> Trained:
    """The weights of least P by Frank and Wolfe's steps, proved within the gap.

    Parameters
    ----------
    blocks
        A step after each example (block-coordinate, an example drawn at random each time); otherwise one a pass.
    regularization, margin, gap, passes
        As of :func:`cutting_planes`; each tenth pass looks at all examples for the bound.
    """
    _check(examples, regularization, passes)
    count = len(examples)
    own: list[Features] = [(np.zeros(0, dtype=np.int64), np.zeros(0))] * count
    costs = np.zeros(count)
    weights, best, objective, bound = np.zeros(size), np.zeros(size), np.inf, 0.0
    losses: list[float] = []
    generator = np.random.default_rng(seed)
    for number in range(passes):
        if not blocks or number % 10 == 0 or number == passes - 1:
            plane, cost = _mean_plane(examples, weights, margin)
            square = float(weights @ weights)
            value = 0.5 * regularization * square + cost - float(plane[1] @ weights[plane[0]])
            losses.append(value - 0.5 * regularization * square)
            bound = max(bound, float(costs.sum()) - 0.5 * regularization * square)
            if value < objective:
                objective, best = value, weights.copy()
            if objective - bound <= gap * max(abs(objective), gap):
                break
            if not blocks:
                towards = np.zeros(size)
                towards[plane[0]] = plane[1] / regularization
                change = weights - towards
                length = _length(change, weights, cost - float(costs.sum()), regularization)
                weights = weights - length * change
                costs = (1.0 - length) * costs
                costs[0] += length * cost
                continue
        for k in generator.integers(0, count, count).tolist():
            example = examples[k]
            found = augmented(example.oracle, example.right, *example.scores(weights), margin=margin)
            numbers, values = less(example, example.right, found.structure)
            values = values / (regularization * count)
            old_numbers, old_values = own[k]
            numbers, change = summed(np.concatenate([old_numbers, numbers]), np.concatenate([old_values, -values]))
            length = _length(change, weights[numbers], found.cost / count - costs[k], regularization)
            if length <= 0.0:
                continue
            weights[numbers] -= length * change
            joint = np.concatenate([old_numbers, numbers]), np.concatenate([old_values, -length * change])
            own[k] = summed(*joint)
            costs[k] += length * (found.cost / count - costs[k])
    return Trained(best, tuple(losses), objective, min(bound, objective))


def _length(change: Floats, weights: Floats, gain: float, regularization: float) -> float:
    """The best step from w towards w - change, where costs gain so much, at most 1."""
    square = regularization * float(change @ change)
    rise = regularization * float(change @ weights) + gain
    if square <= ROUNDING * abs(rise):
        return 1.0 if rise > 0.0 else 0.0
    return min(max(rise / square, 0.0), 1.0)


def _mean_plane(examples: Sequence[Example], weights: Floats, margin: Margin) -> tuple[Features, float]:
    """The means of ψ(right) - ψ(y) and of Δ(y) over the examples' worst violators y."""
    numbers, values, cost = [], [], 0.0
    for example in examples:
        found = augmented(example.oracle, example.right, *example.scores(weights), margin=margin)
        plane = less(example, example.right, found.structure)
        numbers.append(plane[0])
        values.append(plane[1])
        cost += found.cost
    mean = summed(np.concatenate(numbers), np.concatenate(values) / len(examples))
    return mean, cost / len(examples)


def _check(examples: Sequence[Example], regularization: float, passes: int) -> None:
    checked_examples(examples)
    if not 0.0 < regularization < np.inf or passes < 1:
        raise InputError(f"expected a regularization above 0 and one pass or more, got {regularization} and {passes}")
