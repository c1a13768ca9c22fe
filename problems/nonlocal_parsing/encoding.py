"""Codes of sentences, found faster.

They are those of :meth:`~problems.dependency.features.vocabulary.Vocabulary.encode`.

What a token says by itself is looked up once for each word with its tags, and kept; conjunctions with its neighbours
are joined from the codes of their single attributes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from problems.dependency.features.hashed_keys import claim_all, room_for_keys
from problems.dependency.features.joined_keys import find_joined
from problems.dependency.features.vocabulary import CONJUNCTIONS, EDGE, C, Encoded, Vocabulary
from problems.dependency.sentence import Sentence

_MOST_KEPT = 1 << 18
"""Words whose codes are kept."""

_NAME = re.compile(r"(.*?)([+-]\d)?")


_Word = tuple[str, str, str, str, tuple[tuple[str, str], ...]]
"""Form, lemma, coarse and fine tag, morphology."""


class Encoder:
    """Encodes the sentences of a vocabulary.

    Parameters
    ----------
    vocabulary
        It must have every single attribute that conjunctions with neighbours name.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        values = vocabulary.values()
        parsed = [[_split(name) for name in conjunction] for conjunction in CONJUNCTIONS]
        self._joined = [k for k, names in enumerate(parsed) if any(shift for _, shift in names)]
        bases = sorted({name for k in self._joined for name, _ in parsed[k]})
        self._bases = [CONJUNCTIONS.index((base,)) for base in bases]
        known = [{text: code for code, (text,) in enumerate(values[base])} for base in self._bases]
        for codes in known:
            codes[EDGE] = len(codes)
        self._edges = np.array([codes[EDGE] for codes in known], dtype=np.int64)
        self._radix = self._edges + 1
        width = max(len(parsed[k]) for k in self._joined)
        self._attributes = np.full((len(self._joined), width), -1, dtype=np.int64)
        self._shifts = np.zeros_like(self._attributes)
        offset, offsets = 0, []  # Python's whole numbers do not overflow
        keys: list[NDArray[np.int64]] = []
        for row, k in enumerate(self._joined):
            several = np.zeros(len(values[k]), dtype=np.int64)
            for position, (name, shift) in enumerate(parsed[k]):
                attribute = bases.index(name)
                self._attributes[row, position], self._shifts[row, position] = attribute, shift
                several *= self._radix[attribute]
                several += [known[attribute][value[position]] for value in values[k]]
            offsets.append(offset)
            offset += math.prod(int(self._radix[bases.index(name)]) for name, _ in parsed[k])
            if offset >= 2**63:
                raise OverflowError("too many attribute values: the keys of conjunctions do not fit into 63 bits")
            keys.append(offsets[-1] + several)
        self._offsets = np.array(offsets, dtype=np.int64)
        self._keys = room_for_keys(sum(map(len, keys)))
        self._numbers = np.empty(len(self._keys), dtype=np.int32)
        for of_list in keys:
            self._numbers[claim_all(self._keys, of_list)] = np.arange(len(of_list))
        ends = vocabulary.encode(Sentence(("_",))).codes
        self._ends = ends[:, [0, 2, 3]]
        self._known: dict[_Word, int] = {}
        self._codes = np.empty((1 << 10, len(CONJUNCTIONS)), dtype=np.int32)

    def encode(self, sentence: Sentence) -> Encoded:
        """The codes of a sentence."""
        if len(self._known) + len(sentence) > _MOST_KEPT:
            self._known.clear()
        morphology = (tuple(of_token.items()) for of_token in sentence.morphology)
        columns = (sentence.forms, sentence.lemmas, sentence.coarse, sentence.fine, morphology)
        words = list(zip(*columns, strict=True))
        fresh = [word for word in dict.fromkeys(words) if word not in self._known]
        if fresh:
            self._learn(fresh)
        kept = self._codes[[self._known[word] for word in words]]
        width = len(words) + 3
        codes = np.empty((len(CONJUNCTIONS), width), dtype=np.int32)
        codes[:, 0], codes[:, width - 2], codes[:, width - 1] = self._ends.T
        codes[:, 1 : width - 2] = kept.T
        codes[self._joined, 1 : width - 2] = find_joined(
            np.ascontiguousarray(codes[self._bases, 1 : width - 2]),
            self._edges,
            self._attributes,
            self._shifts,
            self._radix,
            self._offsets,
            self._keys,
            self._numbers,
        )
        tags = codes[C].astype(np.int64)
        tags[tags < 0] = self.vocabulary.num_tags - 1
        return Encoded(codes, tags)

    def _learn(self, words: Sequence[_Word]) -> None:
        """Keep the codes of words, found in a sentence of them in any order: what neighbours say is not kept."""
        forms, lemmas, coarse, fine, morphology = zip(*words, strict=True)
        together = Sentence(forms, lemmas, coarse, fine, tuple(map(dict, morphology)))
        first, end = len(self._known), len(self._known) + len(words)
        while end > len(self._codes):
            self._codes = np.concatenate([self._codes, np.empty_like(self._codes)])
        self._codes[first:end] = self.vocabulary.encode(together).codes[:, 1:-2].T
        self._known.update(zip(words, range(first, end), strict=True))


def _split(name: str) -> tuple[str, int]:
    """Name of an attribute, and which neighbour's it is."""
    match = _NAME.fullmatch(name)
    assert match is not None  # everything matches
    return match[1], int(match[2] or 0)
