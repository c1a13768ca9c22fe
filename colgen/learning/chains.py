"""A compiled averaged perceptron for labelled chains whose tokens have sparse features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.learning.weights import AveragedWeights, part, prefixed
from colgen.solvers.chains.perceptron import perceptron_pass

Singles = NDArray[np.float32]
Shorts = NDArray[np.int32]
Ints = NDArray[np.int64]


class ChainPerceptron:
    """A learner of labels: a chain is an example, a wrong label has a loss of 1.

    Parameters
    ----------
    features
        Features of all tokens, chain after chain, shape (tokens, features per token); -1 is no feature.
    offsets
        Start of each chain, and the end of the last one.
    gold
        The gold label of each token.
    num_features, num_labels
        Numbers of features and labels.
    kinds, num_kinds
        Kinds of the chains.  Each kind has its own transitions, including those to the first token.  By default all
        chains share transitions, and first tokens have none.
    """

    batch = 1024

    def __init__(
        self,
        features: Shorts,
        offsets: Ints,
        gold: Shorts,
        num_features: int,
        num_labels: int,
        kinds: Shorts | None = None,
        num_kinds: int = 1,
    ) -> None:
        self._examples = features, offsets, gold
        self._kinds = np.zeros(len(self), dtype=np.int32) if kinds is None else kinds
        rows = num_labels if kinds is None else num_labels + 1
        self._weights = AveragedWeights(np.zeros((num_features, num_labels), dtype=np.float32))
        self._transitions = AveragedWeights(np.zeros((num_kinds, rows, num_labels), dtype=np.float32))
        self._steps = 1

    def __len__(self) -> int:
        return len(self._examples[1]) - 1

    def learn(self, examples: Ints) -> tuple[float, float]:
        features, offsets, gold = self._examples
        weights, transitions = self._weights, self._transitions
        wrong = perceptron_pass(
            features,
            offsets,
            gold,
            self._kinds,
            examples,
            weights.weights.reshape(weights.shape),
            weights.sums.reshape(weights.shape),
            transitions.weights.reshape(transitions.shape),
            transitions.sums.reshape(transitions.shape),
            self._steps,
        )
        self._steps += len(examples)
        return float(wrong), float((offsets[examples + 1] - offsets[examples]).sum())

    def averaged(self) -> tuple[Singles, Singles]:
        """Return weights, shape (features, labels), and transitions, shape (kinds, labels, labels).

        If kinds of chains are given, transitions have one more row, for those to the first token.
        """
        return self._weights.mean(self._steps), self._transitions.mean(self._steps)

    def state(self) -> dict[str, NDArray[Any]]:
        both = prefixed("weights", self._weights.state()), prefixed("transitions", self._transitions.state())
        return {**both[0], **both[1], "steps": np.array(self._steps)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._weights.restore(part("weights", arrays))
        self._transitions.restore(part("transitions", arrays))
        self._steps = int(arrays["steps"])
