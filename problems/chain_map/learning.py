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
"""Features that occur less often in the training data are not used."""


@dataclass(frozen=True, eq=False)
class Tagger(SavedModel):
    """A linear-chain tagger.

    Attributes
    ----------
    task
        What it tags, a name of :data:`colgen.problems.chain_map.corpus.TASKS`.
    tags
        Its labels.
    index
        Numbers of the features that it knows.
    weights
        Of features and tags; the keys are the numbers of the features.
    transitions
        Shape (tags, tags), row: the earlier tag.
    """

    kind = "chain_map"

    task: str
    tags: tuple[str, ...]
    index: dict[str, int] = field(repr=False)
    weights: FeatureWeights = field(repr=False)
    transitions: Floats = field(repr=False)

    @cached_property
    def pairwise(self) -> Pairwise:
        """The transitions with their bounds."""
        return Pairwise(self.transitions)

    @cached_property
    def extractor(self) -> Extractor:
        """Looks up the features of sentences."""
        return Extractor(self.index)

    def instance(self, sentences: Sequence[Sequence[str]], dtype: Any = np.float32) -> ChainInstance:
        """The scores of sentences, each a sequence of words.

        Raises
        ------
        InputError
            If there is no sentence, or one without words.
        """
        if not sentences or not all(sentences):
            raise InputError("expected one sentence or more, each of one word or more")
        scores = np.empty((sum(map(len, sentences)), len(self.tags)), dtype=np.float32)
        held = self.weights
        add_up_sparse(self.extractor.look_up(sentences), held.starts, held.labels, held.weights, scores)
        lengths = np.array([len(words) for words in sentences])
        words = tuple(word for words in sentences for word in words)
        return ChainInstance.of_lengths(lengths, scores.astype(dtype, copy=False), self.pairwise, self.tags, words)

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Tags of sentences: the best labellings as the oracle finds them.

        What an engine's run would say of them besides, that they are proved, takes five times as long as a short
        sentence; :func:`colgen.problems.chain_map.decode` of :meth:`instance` says it.
        """
        found, _ = SweepPricing(self.instance(sentences)).label()
        return [[self.tags[label] for label in labels.tolist()] for labels in found]

    def accuracy(self, sentences: Sequence[Tagged]) -> float:
        """Share of the tokens of tagged sentences that get their tag."""
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
            raise InputError(f"expected weights of {len(index)} features, not of {len(weights)}")
        return cls(str(about["task"]), tags, index, weights, transitions)

    @classmethod
    def of_dense(
        cls, task: str, tags: Sequence[str], index: dict[str, int], weights: Floats, transitions: Floats
    ) -> Tagger:
        """From weights of shape (features, tags), of which most are zero."""
        held = FeatureWeights.of_dense(np.arange(len(index)), weights, compact=False)
        return cls(task, tuple(tags), index, held, transitions.astype(np.float32))


@dataclass(frozen=True, eq=False)
class TaggedExamples:
    """Tagged sentences as arrays.

    Attributes
    ----------
    features
        Shape (tokens, kinds of features).
    starts
        Where sentences begin, and the number of tokens.
    gold
        Numbers of the tags.
    """

    tags: tuple[str, ...]
    index: dict[str, int]
    features: Ints
    starts: Offsets
    gold: Ints

    @classmethod
    def of(cls, sentences: Sequence[Tagged], tags: Sequence[str]) -> TaggedExamples:
        """Index the features of sentences; all their tags must be among ``tags``."""
        if not sentences:
            raise InputError("expected one tagged sentence or more to learn from")
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
    """Averaged structured perceptron (Collins, 2002), decoding with Viterbi's algorithm; a wrong tag is a loss of 1."""
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
    """Structured support vector machine with 0/1 loss, by averaged stochastic subgradients.

        min  λ_e/2 ‖emission weights‖² + λ_t/2 ‖transition weights‖² + Σ_k max(0, 1 + max_{y ≠ y_k} s(y) - s(y_k))

    s is the score of a labelling of sentence k, y_k the true one.  The margin oracle, max over y ≠ y_k, is column
    generation: the best labelling, or, where that is the true one, a second best that loses less than 1; no other
    can violate the margin, so that domains need to hold no more.  Progress counts sentences with a violated margin.

    Parameters
    ----------
    emission_l2, transition_l2
        λ_e and λ_t.  Stronger regularisation of transitions makes decoding faster: fewer labels are worth a look.
    batch
        Sentences whose subgradients are taken at once.
    """
    learner = _MarginLearner(examples, (emission_l2, transition_l2), epochs // 2, batch)
    weights, transitions = train(learner, epochs, seed=seed, name="margins", say=say).weights
    return Tagger.of_dense(task, examples.tags, examples.index, weights, transitions)


class _MarginLearner:
    """Emission and transition weights that take a subgradient step on a batch of sentences.

    Weights are a scale times an array, so that shrinking them all is one multiplication.  They are averaged from the
    pass ``first`` on: transitions after each step, and emissions, which are too many for that, after each pass.
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
        """Steps of a pass."""
        return -(-len(self) // self.batch)

    def learn(self, examples: Offsets) -> tuple[float, float]:
        tokens, starts = _tokens(self._examples.starts, examples)
        features, gold = self._examples.features[tokens], self._examples.gold[tokens]
        local = np.empty((len(tokens), self._weights.shape[1]), dtype=np.float32)
        add_up(features, self._weights, local)
        local *= np.float32(self._scales[0])
        pairwise = Pairwise(self._transitions * np.float32(self._scales[1]))
        found, violating = margin_violations(ChainInstance(chains(np.diff(starts)), local, pairwise), gold)
        rate = _FIRST_STEP / (1.0 + _FIRST_STEP * self._decay * (self._steps + 1))  # times decay below 1
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
"""Length of the first subgradient step, shared by the sentences of a batch."""


def margin_violations(instance: ChainInstance, gold: Ints, **options: Any) -> tuple[Ints, Offsets]:
    """The 0/1-loss oracle: for each chain the best labelling that is not the true one, if it comes within 1 of it.

    Returns
    -------
    labels, violating
        Of all nodes, and the numbers of the chains where the margin is violated.
    """
    found: Labellings = decode(instance, margin=1.0, **options)
    starts, labels = instance.forest.starts, found.labels.copy()
    wrong = np.add.reduceat((labels != gold).astype(np.int64), starts[:-1]) > 0
    second = found.runner_up
    assert second is not None  # a margin was asked for
    near = ~wrong & (second.values > found.values - 1.0)
    where = np.repeat(near, np.diff(starts))
    labels[where] = second.labels[where]
    values = instance.values(gold)
    late = np.where(wrong, found.values > values - 1.0, near)
    return labels, np.flatnonzero(late)


def _tokens(starts: Offsets, chosen: Offsets) -> tuple[Offsets, Offsets]:
    """The tokens of some sentences, one sentence after the other, and where these begin among them."""
    lengths = starts[chosen + 1] - starts[chosen]
    begins = np.concatenate([[0], np.cumsum(lengths)])
    return np.arange(begins[-1]) + np.repeat(starts[chosen] - begins[:-1], lengths), begins
