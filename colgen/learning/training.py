"""Trainers that take a step on one example after the other: perceptron, MIRA, stochastic gradients of losses.

Sources: M. Collins, *Discriminative training methods for hidden Markov models*, EMNLP 2002; K. Crammer and others,
*Online passive-aggressive algorithms*, JMLR 7 (2006); J. Duchi, E. Hazan, Y. Singer, *Adaptive subgradient methods*,
JMLR 12 (2011).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.learning.examples import Example, Features, check_examples, less, of_arrays
from colgen.learning.losses import Margin, Regularization, augmented, fenchel_young, hinge

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trained:
    """Weights, and how learning went.

    Attributes
    ----------
    weights
        Averaged over all steps where the trainer does that.
    losses
        The mean loss of each pass, before each step.
    objective, bound
        Of trainers that minimise one function of the weights over all examples: its value, and what no weights can
        fall below; nan of others.
    passes
        Over the examples.
    """

    weights: Floats
    losses: tuple[float, ...]
    objective: float = float("nan")
    bound: float = float("nan")

    @property
    def passes(self) -> int:
        """Over the examples."""
        return len(self.losses)

    @property
    def gap(self) -> float:
        """By how much the objective can still fall, at most."""
        return self.objective - self.bound


class _Averaged:
    """Weights, and their changes times when they were made: that gives the average without a sum of weights."""

    def __init__(self, size: int) -> None:
        self.weights, self._late, self.steps = np.zeros(size), np.zeros(size), 0

    def change(self, features: Features, step: float) -> None:
        numbers, values = features
        self.weights[numbers] += step * values
        self._late[numbers] += self.steps * step * values

    def average(self) -> Floats:
        result: Floats = self.weights - self._late / max(self.steps, 1)
        return result


def perceptron(examples: Sequence[Example], size: int, *, epochs: int = 5, seed: int = 0) -> Trained:
    """The averaged structured perceptron.

    Parameters
    ----------
    size
        Number of weights.
    epochs
        Passes over the examples, each in an order of its own.
    """

    def step(example: Example, model: _Averaged) -> float:
        scores = example.scores(model.weights)
        found = augmented(example.oracle, example.right, *scores, margin="none").structure
        if found.key != example.right.key:
            model.change(less(example, example.right, found), 1.0)
        return found.score(scores) - example.right.score(scores)

    return _passes(examples, size, epochs, seed, step)


def mira(
    examples: Sequence[Example],
    size: int,
    *,
    epochs: int = 5,
    seed: int = 0,
    margin: Margin = "hamming",
    aggressiveness: float = 1.0,
) -> Trained:
    """Averaged 1-best MIRA: the smallest step that gives the right structure the margin over the worst violator.

    Parameters
    ----------
    aggressiveness
        The longest step.
    """
    _check_positive("aggressiveness", aggressiveness)

    def step(example: Example, model: _Averaged) -> float:
        loss = hinge(example.oracle, example.right, *example.scores(model.weights), margin=margin)
        if loss.value > 0.0 and loss.structure is not None:
            features = less(example, example.right, loss.structure)
            square = float(features[1] @ features[1])
            if square > 0.0:
                model.change(features, min(aggressiveness, loss.value / square))
        return loss.value

    return _passes(examples, size, epochs, seed, step)


def stochastic_gradient(
    examples: Sequence[Example],
    size: int,
    *,
    loss: Regularization | Margin = "gibbs",
    epochs: int = 5,
    rate: float = 0.2,
    seed: int = 0,
) -> Trained:
    """Adaptive stochastic gradients of a loss, averaged.

    Parameters
    ----------
    loss
        A Fenchel-Young loss (``"sparsemap"``, ``"gibbs"``, ``"beliefs"``, ``"perturbed"``) or a hinge (``"hamming"``,
        ``"zero_one"``, ``"none"``).
    rate
        Of learning.
    """
    _check_positive("rate", rate)
    squares = np.full(size, np.finfo(np.float64).tiny)

    def step(example: Example, model: _Averaged) -> float:
        scores = example.scores(model.weights)
        if loss in ("sparsemap", "gibbs", "beliefs", "perturbed"):
            at = fenchel_young(example.oracle, example.right, *scores, regularization=loss, seed=model.steps)
        else:
            at = hinge(example.oracle, example.right, *scores, margin=loss)  # type: ignore[arg-type]
        numbers, values = example.joint(of_arrays(at.gradients))
        squares[numbers] += values * values
        model.change((numbers, values / np.sqrt(squares[numbers])), -rate)
        return at.value

    return _passes(examples, size, epochs, seed, step)


def _check_positive(name: str, value: float) -> None:
    if not 0.0 < value < np.inf:
        raise InputError(f"{name}: expected a number above 0, got {value}")


def _passes(
    examples: Sequence[Example], size: int, epochs: int, seed: int, step: Callable[[Example, _Averaged], float]
) -> Trained:
    check_examples(examples)
    if epochs < 1:
        raise InputError(f"epochs: expected 1 or more, got {epochs}")
    model, losses = _Averaged(size), []
    for epoch in range(epochs):
        total = 0.0
        for k in np.random.default_rng((seed, epoch)).permutation(len(examples)).tolist():
            total += step(examples[k], model)
            model.steps += 1
        losses.append(total / len(examples))
    return Trained(model.average(), tuple(losses))
