"""Taggers of characters: linear chains whose features are n-grams of codes around each character."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.learning.chains import ChainPerceptron
from colgen.learning.training import train
from colgen.learning.weights import FeatureWeights, prefixed
from colgen.problems.chain_map.instance import ChainInstance
from colgen.problems.chain_map.kernels.ngrams import fill_table, find_keys, write_keys
from colgen.problems.chain_map.pairwise import Pairwise
from colgen.problems.chain_map.sweeping import SweepPricing
from colgen.solvers.arrays import as_floats
from colgen.solvers.chains.perceptron import add_up_sparse

Singles = NDArray[np.float32]
Shorts = NDArray[np.int32]
Ints = NDArray[np.int64]

LEAST = 2
"""Rarer features of the training data are not used."""

_MARK = 1 << 21
"""Codes of clusters of several characters begin here, above all of Unicode."""

LONGEST = 5
"""Maximum length of an n-gram."""

WINDOWS = (
    (0, 0, 0),
    *((0, first, 1) for first in range(-3, 4)),
    *(
        (0, first, length)
        for length in range(2, LONGEST + 1)
        for first in range(max(-length, 1 - LONGEST), 2)
        if first + length < LONGEST + 1
    ),
    (1, 0, 1),
    (1, -1, 2),
    (1, 0, 2),
    (1, -1, 3),
)
"""Stream, distance of the first character, and length of each n-gram.

Stream 0 has characters, stream 1 their Unicode categories.
"""


@lru_cache(maxsize=1 << 16)
def _codes(character: str) -> tuple[int, int]:
    """Return the codes of a character or grapheme cluster: of its lower case, and of its Unicode category."""
    lower = character.lower()
    code = ord(lower[0])
    if len(lower) > 1:
        for other in lower[1:]:
            code = (code * 1_000_003 + ord(other)) % (1 << 40)
        code += _MARK
    first, second = unicodedata.category(character[0]).encode()
    return code, 256 * first + second


def _keys(texts: Sequence[Sequence[str]]) -> tuple[Ints, Ints]:
    """Return the keys of the features of all characters, shape (characters, windows), and the offsets of the texts."""
    offsets = np.concatenate([[0], np.cumsum([*map(len, texts)])]).astype(np.int64)
    codes = np.array([_codes(character) for text in texts for character in text], dtype=np.int64).reshape(-1, 2)
    keys = np.empty((len(codes), len(WINDOWS)), dtype=np.int64)
    write_keys(np.ascontiguousarray(codes.T), offsets, np.array(WINDOWS, dtype=np.int64), keys)
    return keys, offsets


@dataclass(frozen=True, eq=False)
class CharacterTagger:
    """A linear chain over the characters of a text, or over its grapheme clusters.

    ``num_labels`` labels are numbered from 0.  ``weights`` has the weights of features by key and label, and
    ``transitions`` those of neighbouring labels, row: the earlier one.
    """

    weights: FeatureWeights = field(repr=False)
    transitions: Singles = field(repr=False)

    @property
    def num_labels(self) -> int:
        return len(self.transitions)

    @cached_property
    def pairwise(self) -> Pairwise:
        """The transitions with their bounds."""
        return Pairwise(self.transitions)

    @cached_property
    def _table(self) -> tuple[Ints, Shorts]:
        size = 1 << max(4, (2 * len(self.weights)).bit_length())
        keys, numbers = np.full(size, -1, dtype=np.int64), np.full(size, -1, dtype=np.int32)
        fill_table(keys, numbers, self.weights.keys)
        return keys, numbers

    def instance(self, texts: Sequence[Sequence[str]]) -> ChainInstance:
        """Return the instance of texts, each a sequence of characters or grapheme clusters.

        Raises
        ------
        InputError
            If there is no text, or an empty one.
        """
        if not texts or not all(texts):
            raise InputError("expected at least one text, each with at least one character")
        wanted, offsets = _keys(texts)
        features = np.empty(wanted.shape, dtype=np.int32)
        find_keys(*self._table, wanted, features)
        scores = np.empty((len(features), self.num_labels), dtype=np.float32)
        held = self.weights
        add_up_sparse(features, held.starts, held.labels, held.weights, scores)
        return ChainInstance.from_lengths(np.diff(offsets), scores, self.pairwise)

    def tag(self, texts: Sequence[Sequence[str]]) -> list[list[int]]:
        """Return the number of the label of each character, by the best labelling of each text."""
        found, _ = SweepPricing(self.instance(texts)).label()
        return [labels.tolist() for labels in found]

    def data(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {"labels": self.num_labels}, {
            "transitions": self.transitions,
            **prefixed("emissions", self.weights.arrays()),
        }

    @classmethod
    def from_data(cls, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> CharacterTagger:
        num_labels = int(about["labels"])
        weights = FeatureWeights.from_arrays(arrays, "emissions", num_labels)
        transitions = as_floats(arrays["transitions"], "transitions", shape=(num_labels,) * 2, dtype=np.float32)
        return cls(weights, transitions)


def train_characters(
    texts: Sequence[Sequence[str]],
    labels: Sequence[Sequence[int]],
    *,
    epochs: int,
    seed: int = 0,
    say: Callable[[str], None] = print,
) -> CharacterTagger:
    """Train an averaged structured perceptron (Collins, 2002) on texts with the numbers of their characters' labels."""
    keys, offsets = _keys(texts)
    known, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    kept = counts >= LEAST
    numbers = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    features = np.ascontiguousarray(numbers[inverse.reshape(keys.shape)])
    gold = np.array([label for of_text in labels for label in of_text], dtype=np.int32)
    learner = ChainPerceptron(features, offsets, gold, int(kept.sum()), int(gold.max()) + 1)
    weights, transitions = train(learner, epochs, seed=seed, name="perceptron", say=say).weights
    return CharacterTagger(FeatureWeights.of_dense(known[kept], weights), transitions[0].astype(np.float32))
