"""Training sentences, and the features of their correct trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.problems.dependency.arc_labels import GrowingArcLabels
from colgen.problems.dependency.features.mixed_radix import keys_of
from colgen.problems.dependency.features.vocabulary import Encoded, Vocabulary
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.nonlocal_parsing.decoding import usable
from colgen.problems.nonlocal_parsing.families import Words
from colgen.problems.nonlocal_parsing.local_parts import Tuples, tree_arcs, tree_mask, tree_parts
from colgen.problems.nonlocal_parsing.scoring import Model

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Example(NamedTuple):
    """A training sentence: codes, and the heads of the correct tree, shape (N,)."""

    words: Words
    encoded: Encoded
    heads: Ints


class ParsedExamples:
    """Training sentences with a projective tree and a single root, encoded once for all models.

    A feature needs a weight if at least ``least`` correct trees have it. Raises InputError if no sentence can be used.
    """

    def __init__(self, sentences: Sequence[Sentence], least: int = 2) -> None:
        self.sentences = taken = usable(sentences)
        if not taken:
            raise InputError("training needs sentences with projective trees of a single root, got none")
        self.least = least
        self.vocabulary = Vocabulary.of(taken)
        encode = self.vocabulary.encode
        self.examples = [Example(Words(s), encode(s), np.array([-1, *(s.heads or ())])) for s in taken]

    def __len__(self) -> int:
        return len(self.examples)

    def arc_labels(self) -> GrowingArcLabels:
        """Return untrained scores of relations; raise InputError if a sentence has no relations."""
        if any(sentence.relations is None for sentence in self.sentences):
            raise InputError("expected sentences with relations, which the arcs' scores need")
        return GrowingArcLabels(self.sentences, [example.encoded for example in self.examples], self.vocabulary)

    def features(self, model: Model, names: Sequence[str]) -> dict[str, Ints]:
        """Return the keys of the features that occur often enough in correct trees, ascending, by table."""
        collected: dict[str, list[Ints]] = {name: [] for name in names}
        for example in self.examples:
            of_tree = tree_tuples(model, example.words, example.heads)
            for name in names:
                radix = model.tables[name].radix
                tuples = of_tree["arcs" if name == "filter" else name]
                collected[name].append(keys_of(radix, example.encoded.codes, tuples.columns, tuples.relation))
        found = {}
        for name, several in collected.items():
            keys, counts = np.unique(np.concatenate(several), return_counts=True)
            found[name] = keys[counts >= self.least]
        return found


def tree_tuples(model: Model, words: Words, heads: Ints) -> dict[str, Tuples]:
    """Return the tuples of a tree for each table except the filter's; heads have shape (N,)."""
    found = {"arcs": tree_arcs(heads), **tree_parts(model.backbone, heads)}
    allowed = tree_mask(heads)
    for family in model.members():
        rows = family.rows(words, allowed)
        relation = family.relation(rows)
        found[family.name] = Tuples(rows, relation, relation)
    return found
