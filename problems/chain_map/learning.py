"""Taggers: linear chains whose scores are learned from tagged sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.learning.chains import ChainPerceptron
from colgen.learning.models import SavedModel
from colgen.learning.training import Say, train
from colgen.learning.weights import FeatureWeights, prefixed
from colgen.problems.chain_map.corpus import Tagged
from colgen.problems.chain_map.extraction import Extractor
from colgen.problems.chain_map.features import build_index
from colgen.problems.chain_map.instance import ChainInstance
from colgen.problems.chain_map.labellings import Labellings
from colgen.problems.chain_map.pairwise import Pairwise
from colgen.problems.chain_map.sweeping import SweepPricing
from colgen.problems.chain_map.template import decode
from colgen.solvers.arrays import as_floats
from colgen.solvers.chains.forest import chains
from colgen.solvers.chains.perceptron import add_difference, add_up, add_up_sparse

Floats = NDArray[Any]
Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]

_MIN_COUNT = 2
"""Rarer features of the training data are not used."""


@dataclass(frozen=True, eq=False)
class Tagger(SavedModel):
    """A linear-chain tagger."""

    kind = "chain_map"

    task: str  # a name of `colgen.problems.chain_map.corpus.TASKS`, or a column of CoNLL-U
    tags: tuple[str, ...]  # the labels
    index: dict[str, int] = field(repr=False)  # numbers of the features
    weights: FeatureWeights = field(repr=False)  # by feature number and tag
    transitions: Floats = field(repr=False)  # shape (tags, tags), row: the earlier tag

    @cached_property
    def pairwise(self) -> Pairwise:
        """The transitions with their bounds."""
        return Pairwise(self.transitions)

    @cached_property
    def extractor(self) -> Extractor:
        """The lookup of features."""
        return Extractor(self.index)

    def instance(self, sentences: Sequence[Sequence[str]], dtype: Any = np.float32) -> ChainInstance:
        """Return the instance of sentences, each a sequence of words.

        Raises
        ------
        InputError
            If there is no sentence, or one without words.
        """
        if not sentences or not all(sentences):
            raise InputError("expected at least one sentence, each with at least one word")
        scores = np.empty((sum(map(len, sentences)), len(self.tags)), dtype=np.float32)
        held = self.weights
        add_up_sparse(self.extractor.look_up(sentences), held.starts, held.labels, held.weights, scores)
        lengths = np.array([len(words) for words in sentences])
        words = tuple(word for words in sentences for word in words)
        return ChainInstance.from_lengths(lengths, scores.astype(dtype, copy=False), self.pairwise, self.tags, words)

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the tags of sentences: the best labellings of the oracle.

        A run of the engine also proves them, but takes five times as long on a short sentence. For that, call
        :func:`colgen.problems.chain_map.decode` on the result of :meth:`instance`.
        """
        found, _ = SweepPricing(self.instance(sentences)).label()
        return [[self.tags[label] for label in labels.tolist()] for labels in found]

    def accuracy(self, sentences: Sequence[Tagged]) -> float:
        """Return the share of tokens that get their correct tag."""
        found = [tag for tags in self.tag([sentence.words for sentence in sentences]) for tag in tags]
        gold = [tag for sentence in sentences for tag in sentence.tags]
        return sum(a == b for a, b in zip(found, gold, strict=True)) / len(gold)

    def data(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        about = {"task": self.task, "tags": self.tags, "features": list(self.index)}
        return about, {"transitions": self.transitions, **prefixed("emissions", self.weights.arrays())}

    @classmethod
    def from_data(cls, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Tagger:
        tags = tuple(map(str, about["tags"]))
        index = {str(name): k for k, name in enumerate(about["features"])}
        weights = FeatureWeights.from_arrays(arrays, "emissions", len(tags))
        transitions = as_floats(arrays["transitions"], "transitions", shape=(len(tags),) * 2, dtype=np.float32)
        if not tags or len(weights) != len(index):
            raise InputError(f"expected weights of {len(index)} features, got {len(weights)}")
        return cls(str(about["task"]), tags, index, weights, transitions)

    @classmethod
    def of_dense(
        cls, task: str, tags: Sequence[str], index: dict[str, int], weights: Floats, transitions: Floats
    ) -> Tagger:
        """Return a tagger with weights of shape (features, tags), most of which are zero."""
        held = FeatureWeights.of_dense(np.arange(len(index)), weights, compact=False)
        return cls(task, tuple(tags), index, held, transitions.astype(np.float32))


@dataclass(frozen=True, eq=False)
class TaggedExamples:
    """Tagged sentences as arrays."""

    tags: tuple[str, ...]
    index: dict[str, int]
    features: Ints  # shape (tokens, kinds of features)
    starts: Offsets  # first token of each sentence, and the number of tokens
    gold: Ints  # numbers of the correct tags

    @classmethod
    def of(cls, sentences: Sequence[Tagged], tags: Sequence[str]) -> TaggedExamples:
        """Index the features of sentences; ``tags`` must contain all their tags."""
        if not sentences:
            raise InputError("training needs at least one tagged sentence, got none")
        words = [sentence.words for sentence in sentences]
        index = build_index(words, _MIN_COUNT)
        numbers = {tag: k for k, tag in enumerate(tags)}
        gold = np.array([numbers[tag] for sentence in sentences for tag in sentence.tags], dtype=np.int32)
        starts = np.concatenate([[0], np.cumsum([len(w) for w in words])]).astype(np.int64)
        return cls(tuple(tags), index, Extractor(index).look_up(words), starts, gold)

    def __len__(self) -> int:
        return len(self.starts) - 1


def train_perceptron(
    task: str, examples: TaggedExamples, *, epochs: int = 8, seed: int = 0, say: Say = print
) -> Tagger:
    """Train an averaged structured perceptron (Collins, 2002) with Viterbi decoding and a loss of 1 per wrong tag."""
    num_features, num_tags = len(examples.index), len(examples.tags)
    learner = ChainPerceptron(examples.features, examples.starts, examples.gold, num_features, num_tags)
    weights, transitions = train(learner, epochs, seed=seed, name="perceptron", say=say).weights
    return Tagger.of_dense(task, examples.tags, examples.index, weights, transitions[0])


def train_svm(
    task: str,
    examples: TaggedExamples,
    *,
    emission_l2: float = 0.1,
    transition_l2: float = 0.1,
    epochs: int = 12,
    batch: int = 64,
    seed: int = 0,
    say: Say = print,
) -> Tagger:
    """Train a structured support vector machine with 0/1 loss by averaged stochastic subgradients.

        min  λ_e/2 ‖emission weights‖² + λ_t/2 ‖transition weights‖² + Σ_k max(0, 1 + max_{y ≠ y_k} s(y) - s(y_k))

    s(y) is the score of labelling y of sentence k, and y_k is the correct one. The margin oracle, max over y ≠ y_k, is
    column generation. It returns the best labelling or, if that is y_k, the second best if it loses less than 1. No
    other labelling can violate the margin, so the domains hold only these. Progress counts sentences with a violated
    margin.

    Parameters
    ----------
    emission_l2, transition_l2
        λ_e and λ_t. Stronger regularisation of transitions makes decoding faster, because fewer labels are priced.
    batch
        Sentences per subgradient step.
    """
    learner = _MarginLearner(examples, (emission_l2, transition_l2), epochs // 2, batch)
    weights, transitions = train(learner, epochs, seed=seed, name="margins", say=say).weights
    return Tagger.of_dense(task, examples.tags, examples.index, weights, transitions)


class _MarginLearner:
    """Emission and transition weights, updated by subgradient steps on batches of sentences.

    Weights are a scale times an array, so that shrinking them is one multiplication. They are averaged from the pass
    ``first`` on: transitions after each step, emissions, which are many, after each pass.
    """

    def __init__(self, examples: TaggedExamples, strengths: tuple[float, float], first: int, batch: int) -> None:
        self.batch, self._examples, self._first = batch, examples, first
        shape = (len(examples.index), len(examples.tags))
        self._decay, self._scales, self._steps = np.array(strengths) / len(examples), np.ones(2), 0
        self._weights, self._transitions = np.zeros(shape, dtype=np.float32), np.zeros(shape[1:] * 2, dtype=np.float32)
        self._average, self._transition_average = np.zeros_like(self._weights), np.zeros_like(self._transitions)

    def __len__(self) -> int:
        return len(self._examples)

    @property
    def _pass_steps(self) -> int:
        """Steps per pass."""
        return -(-len(self) // self.batch)

    def learn(self, examples: Offsets) -> tuple[float, float]:
        tokens, starts = _tokens(self._examples.starts, examples)
        features, gold = self._examples.features[tokens], self._examples.gold[tokens]
        local = np.empty((len(tokens), self._weights.shape[1]), dtype=np.float32)
        add_up(features, self._weights, local)
        local *= np.float32(self._scales[0])
        pairwise = Pairwise(self._transitions * np.float32(self._scales[1]))
        found, violating = margin_violations(ChainInstance(chains(np.diff(starts)), local, pairwise), gold)
        rate = _FIRST_STEP / (
            1.0 + _FIRST_STEP * self._decay * (self._steps + 1)
        )  # so that rate times decay is below 1
        self._scales *= 1.0 - rate * self._decay
        emission, transition = (rate / (self._scales * self.batch)).tolist()
        arrays = self._weights, self._transitions
        add_difference(features, starts, violating, gold, found, emission, transition, *arrays)
        if self._steps >= self._first * self._pass_steps:
            self._transition_average += np.float32(self._scales[1]) * self._transitions
            if (self._steps + 1) % self._pass_steps == 0:
                self._average += np.float32(self._scales[0]) * self._weights
        self._steps += 1
        return float(len(violating)), float(len(examples))

    def averaged(self) -> tuple[Floats, Floats]:
        steps = self._steps - self._first * self._pass_steps
        return self._average / (steps // self._pass_steps), self._transition_average / steps

    def state(self) -> dict[str, NDArray[Any]]:
        return {
            "weights": self._weights,
            "transitions": self._transitions,
            "average": self._average,
            "transition_average": self._transition_average,
            "scales": self._scales,
            "steps": np.array(self._steps),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        for name in self.state():
            if name != "steps":
                getattr(self, f"_{name}")[:] = arrays[name]
        self._steps = int(arrays["steps"])


_FIRST_STEP = 16.0
"""Length of the first subgradient step, divided among the sentences of a batch."""


def margin_violations(instance: ChainInstance, gold: Ints, **options: Any) -> tuple[Ints, Offsets]:
    """Solve the 0/1-loss oracle: the best incorrect labelling of each chain, if it scores within 1 of the correct one.

    Return the labels of all nodes, and the numbers of the chains with a violated margin.
    """
    found: Labellings = decode(instance, margin=1.0, **options)
    starts, labels = instance.forest.starts, found.labels.copy()
    wrong = np.add.reduceat((labels != gold).astype(np.int64), starts[:-1]) > 0
    second = found.runner_up
    assert second is not None  # because a margin is given
    near = ~wrong & (second.values > found.values - 1.0)
    where = np.repeat(near, np.diff(starts))
    labels[where] = second.labels[where]
    values = instance.values(gold)
    violated = np.where(wrong, found.values > values - 1.0, near)
    return labels, np.flatnonzero(violated)


def _tokens(starts: Offsets, chosen: Offsets) -> tuple[Offsets, Offsets]:
    """Return the tokens of some sentences, sentence by sentence, and the first of each in this order."""
    lengths = starts[chosen + 1] - starts[chosen]
    begins = np.concatenate([[0], np.cumsum(lengths)])
    return np.arange(begins[-1]) + np.repeat(starts[chosen] - begins[:-1], lengths), begins
