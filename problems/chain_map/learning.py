"""Taggers: linear chains whose scores are learned from tagged sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.array_files import reading
from colgen.core.errors import InputError
from colgen.core.files import writing
from colgen.problems.chain_map.corpus import Tagged
from colgen.problems.chain_map.extraction import Extractor
from colgen.problems.chain_map.features import build_index
from colgen.problems.chain_map.instance import ChainInstance
from colgen.problems.chain_map.kernels.perceptron import add_difference, add_up, add_up_sparse, epoch
from colgen.problems.chain_map.labellings import Labellings
from colgen.problems.chain_map.pairwise import Pairwise
from colgen.problems.chain_map.sweeping import SweepPricing
from colgen.problems.chain_map.template import decode
from colgen.solvers.arrays import as_floats, as_indices, as_offsets
from colgen.solvers.chains.forest import chains

Floats = NDArray[Any]
Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]

_VERSION = "colgen chain_map tagger 1"

_MIN_COUNT = 2
"""Features that occur less often in the training data are not used."""


@dataclass(frozen=True, eq=False)
class Tagger:
    """A linear-chain tagger.

    Attributes
    ----------
    task
        What it tags, a name of :data:`colgen.problems.chain_map.corpus.TASKS`.
    tags
        Its labels.
    index
        Numbers of the features that it knows.
    starts, labels, weights
        Weights of features in compressed rows: feature f scores the tags ``labels[k]`` by ``weights[k]``, k from
        ``starts[f]`` to ``starts[f + 1] - 1``.
    transitions
        Shape (tags, tags), row: the earlier tag.
    """

    task: str
    tags: tuple[str, ...]
    index: dict[str, int] = field(repr=False)
    starts: Offsets = field(repr=False)
    labels: Ints = field(repr=False)
    weights: Floats = field(repr=False)
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
        add_up_sparse(self.extractor.look_up(sentences), self.starts, self.labels, self.weights, scores)
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

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that it is, as arrays for a file."""
        return {
            "kind": np.array(_VERSION),
            "task": np.array(self.task),
            "tags": np.array(self.tags),
            "features": np.array("\n".join(self.index)),
            "starts": self.starts,
            "labels": self.labels,
            "weights": self.weights,
            "transitions": self.transitions,
        }

    def save(self, path: Path) -> None:
        """Write to one ``.npz`` file."""
        with writing(path, "wb") as file:
            np.savez_compressed(file, **self.arrays())  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: Path) -> Tagger:
        """Read what :meth:`save` wrote.

        Raises
        ------
        InputError
            If it is something else, or of another version.
        """
        with reading(path, "a tagger, as colgen train chain_map writes it") as arrays:
            tagger = cls.from_arrays(arrays, path)
        return tagger

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], path: Path) -> Tagger:
        """A tagger of what :meth:`arrays` gave; the path is for messages.

        Raises
        ------
        InputError
            If it is something else, or of another version.
        """
        if "kind" not in arrays or str(arrays["kind"]) != _VERSION:
            raise InputError(f"{path}: expected a tagger of this version, as colgen train chain_map writes it")
        text = str(arrays["features"])
        names = text.split("\n") if text or len(arrays["starts"]) != 1 else []
        tags = tuple(map(str, arrays["tags"].ravel().tolist()))
        weights = as_floats(arrays["weights"], "weights", shape=("weights",), dtype=np.float32)
        starts = as_offsets(arrays["starts"], "starts", total=len(weights))
        labels = as_indices(arrays["labels"], "labels", upper=len(tags), shape=weights.shape, dtype=np.int32)
        transitions = as_floats(arrays["transitions"], "transitions", shape=(len(tags),) * 2, dtype=np.float32)
        if not tags or len(starts) != len(names) + 1:
            raise InputError(f"{path}: expected weights of {len(names)} features, not of {len(starts) - 1}")
        index = {name: k for k, name in enumerate(names)}
        return cls(str(arrays["task"]), tags, index, starts, labels, weights, transitions)

    @classmethod
    def of_dense(
        cls, task: str, tags: Sequence[str], index: dict[str, int], weights: Floats, transitions: Floats
    ) -> Tagger:
        """From weights of shape (features, tags), of which most are zero."""
        features, labels = np.nonzero(weights)
        starts = np.searchsorted(features, np.arange(len(weights) + 1))
        values = weights[features, labels].astype(np.float32)
        return cls(task, tuple(tags), index, starts, labels.astype(np.int32), values, transitions.astype(np.float32))


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
    task: str, examples: TaggedExamples, *, epochs: int = 8, seed: int = 0, say: Callable[[str], None] = print
) -> Tagger:
    """Averaged structured perceptron (Collins, 2002), decoding with Viterbi's algorithm."""
    weights = np.zeros((len(examples.index), len(examples.tags)), dtype=np.float32)
    transitions = np.zeros((len(examples.tags),) * 2, dtype=np.float32)
    weight_sums, transition_sums = np.zeros_like(weights), np.zeros_like(transitions)
    rng, clock = np.random.default_rng(seed), 1
    for number in range(epochs):
        order = rng.permutation(len(examples))
        clock, mistakes = epoch(
            examples.features,
            examples.starts,
            examples.gold,
            order,
            weights,
            weight_sums,
            transitions,
            transition_sums,
            clock,
        )
        say(f"perceptron, pass {number + 1} of {epochs}: {mistakes / len(examples.gold):.2%} of the tokens wrong")
    weight_sums /= clock
    weights -= weight_sums
    return Tagger.of_dense(task, examples.tags, examples.index, weights, transitions - transition_sums / clock)


def train_svm(
    task: str,
    examples: TaggedExamples,
    *,
    emission_l2: float = 0.1,
    transition_l2: float = 0.1,
    epochs: int = 12,
    batch: int = 64,
    seed: int = 0,
    say: Callable[[str], None] = print,
) -> Tagger:
    """Structured support vector machine with 0/1 loss, by averaged stochastic subgradients.

        min  λ_e/2 ‖emission weights‖² + λ_t/2 ‖transition weights‖² + Σ_k max(0, 1 + max_{y ≠ y_k} s(y) - s(y_k))

    s is the score of a labelling of sentence k, y_k the true one.  The margin oracle, max over y ≠ y_k, is column
    generation: the best labelling, or, where that is the true one, a second best that loses less than 1; no other
    can violate the margin, so that domains need to hold no more.

    Parameters
    ----------
    emission_l2, transition_l2
        λ_e and λ_t.  Stronger regularisation of transitions makes decoding faster: fewer labels are worth a look.
    batch
        Sentences whose subgradients are taken at once.
    """
    num = len(examples)
    shape = (len(examples.index), len(examples.tags))
    # Weights are stored as a scale times an array, so that shrinking them all is one multiplication.
    scales = np.ones(2)
    decay = np.array([emission_l2, transition_l2]) / num
    weights, transitions = np.zeros(shape, dtype=np.float32), np.zeros((shape[1],) * 2, dtype=np.float32)
    average, transition_average, count = np.zeros_like(weights), np.zeros_like(transitions), 0
    rng, step_number = np.random.default_rng(seed), 0
    scores = np.empty((1, shape[1]), dtype=np.float32)
    for number in range(epochs):
        violated, order = 0, rng.permutation(num)
        for begin in range(0, num, batch):
            chosen = order[begin : begin + batch]
            tokens, starts = _tokens(examples.starts, chosen)
            if len(scores) < len(tokens):
                scores = np.empty((len(tokens), shape[1]), dtype=np.float32)
            local = scores[: len(tokens)]
            features, gold = examples.features[tokens], examples.gold[tokens]
            add_up(features, weights, local)
            local *= np.float32(scales[0])
            pairwise = Pairwise(transitions * np.float32(scales[1]))
            instance = ChainInstance(chains(np.diff(starts)), local, pairwise)
            found, violating = margin_violations(instance, gold)
            violated += len(violating)
            rate = _FIRST_STEP / (1.0 + _FIRST_STEP * decay * (step_number + 1))  # times decay below 1
            scales *= 1.0 - rate * decay
            steps = rate / (scales * batch)
            add_difference(
                features, starts, violating, gold, found, float(steps[0]), float(steps[1]), weights, transitions
            )
            step_number += 1
            if number >= epochs // 2:
                transition_average += np.float32(scales[1]) * transitions
        if number >= epochs // 2:
            # Emission weights are too many to add up after each step.
            average += np.float32(scales[0]) * weights
            count += 1
        say(f"margins, pass {number + 1} of {epochs}: {violated / num:.1%} of the sentences within their margin")
    steps_averaged = count * -(-num // batch)
    return Tagger.of_dense(task, examples.tags, examples.index, average / count, transition_average / steps_averaged)


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
