"""Online trainers of linear models: perceptron, MIRA and stochastic gradients.

Sources: M. Collins, *Discriminative training methods for hidden Markov models*, EMNLP 2002; K. Crammer and others,
*Online passive-aggressive algorithms*, JMLR 7 (2006); J. Duchi, E. Hazan, Y. Singer, *Adaptive subgradient methods*,
JMLR 12 (2011).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.learning.examples import Example, Features, nonzero_entries, subtract_features
from colgen.learning.losses import Margin, Regularization, augmented, fenchel_young, hinge
from colgen.learning.training import Trained, train
from colgen.learning.weights import AveragedWeights

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Step = Callable[[Example, "_LinearLearner"], tuple[float, Features | None]]
"""Function of an example and the learner that returns the loss, and the change of the weights or None."""


def perceptron(examples: Sequence[Example], size: int, *, epochs: int = 5, seed: int = 0) -> Trained[Floats]:
    """Train weights by the averaged structured perceptron.

    Parameters
    ----------
    size
        Number of weights.
    epochs
        Number of passes over the examples, each in a new order.
    """

    def step(example: Example, model: _LinearLearner) -> tuple[float, Features | None]:
        scores = example.scores(model.weights)
        found = augmented(example.oracle, example.gold, *scores, margin="none").structure
        change = None if found.key == example.gold.key else subtract_features(example, example.gold, found)
        return found.score(scores) - example.gold.score(scores), change

    return train(_LinearLearner(examples, size, step), epochs, seed=seed)


def mira(
    examples: Sequence[Example],
    size: int,
    *,
    epochs: int = 5,
    seed: int = 0,
    margin: Margin = "hamming",
    aggressiveness: float = 1.0,
) -> Trained[Floats]:
    """Train weights by averaged 1-best MIRA: the smallest step that restores the margin.

    Parameters
    ----------
    aggressiveness
        Maximum step length.
    """
    _check_positive("aggressiveness", aggressiveness)

    def step(example: Example, model: _LinearLearner) -> tuple[float, Features | None]:
        loss = hinge(example.oracle, example.gold, *example.scores(model.weights), margin=margin)
        if loss.value > 0.0 and loss.structure is not None:
            numbers, values = subtract_features(example, example.gold, loss.structure)
            square = float(values @ values)
            if square > 0.0:
                return loss.value, (numbers, min(aggressiveness, loss.value / square) * values)
        return loss.value, None

    return train(_LinearLearner(examples, size, step), epochs, seed=seed)


def stochastic_gradient(
    examples: Sequence[Example],
    size: int,
    *,
    loss: Regularization | Margin = "gibbs",
    epochs: int = 5,
    rate: float = 0.2,
    seed: int = 0,
) -> Trained[Floats]:
    """Train weights by averaged adaptive stochastic gradients of a loss.

    Parameters
    ----------
    loss
        A Fenchel-Young loss (``"sparsemap"``, ``"gibbs"``, ``"beliefs"``, ``"perturbed"``) or a hinge (``"hamming"``,
        ``"zero_one"``, ``"none"``).
    rate
        Learning rate.
    """
    _check_positive("rate", rate)

    def step(example: Example, model: _LinearLearner) -> tuple[float, Features | None]:
        scores = example.scores(model.weights)
        if loss in ("sparsemap", "gibbs", "beliefs", "perturbed"):
            at = fenchel_young(example.oracle, example.gold, *scores, regularization=loss, seed=model.steps)
        else:
            at = hinge(example.oracle, example.gold, *scores, margin=loss)  # type: ignore[arg-type]
        numbers, values = example.joint(nonzero_entries(at.gradients))
        model.squares[numbers] += values * values
        return at.value, (numbers, -rate * (values / np.sqrt(model.squares[numbers])))

    return train(_LinearLearner(examples, size, step), epochs, seed=seed)


class _LinearLearner:
    """Weights for linear examples.  ``squares`` are sums of squared gradients."""

    batch = 1

    def __init__(self, examples: Sequence[Example], size: int, step: Step) -> None:
        self._examples, self._step, self.steps = examples, step, 0
        self._average, self.squares = AveragedWeights(np.zeros(size)), np.full(size, np.finfo(np.float64).tiny)

    @property
    def weights(self) -> Floats:
        """The present weights."""
        return self._average.weights

    def __len__(self) -> int:
        return len(self._examples)

    def learn(self, examples: Ints) -> tuple[float, float]:
        total = 0.0
        for k in examples.tolist():
            loss, change = self._step(self._examples[k], self)
            if change is not None:
                self._average.add(*change, self.steps)
            total += loss
            self.steps += 1
        return total, float(len(examples))

    def averaged(self) -> Floats:
        average: Floats = self._average.mean(self.steps)
        return average

    def state(self) -> dict[str, NDArray[Any]]:
        return {**self._average.state(), "squares": self.squares, "steps": np.array(self.steps)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._average.restore(arrays)
        self.squares[:], self.steps = arrays["squares"], int(arrays["steps"])


def _check_positive(name: str, value: float) -> None:
    if not 0.0 < value < np.inf:
        raise InputError(f"{name}: expected a number above 0, got {value}")
