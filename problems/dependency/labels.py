"""What tokens are to their heads: relations of a tree's arcs, learned and found.

The relations of one head's modifiers, from left to right, are those of the largest sum of what each scores and of what
each two neighbours score, found exactly by a dynamic program.  The tree is found first, by itself.  To score relations
of all arcs beforehand, for the tree to be chosen by them as well, would take longer than all of parsing (fifty
relations, forty features and n² arcs a sentence); two stages are known to lose nothing that can be measured.

Source: R. McDonald, K. Lerman, F. Pereira, *Multilingual dependency analysis with a two-stage discriminative parser*,
CoNLL (2006), for the second stage; an averaged perceptron in place of its learner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.problems.dependency.features.label_scores import (
    BESIDE,
    HEAD,
    LEFT,
    PLACES,
    RIGHT,
    SIDES,
    LabelIndex,
    LabelScores,
    Templates,
    keys_of_tree,
    label_index,
    label_tree,
    learn_rows,
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
from colgen.solvers.arrays import as_floats, as_indices, as_integers

Ints = NDArray[np.int64]

_OF_HEADS: tuple[tuple[int, int, int], ...] = (
    # the place alone; one token
    (_0, _0, PLACES),
    *((c, _0, SIDES) for c in (T, F, LC, M, PTN)),
    *((_0, c, SIDES) for c in (T, F, LC, FT, M, S, PTN, PPT, TNN, PL, NL)),
    # both tokens
    *((C, C, PLACES), (T, T, PLACES), (LC, C, SIDES), (C, LC, SIDES), (LC, LC, SIDES), (F, T, SIDES), (T, F, SIDES)),
    *((T, FT, SIDES), (M, M, SIDES), (C, M, SIDES), (M, C, SIDES), (C, S, SIDES), (S, C, SIDES), (LC, M, SIDES)),
    # both tokens, with what is around them
    *((T, PTN, SIDES), (PTN, T, SIDES), (PCN, PCN, SIDES), (C, PL, SIDES), (C, NL, SIDES), (LC, PCN, SIDES)),
    # morphology, agreement
    *((C, slot, SIDES) for slot in SLOTS),
    *((slot, slot, SIDES) for slot in SLOTS),
)
"""Conjunctions of head and modifier, and what is known of the modifier's place."""

_OF_OTHERS: tuple[tuple[int, int], ...] = ((_0, T), (T, T), (LC, T), (LC, _0), (LC, LC), (T, LC))
"""Conjunctions of another relative and of the modifier: a preposition or a conjunction says what its phrase is."""

LABEL_TEMPLATES: tuple[tuple[int, int, int, int], ...] = (
    *((a, b, places, HEAD) for a, b, places in _OF_HEADS),
    *((a, b, SIDES, relative) for relative in (LEFT, RIGHT, BESIDE) for a, b in _OF_OTHERS),
)
"""What features join: two conjunctions, what is known of the place, and whose the first is."""

LEAST = 2
"""So often the right trees must have a feature for it to get weights."""

EPOCHS = 10


@dataclass(frozen=True, eq=False)
class Labels:
    """Learned scores of relations.

    Attributes
    ----------
    relations
        Their names.
    sizes
        How many codes each conjunction has (:attr:`~colgen.problems.dependency.features.vocabulary.Vocabulary.sizes`).
    scores
        The weights.
    """

    relations: tuple[str, ...]
    sizes: Ints
    scores: LabelScores

    @cached_property
    def _index(self) -> LabelIndex:
        return label_index(templates_of(LABEL_TEMPLATES, self.sizes), self.scores)

    def of(self, encoded: Encoded, heads: Sequence[int]) -> tuple[str, ...]:
        """The best relations of a tree's arcs, one a token."""
        vertices = np.array([-1, *heads], dtype=np.int64)
        found = label_tree(encoded.codes, encoded.tags, self._index, vertices)
        return tuple(self.relations[k] for k in found.tolist())

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """What a model's file keeps besides the names."""
        return {f"labels.{name}": array for name, array in self.scores._asdict().items()}

    @staticmethod
    def from_arrays(names: Sequence[str], arrays: Mapping[str, NDArray[Any]], vocabulary: Vocabulary) -> Labels:
        """Labels from a model's file.

        Raises
        ------
        InputError
            If the arrays are of something else.
        """
        relations = tuple(map(str, names))
        keys = as_integers(arrays["labels.keys"], "labels.keys", shape=("features",), low=0)
        starts = as_integers(arrays["labels.starts"], "labels.starts", shape=(len(keys) + 1,), low=0)
        total = int(starts[-1])
        if starts[0] or (np.diff(starts) < 0).any() or (np.diff(keys) <= 0).any():
            raise InputError("labels: expected keys in ascending order, and where the weights of each begin")
        which = as_indices(arrays["labels.relations"], "labels.relations", upper=len(relations), shape=(total,))
        weights = as_floats(arrays["labels.weights"], "labels.weights", shape=(total,), dtype=np.float32)
        shape = (vocabulary.num_tags, len(relations) + 1, len(relations))
        transitions = as_floats(arrays["labels.transitions"], "labels.transitions", shape=shape, dtype=np.float32)
        return Labels(relations, vocabulary.sizes, LabelScores(keys, starts, which, weights, transitions))


def templates_of(templates: Sequence[tuple[int, int, int, int]], sizes: Ints) -> Templates:
    """Templates as kernels take them, and how their features are numbered."""
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
    say: Callable[[str], None] | None = None,
) -> Labels | None:
    """Weights of relations from annotated sentences, by an averaged perceptron; None if no sentence tells any.

    Parameters
    ----------
    encoded
        The sentences' codes.
    vocabulary
        Theirs.
    """
    told = [(s, e) for s, e in zip(sentences, encoded, strict=True) if s.relations is not None and s.heads is not None]
    if not told:
        return None
    names = sorted({relation for sentence, _ in told for relation in sentence.relations or ()})
    number = {name: k for k, name in enumerate(names)}
    sizes = vocabulary.sizes
    templates = templates_of(LABEL_TEMPLATES, sizes)
    keys = np.empty((sum(len(e) for _, e in told), len(LABEL_TEMPLATES)), dtype=np.int64)
    right, sizes_of_rows, tags, arranged = np.empty(len(keys), dtype=np.int64), [], [], []
    at = 0
    for sentence, of in told:
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
    known, features = numbered(keys, places)
    del keys
    learned = _Perceptron(len(known), len(names), vocabulary.num_tags)
    rng, tokens = np.random.default_rng(seed), len(places)
    for epoch in range(1, epochs + 1):
        wrong = learned.run(rng.permutation(len(starts) - 1), starts, np.concatenate(tags), features, right[places])
        if say is not None:
            say(f"relations, epoch {epoch} of {epochs}: {100 * (1 - wrong / tokens):.1f}% right before each step")
    return Labels(tuple(names), sizes, learned.averaged(known))


def numbered(keys: Ints, places: Ints) -> tuple[Ints, NDArray[np.int32]]:
    """The keys that occur often enough, and of each place which of them it is, -1 if it is none.

    One template after the other: their keys follow each other, and it takes the room of one of them.
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


class _Perceptron:
    """Weights that learn, and the sums for their average."""

    def __init__(self, features: int, relations: int, tags: int) -> None:
        self._weights, self._sums = (np.zeros((features, relations), dtype=np.float32) for _ in range(2))
        self._transitions, self._transition_sums = (np.zeros((tags, relations + 1, relations)) for _ in range(2))
        self._step = 1.0

    def run(self, order: Ints, starts: Ints, tags: Ints, features: NDArray[np.int32], right: Ints) -> int:
        """One pass; how many relations were wrong."""
        wrong, self._step = learn_rows(
            order,
            starts,
            tags,
            features,
            right,
            self._weights,
            self._sums,
            self._transitions,
            self._transition_sums,
            self._step,
        )
        return int(wrong)

    def averaged(self, keys: Ints) -> LabelScores:
        """The average of the weights over all steps, those that are not zero; nothing can be learned afterwards."""
        mean = self._sums  # there may be no room for a third array
        mean /= np.float32(-self._step)
        mean += self._weights
        rows, relations = np.nonzero(mean)
        used = np.unique(rows)
        starts = np.searchsorted(rows, np.append(used, len(mean)))
        transitions = (self._transitions - self._transition_sums / self._step).astype(np.float32)
        return LabelScores(keys[used], starts, relations.astype(np.int64), mean[rows, relations], transitions)
