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
from colgen.problems.chain_map.kernels.ngrams import (
    fill_table,
    find_keys,
    match_words,
    write_keys,
    write_word_keys,
)
from colgen.problems.chain_map.pairwise import Pairwise
from colgen.problems.chain_map.sweeping import SweepPricing
from colgen.solvers.arrays import as_floats, as_integers
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
    *((stream, first, length) for stream in (2, 3, 4) for first, length in ((0, 1), (-1, 2), (0, 2))),
    (5, 0, 1),
    (5, -1, 2),
)
"""Stream, distance of the first character, and length of each n-gram.

Stream 0 has characters, stream 1 their Unicode categories.  Streams 2 to 4 have the lengths of the dictionary's longest
words that begin at a character, end before it, and have it inside; stream 5 has all three.
"""

LONGEST_WORD = 12
"""Maximum length of a word of the dictionary."""

FOLDS = 4
"""Number of parts of the training texts.  Words of a part are unknown in it, unless they also occur in other parts."""


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


@dataclass(frozen=True, eq=False)
class _Characters:
    """The codes of the characters of all texts, shape (2, characters), and the offsets of the texts."""

    codes: Ints
    offsets: Ints

    @staticmethod
    def of(texts: Sequence[Sequence[str]]) -> _Characters:
        offsets = np.concatenate([[0], np.cumsum([*map(len, texts)])]).astype(np.int64)
        codes = np.array([_codes(character) for text in texts for character in text], dtype=np.int64).reshape(-1, 2)
        return _Characters(np.ascontiguousarray(codes.T), offsets)

    def words(self) -> Ints:
        """Return the key of each text as a word."""
        keys = np.empty(len(self.offsets) - 1, dtype=np.int64)
        write_word_keys(self.codes[0], self.offsets, keys)
        return keys

    def keys(self, words: Ints) -> Ints:
        """Return the keys of the features, shape (characters, windows), with the table of the dictionary's keys."""
        streams = np.zeros((6, self.codes.shape[1]), dtype=np.int64)
        streams[:2] = self.codes
        match_words(self.codes[0], self.offsets, words, LONGEST_WORD, streams[2:5])
        streams[5] = (streams[2] << 16) + (streams[3] << 8) + streams[4]
        keys = np.empty((streams.shape[1], len(WINDOWS)), dtype=np.int64)
        write_keys(streams, self.offsets, np.array(WINDOWS, dtype=np.int64), keys)
        return keys


def _table(keys: Ints) -> tuple[Ints, Shorts]:
    """Return a hash table of keys: the key of each slot, -1 if empty, and its number."""
    size = 1 << max(4, (2 * len(keys)).bit_length())
    slots, numbers = np.full(size, -1, dtype=np.int64), np.full(size, -1, dtype=np.int32)
    fill_table(slots, numbers, keys)
    return slots, numbers


@dataclass(frozen=True, eq=False)
class CharacterTagger:
    """A linear chain over the characters of a text, or over its grapheme clusters.

    ``num_labels`` labels are numbered from 0.  ``weights`` has the weights of features by key and label,
    ``transitions`` those of neighbouring labels, row: the earlier one.  ``words`` has the keys of a dictionary.
    """

    weights: FeatureWeights = field(repr=False)
    transitions: Singles = field(repr=False)
    words: Ints = field(repr=False)

    @property
    def num_labels(self) -> int:
        return len(self.transitions)

    @cached_property
    def pairwise(self) -> Pairwise:
        """The transitions with their bounds."""
        return Pairwise(self.transitions)

    @cached_property
    def _tables(self) -> tuple[Ints, tuple[Ints, Shorts]]:
        """The tables of the dictionary and of the features."""
        return _table(self.words)[0], _table(self.weights.keys)

    def instance(self, texts: Sequence[Sequence[str]]) -> ChainInstance:
        """Return the instance of texts, each a sequence of characters or grapheme clusters.

        Raises
        ------
        InputError
            If there is no text, or an empty one.
        """
        if not texts or not all(texts):
            raise InputError("expected at least one text, each with at least one character")
        characters = _Characters.of(texts)
        words, table = self._tables
        wanted = characters.keys(words)
        features = np.empty(wanted.shape, dtype=np.int32)
        find_keys(*table, wanted, features)
        scores = np.empty((len(features), self.num_labels), dtype=np.float32)
        held = self.weights
        add_up_sparse(features, held.starts, held.labels, held.weights, scores)
        return ChainInstance.from_lengths(np.diff(characters.offsets), scores, self.pairwise)

    def tag(self, texts: Sequence[Sequence[str]]) -> list[list[int]]:
        """Return the number of the label of each character, by the best labelling of each text."""
        found, _ = SweepPricing(self.instance(texts)).label()
        return [labels.tolist() for labels in found]

    def data(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        arrays: dict[str, NDArray[Any]] = {"transitions": self.transitions, "words": self.words}
        return {"labels": self.num_labels}, {**arrays, **prefixed("emissions", self.weights.arrays())}

    @classmethod
    def from_data(cls, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> CharacterTagger:
        num_labels = int(about["labels"])
        weights = FeatureWeights.from_arrays(arrays, "emissions", num_labels)
        transitions = as_floats(arrays["transitions"], "transitions", shape=(num_labels,) * 2, dtype=np.float32)
        words = as_integers(arrays["words"], "words", shape=("words",), low=0)
        return cls(weights, transitions, words)


def train_characters(
    texts: Sequence[Sequence[str]],
    labels: Sequence[Sequence[int]],
    words: Sequence[Sequence[Sequence[str]]] = (),
    *,
    epochs: int,
    seed: int = 0,
    say: Callable[[str], None] = print,
) -> CharacterTagger:
    """Train an averaged structured perceptron (Collins, 2002) with Viterbi decoding and a loss of 1 per wrong label.

    Parameters
    ----------
    texts, labels
        Characters of each text, and the numbers of their labels.
    words
        The words of each text, sequences of characters that enter the dictionary.  By default it is empty.
    """
    characters = _Characters.of(texts)
    own, fold_of = _dictionary(words)
    if len(own):
        keys = np.empty((len(characters.codes[0]), len(WINDOWS)), dtype=np.int64)
        of_character = np.repeat(np.arange(len(texts)) % FOLDS, np.diff(characters.offsets))
        for fold in range(FOLDS):
            chosen = of_character == fold
            keys[chosen] = characters.keys(_table(np.unique(own[fold_of != fold]))[0])[chosen]
    else:
        keys = characters.keys(_table(own)[0])
    features, known = _number(keys)
    gold = np.array([label for of_text in labels for label in of_text], dtype=np.int32)
    learner = ChainPerceptron(features, characters.offsets, gold, len(known), int(gold.max()) + 1)
    weights, transitions = train(learner, epochs, seed=seed, name="perceptron", say=say).weights
    held = FeatureWeights.of_dense(known, weights)
    return CharacterTagger(held, transitions[0].astype(np.float32), np.unique(own))


def _dictionary(words: Sequence[Sequence[Sequence[str]]]) -> tuple[Ints, Ints]:
    """Return the keys of the words of all texts that are not too long, and the fold of each."""
    short = [[word for word in of_text if len(word) <= LONGEST_WORD] for of_text in words]
    folds = np.repeat(np.arange(len(short)) % FOLDS, np.array([*map(len, short)], dtype=np.int64))
    return _Characters.of([word for of_text in short for word in of_text]).words(), folds


def _number(keys: Ints) -> tuple[Shorts, Ints]:
    """Return the number of each feature, -1 if it is rare, and the keys of the numbers, ascending."""
    known, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    kept = counts >= LEAST
    numbers = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    return np.ascontiguousarray(numbers[inverse.reshape(keys.shape)]), known[kept]
