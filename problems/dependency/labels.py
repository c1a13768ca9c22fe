"""Relations of tokens to their heads: learned, and predicted for a given tree.

The relations of a head's modifiers, from left to right, maximise the sum of unary scores and of scores of neighbouring
pairs, found exactly by a dynamic program.  The tree is found first.  Scoring relations of all arcs in advance would
take longer than parsing (fifty relations, forty features and n² arcs per sentence), and two stages are known to lose no
measurable accuracy.

Source: R. McDonald, K. Lerman, F. Pereira, *Multilingual dependency analysis with a two-stage discriminative parser*,
CoNLL (2006), for the second stage; an averaged perceptron in place of its learner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.learning.chains import ChainPerceptron
from colgen.learning.training import Say, train
from colgen.learning.weights import FeatureWeights, prefixed
from colgen.problems.dependency.features.label_scores import (
    BESIDE,
    HEAD,
    LEFT,
    PLACES,
    RIGHT,
    SIDES,
    LabelIndex,
    Templates,
    keys_of_tree,
    label_index,
    label_tree,
)
from colgen.problems.dependency.features.vocabulary import (
    FT,
    LC,
    NL,
    PCN,
    PL,
    PPT,
    PTN,
    SLOTS,
    TNN,
    C,
    Encoded,
    F,
    M,
    S,
    T,
    Vocabulary,
    _0,
)
from colgen.problems.dependency.sentence import Sentence
from colgen.solvers.arrays import as_floats

Ints = NDArray[np.int64]
Singles = NDArray[np.float32]

_OF_HEADS: tuple[tuple[int, int, int], ...] = (
    # the position only; one token
    (_0, _0, PLACES),
    *((c, _0, SIDES) for c in (T, F, LC, M, PTN)),
    *((_0, c, SIDES) for c in (T, F, LC, FT, M, S, PTN, PPT, TNN, PL, NL)),
    # both tokens
    *((C, C, PLACES), (T, T, PLACES), (LC, C, SIDES), (C, LC, SIDES), (LC, LC, SIDES), (F, T, SIDES), (T, F, SIDES)),
    *((T, FT, SIDES), (M, M, SIDES), (C, M, SIDES), (M, C, SIDES), (C, S, SIDES), (S, C, SIDES), (LC, M, SIDES)),
    # both tokens with their neighbours
    *((T, PTN, SIDES), (PTN, T, SIDES), (PCN, PCN, SIDES), (C, PL, SIDES), (C, NL, SIDES), (LC, PCN, SIDES)),
    # morphology, agreement
    *((C, slot, SIDES) for slot in SLOTS),
    *((slot, slot, SIDES) for slot in SLOTS),
)
"""Conjunctions of head and modifier, and the resolution of the modifier's position."""

_OF_OTHERS: tuple[tuple[int, int], ...] = ((_0, T), (T, T), (LC, T), (LC, _0), (LC, LC), (T, LC))
"""Conjunctions of another relative and of the modifier: a preposition or conjunction indicates the phrase type."""

LABEL_TEMPLATES: tuple[tuple[int, int, int, int], ...] = (
    *((a, b, places, HEAD) for a, b, places in _OF_HEADS),
    *((a, b, SIDES, relative) for relative in (LEFT, RIGHT, BESIDE) for a, b in _OF_OTHERS),
)
"""Features: two conjunctions, the resolution of the position, and the relative that the first belongs to."""

LEAST = 2
"""Minimum number of occurrences in gold trees for a feature to get weights."""

EPOCHS = 10


@dataclass(frozen=True, eq=False)
class Labels:
    """Learned scores of relations; ``sizes`` is :attr:`Vocabulary.sizes`.

    ``transitions`` are weights by the coarse tag of the head, the relation of the previous modifier (last position:
    none), and the relation of the modifier.
    """

    relations: tuple[str, ...]
    sizes: Ints
    weights: FeatureWeights
    transitions: Singles

    @cached_property
    def _index(self) -> LabelIndex:
        return label_index(templates_of(LABEL_TEMPLATES, self.sizes), self.weights, self.transitions)

    def of(self, encoded: Encoded, heads: Sequence[int]) -> tuple[str, ...]:
        """Return the best relations of a tree's arcs, one per token."""
        vertices = np.array([-1, *heads], dtype=np.int64)
        found = label_tree(encoded.codes, encoded.tags, self._index, vertices)
        return tuple(self.relations[k] for k in found.tolist())

    def arrays(self) -> dict[str, NDArray[Any]]:
        return prefixed("labels", {**self.weights.arrays(), "transitions": self.transitions})

    @staticmethod
    def from_arrays(names: Sequence[str], arrays: Mapping[str, NDArray[Any]], vocabulary: Vocabulary) -> Labels:
        """Return the labels from a model's file; raise :class:`InputError` if the arrays do not fit."""
        relations = tuple(map(str, names))
        weights = FeatureWeights.from_arrays(arrays, "labels", len(relations))
        shape = (vocabulary.num_tags, len(relations) + 1, len(relations))
        transitions = as_floats(arrays["labels.transitions"], "labels.transitions", shape=shape, dtype=np.float32)
        return Labels(relations, vocabulary.sizes, weights, transitions)


def templates_of(templates: Sequence[tuple[int, int, int, int]], sizes: Ints) -> Templates:
    """Return templates in the form that kernels use, with the first key of each."""
    joined = np.array(templates, dtype=np.int64)
    counts = [int(sizes[a]) * int(sizes[b]) * places for a, b, places, _ in templates]
    return Templates(joined, sizes[joined[:, 1]], np.cumsum([0, *counts[:-1]], dtype=np.int64))


def learn_labels(
    sentences: Sequence[Sentence],
    encoded: Sequence[Encoded],
    vocabulary: Vocabulary,
    *,
    epochs: int = EPOCHS,
    seed: int = 0,
    say: Say | None = None,
) -> Labels | None:
    """Return relation weights from annotated sentences, by an averaged perceptron; None without relations.

    ``encoded`` holds the sentences' codes in the given vocabulary.
    """
    annotated = [
        (s, e) for s, e in zip(sentences, encoded, strict=True) if s.relations is not None and s.heads is not None
    ]
    if not annotated:
        return None
    names = sorted({relation for sentence, _ in annotated for relation in sentence.relations or ()})
    number = {name: k for k, name in enumerate(names)}
    sizes = vocabulary.sizes
    templates = templates_of(LABEL_TEMPLATES, sizes)
    keys = np.empty((sum(len(e) for _, e in annotated), len(LABEL_TEMPLATES)), dtype=np.int64)
    right, sizes_of_rows, tags, arranged = np.empty(len(keys), dtype=np.int32), [], [], []
    at = 0
    for sentence, of in annotated:
        heads = np.array([-1, *(sentence.heads or ())], dtype=np.int64)
        n = len(of)
        keys_of_tree(of.codes, templates, heads, keys[at : at + n])
        right[at : at + n] = [number[relation] for relation in sentence.relations or ()]
        arranged.append(at + np.argsort(heads[1:], kind="stable"))
        parents, counts = np.unique(heads[1:], return_counts=True)
        sizes_of_rows.append(counts)
        tags.append(of.tags[parents])
        at += n
    places = np.concatenate(arranged)
    starts = np.cumsum(np.concatenate([[0], *sizes_of_rows]), dtype=np.int64)
    known, features = number_features(keys, places)
    del keys
    kinds = np.concatenate(tags).astype(np.int32)
    learner = ChainPerceptron(features, starts, right[places], len(known), len(names), kinds, vocabulary.num_tags)
    weights, transitions = train(learner, epochs, seed=seed, name="relations", say=say).weights
    return Labels(tuple(names), sizes, FeatureWeights.of_dense(known, weights), transitions)


def number_features(keys: Ints, places: Ints) -> tuple[Ints, NDArray[np.int32]]:
    """Return the keys that occur at least :data:`LEAST` times, and their indices in the rows ``places`` (-1: rarer).

    Templates are processed one at a time, which limits memory to that of one template.
    """
    features, known, count = np.full((len(places), keys.shape[1]), -1, dtype=np.int32), [], 0
    for t in range(keys.shape[1]):
        column = keys[:, t]
        every, counts = np.unique(column, return_counts=True)
        often = every[(counts >= LEAST) & (every >= 0)]
        if len(often):
            column = column[places]
            where = np.minimum(np.searchsorted(often, column), len(often) - 1)
            features[:, t] = np.where(often[where] == column, count + where, -1)
        known.append(often)
        count += len(often)
    return np.concatenate(known), features
