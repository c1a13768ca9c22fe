r"""Structured support vector machines: a convex program whose optimum is proved by a dual bound.

    min over w   P(w) = λ/2 ‖w‖² + 1/n Σ_i H_i(w),        H_i(w) = max_y Δ_i(y) + wᵀψ_i(y) - wᵀψ_i(gold)

Each pass of cutting planes over the examples gives a row Σ_i H_i(w)/n ≥ b - gᵀw.  Here g is the mean of ψ(gold) -
ψ(y), and b the mean cost, of the worst violators.  In the dual these rows are columns, and the master is SparseMAP's
quadratic program over the simplex.  Its dual values are w = Σ_j p_j g_j / λ, and its value is a lower bound on P.
Block-coordinate Frank-Wolfe stores a mean per example instead, and takes the best step towards one example's violator
at a time.  A pass over all examples gives the bound.

Sources: T. Joachims, T. Finley, C.-N. Yu, *Cutting-plane training of structural SVMs*, Machine Learning 77 (2009);
S. Lacoste-Julien, M. Jaggi, M. Schmidt, P. Pletscher, *Block-coordinate Frank-Wolfe optimization for structural SVMs*,
ICML 2013.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from colgen.core.columns import Column
from colgen.core.errors import InputError
from colgen.core.stop import AnyOf, GapLimit, IterationLimit, StopRule
from colgen.core.tolerances import ROUNDING, TOLERANCES
from colgen.learning.examples import Example, Features, check_examples, subtract_features, sum_entries
from colgen.learning.losses import Margin, augmented
from colgen.learning.training import Trained
from colgen.master.quadratic_master import QuadraticMaster
from colgen.method import Method
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult
from colgen.problem import Problem
from colgen.solving import solve
from colgen.stabilization import Wentges

Floats = NDArray[np.float64]

_SMOOTHING = 0.8
"""Share of the best weights so far in the next point: 60 passes then leave 1/5 of the gap."""


def cutting_planes(
    examples: Sequence[Example],
    size: int,
    *,
    regularization: float = 0.1,
    margin: Margin = "hamming",
    gap: float = TOLERANCES.optimality,
    passes: int = 200,
    **options: Any,
) -> Trained[Floats]:
    """Return weights that minimise P within the gap, by cutting planes (one slack variable).

    The engine solves a :class:`~colgen.master.quadratic_master.QuadraticMaster`: columns are the mean planes of passes,
    pricing is decoding.

    Parameters
    ----------
    size
        Number of weights.
    regularization
        λ.
    margin
        Δ: ``"hamming"`` or ``"zero_one"``.
    gap
        Relative gap between objective and bound at which to stop.
    passes
        Maximum number of passes over the examples.
    options
        Options of :func:`colgen.solve`, for example ``progress=True`` or ``stop=TimeLimit(60)``.
    """
    _check(examples, regularization, passes)
    pricing = _WorstViolators(examples, size, regularization, margin)
    stop: list[StopRule] = [GapLimit(gap), IterationLimit(passes)]
    if options.get("stop") is not None:
        stop.append(options.pop("stop"))
    result = solve(_Planes(pricing), stop=AnyOf(*stop), **options)
    return Trained(pricing.best, tuple(pricing.losses), (), pricing.objective, min(result.objective, pricing.objective))


@dataclass(frozen=True, eq=False)
class _Plane:
    """The mean of ψ(gold) - ψ(y) over the examples.  The mean of Δ(y) is the column's cost."""

    vector: Features


class _WorstViolators(Pricing):
    """Decodes all examples at w = π: the mean plane is the best column."""

    multiplicity = 1.0

    def __init__(self, examples: Sequence[Example], size: int, regularization: float, margin: Margin) -> None:
        self._examples, self._margin = examples, margin
        self.size, self.regularization = size, regularization
        self.best, self.objective = np.zeros(size), np.inf
        self.losses: list[float] = []

    def price(self, duals: Any, context: PricingContext) -> PricingResult:
        weights = duals.prices
        plane, cost = _mean_plane(self._examples, weights, self._margin)
        loss = cost - float(plane[1] @ weights[plane[0]])
        self.losses.append(loss)
        value = 0.5 * self.regularization * float(weights @ weights) + loss
        if value < self.objective:
            self.objective, self.best = value, weights
        return PricingResult([Column(cost, {}, _Plane(plane))], loss - duals.level)


class _Planes(Problem[list[tuple[_Plane, float]]]):
    """The dual of P: the mean of planes that maximises its cost minus its norm penalty."""

    def __init__(self, pricing: _WorstViolators) -> None:
        self._pricing = pricing

    def master(self) -> QuadraticMaster:
        flat = _Plane((np.zeros(0, dtype=np.int64), np.zeros(0)))  # the hinge is never negative
        size, curvature = self._pricing.size, 1.0 / self._pricing.regularization
        return QuadraticMaster(Column(0.0, {}, flat), _vector, size=size, curvature=curvature)

    def pricing(self) -> Pricing:
        return self._pricing

    def method(self) -> Method:
        return Method(stabilization=Wentges(_SMOOTHING))


def _vector(column: Column) -> Features:
    return cast(_Plane, column.structure).vector


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
) -> Trained[Floats]:
    """Return weights that minimise P within the gap, by Frank-Wolfe steps.

    Parameters
    ----------
    blocks
        Whether to take a step after each example, drawn at random (block-coordinate); otherwise one step per pass.
    regularization, margin, gap, passes
        As for :func:`cutting_planes`.  Every tenth pass computes the bound from all examples.
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
            found = augmented(example.oracle, example.gold, *example.scores(weights), margin=margin)
            numbers, values = subtract_features(example, example.gold, found.structure)
            values = values / (regularization * count)
            old_numbers, old_values = own[k]
            numbers, change = sum_entries(np.concatenate([old_numbers, numbers]), np.concatenate([old_values, -values]))
            length = _length(change, weights[numbers], found.cost / count - costs[k], regularization)
            if length <= 0.0:
                continue
            weights[numbers] -= length * change
            joint = np.concatenate([old_numbers, numbers]), np.concatenate([old_values, -length * change])
            own[k] = sum_entries(*joint)
            costs[k] += length * (found.cost / count - costs[k])
    return Trained(best, tuple(losses), (), objective, min(bound, objective))


def _length(change: Floats, weights: Floats, gain: float, regularization: float) -> float:
    """Return the best step length, at most 1, from w towards w - change with this gain of costs."""
    square = regularization * float(change @ change)
    rise = regularization * float(change @ weights) + gain
    if square <= ROUNDING * abs(rise):
        return 1.0 if rise > 0.0 else 0.0
    return min(max(rise / square, 0.0), 1.0)


def _mean_plane(examples: Sequence[Example], weights: Floats, margin: Margin) -> tuple[Features, float]:
    """Return the means of ψ(gold) - ψ(y) and of Δ(y) over the examples' worst violators y."""
    numbers, values, cost = [], [], 0.0
    for example in examples:
        found = augmented(example.oracle, example.gold, *example.scores(weights), margin=margin)
        plane = subtract_features(example, example.gold, found.structure)
        numbers.append(plane[0])
        values.append(plane[1])
        cost += found.cost
    mean = sum_entries(np.concatenate(numbers), np.concatenate(values) / len(examples))
    return mean, cost / len(examples)


def _check(examples: Sequence[Example], regularization: float, passes: int) -> None:
    check_examples(examples)
    if not 0.0 < regularization < np.inf or passes < 1:
        raise InputError(
            f"expected a regularization above 0 and passes of 1 or more, got regularization {regularization} and "
            f"passes {passes}"
        )
