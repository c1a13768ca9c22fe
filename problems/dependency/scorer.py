"""Scores of a sentence's parts from a trained model: arcs, grandparent parts and consecutive sibling parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen import InputError
from colgen.core.serialization import digest_of
from colgen.learning.models import SavedModel
from colgen.learning.weights import FeatureWeights, prefixed
from colgen.problems.dependency.arc_labels import ArcLabels, relations_data, relations_from
from colgen.problems.dependency.features.arc_scores import ArcIndex, arc_index, score_arcs
from colgen.problems.dependency.features.factored_scores import (
    RELATIONS,
    ROW,
    WeightTable,
    empty_table,
    score_triples,
    table_of,
)
from colgen.problems.dependency.features.score_bounds import bound_table, score_bounds
from colgen.problems.dependency.features.triple_lists import TripleLists, lists_of
from colgen.problems.dependency.features.vocabulary import (
    ARC_TEMPLATES,
    GRANDPARENT_TEMPLATES,
    KIND,
    SIBLING_TEMPLATES,
    Encoded,
    Vocabulary,
)
from colgen.problems.dependency.labels import Labels
from colgen.problems.dependency.sentence import Sentence
from colgen.solvers.arrays import as_floats

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GRANDPARENTS, SIBLINGS = 0, 1
"""Triple types: (grandparent, parent, child), and (head, sibling, modifier)."""

_TABLES = "arcs", "grandparents", "siblings"

_TEMPLATES = [
    [list(template) for template in templates]
    for templates in (ARC_TEMPLATES, GRANDPARENT_TEMPLATES, SIBLING_TEMPLATES)
]

# The order of the two known tokens of a bound in each of the eight relations; see
# colgen.problems.dependency.features.factored_scores.
_RELATION = np.arange(RELATIONS)
_PARENT_CHILD = _RELATION & 1  # p > c
_GRANDPARENT_PARENT = (_RELATION >> 2) & 1  # g > p
_HEAD_SIDE = _RELATION & 1  # h > m, and h > s


@dataclass(frozen=True)
class Weights(SavedModel):
    """A trained model: vocabulary and weights of all templates.

    Attributes
    ----------
    arcs
        All keys in ascending order; :attr:`arc_index` looks them up.
    single_root
        Whether every training tree has one token attached to the root.
    parts
        Triple types that the model scores: a subset of ``("grandparents", "siblings")``.
    labels
        Predicts relations of a given tree, or None.
    arc_labels
        Adds the score of each arc's best relation, or None.
    """

    kind = "grandparent_parsing"

    vocabulary: Vocabulary
    arcs: WeightTable
    between: NDArray[np.float32]
    grandparents: WeightTable
    siblings: WeightTable
    single_root: bool = False
    parts: tuple[str, ...] = ("grandparents", "siblings")
    labels: Labels | None = None
    arc_labels: ArcLabels | None = None

    @staticmethod
    def zero(vocabulary: Vocabulary, *, single_root: bool = False) -> Weights:
        sizes, tags = vocabulary.sizes, vocabulary.num_tags
        arcs = empty_table(np.array(ARC_TEMPLATES), sizes, weights=ROW, relations=2, capacity=0)
        grandparents, siblings = (
            empty_table(np.array(templates), sizes, weights=1, relations=RELATIONS)
            for templates in (GRANDPARENT_TEMPLATES, SIBLING_TEMPLATES)
        )
        between = np.zeros((tags, tags, 2, tags), dtype=np.float32)
        return Weights(vocabulary, arcs, between, grandparents, siblings, single_root)

    @cached_property
    def bounds(self) -> dict[str, WeightTable]:
        """The largest triple scores by two of their tokens, computed once."""
        return {
            "parent_child": bound_table(self.grandparents, (1, 2), _PARENT_CHILD),
            "grandparent_parent": bound_table(self.grandparents, (0, 1), _GRANDPARENT_PARENT),
            "head_modifier": bound_table(self.siblings, (0, 2), _HEAD_SIDE),
            "head_sibling": bound_table(self.siblings, (0, 1), _HEAD_SIDE),
        }

    @cached_property
    def lists(self) -> tuple[TripleLists, TripleLists]:
        """Weights of grandparents and of siblings, listed by two of their tokens, computed once."""
        return lists_of(self.grandparents, GRANDPARENTS), lists_of(self.siblings, SIBLINGS)

    @cached_property
    def arc_index(self) -> ArcIndex:
        """The arc weights in look-up order, computed once."""
        return arc_index(self.arcs, KIND)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name not in ("arc_index", "lists")}

    def forget(self) -> None:
        """Drop cached indices to free memory; they are rebuilt on demand."""
        for name in ("arc_index", "lists", "bounds"):
            vars(self).pop(name, None)
        if self.arc_labels is not None:
            self.arc_labels.forget()

    def scorer(self, sentence: Sentence) -> SentenceScorer:
        return self.encoded_scorer(self.vocabulary.encode(sentence))

    def encoded_scorer(self, encoded: Encoded) -> SentenceScorer:
        return SentenceScorer(self, encoded)

    def data(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        arrays: dict[str, NDArray[Any]] = {"between": self.between}
        for name in _TABLES:
            table: WeightTable = getattr(self, name)
            held = np.flatnonzero(table.keys >= 0)
            held = held[np.argsort(table.keys[held])]  # independent of the table's capacity
            arrays |= prefixed(name, FeatureWeights.of_dense(table.keys[held], table.values[held]).arrays())
        about = {**self.vocabulary.data(), "templates": _TEMPLATES, "single_root": self.single_root}
        relations, of_relations = relations_data(self.labels, self.arc_labels)
        return {**about, "parts": self.parts, **relations}, {**arrays, **of_relations}

    @classmethod
    def from_data(cls, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Weights:
        if about["templates"] != _TEMPLATES:
            raise InputError("the model was trained with other feature templates than this version's: train it again")
        vocabulary = Vocabulary.from_data(about)
        empty = Weights.zero(vocabulary)
        tables = []
        for name in _TABLES:
            table: WeightTable = getattr(empty, name)
            held = FeatureWeights.from_arrays(arrays, name, table.values.shape[1])
            rows = held.dense()
            tables.append(
                table._replace(keys=held.keys, values=rows) if name == "arcs" else table_of(table, held.keys, rows)
            )
        between = as_floats(arrays["between"], "between", shape=empty.between.shape, dtype=np.float32)
        return Weights(
            vocabulary,
            tables[0],
            between,
            tables[1],
            tables[2],
            single_root=bool(about["single_root"]),
            parts=tuple(about["parts"]),
            **relations_from(about, arrays, vocabulary),
        )


@dataclass
class SentenceScorer:
    """Scores of the parts of one sentence, computed in batches on request and counted by type in ``scored``."""

    weights: Weights
    encoded: Encoded
    scored: list[int] = field(default_factory=lambda: [0, 0])

    def __len__(self) -> int:
        return len(self.encoded)

    def digest(self) -> str:
        return digest_of([*self.weights.data(), self.encoded.codes, self.encoded.tags, self.weights.single_root])

    @cached_property
    def arcs(self) -> Floats:
        """Scores of all arcs by head and modifier, shape (n + 1, n + 1); -inf in column 0 and on the diagonal.

        If arc scores include relations, each arc has its best one.
        """
        w, e = self.weights, self.encoded
        arcs = score_arcs(e.codes, w.arc_index, e.tags, w.between)
        return arcs if w.arc_labels is None else arcs + self._best_relations[0]

    @cached_property
    def _best_relations(self) -> tuple[Floats, NDArray[np.int32]]:
        assert self.weights.arc_labels is not None
        return self.weights.arc_labels.best(self.encoded)

    def relations(self, heads: Sequence[int]) -> tuple[str, ...] | None:
        """Return the relations of a tree; None if the model has none.

        They are predicted jointly if the model supports it, else per arc.
        """
        labels, by_arc = self.weights.labels, self.weights.arc_labels
        if labels is not None:
            return labels.of(self.encoded, heads)
        return None if by_arc is None else by_arc.relation_names(self._best_relations[1], heads)

    def grandparents(self, triples: ArrayLike) -> Floats:
        return self._triples(GRANDPARENTS, self.weights.grandparents, triples)

    def siblings(self, triples: ArrayLike) -> Floats:
        """Return scores of (head, sibling, modifier) triples, shape (parts, 3).

        Both are modifiers on one side with none between them; the sibling is nearer to the head.  ``sibling == head``:
        the modifier is the first on its side; ``modifier == head``: the sibling is the last.  A side without modifiers
        scores 0.
        """
        return self._triples(SIBLINGS, self.weights.siblings, triples)

    def _triples(self, kind: int, table: WeightTable, triples: ArrayLike) -> Floats:
        parts = np.ascontiguousarray(triples, dtype=np.int64).reshape(-1, 3)
        self.scored[kind] += len(parts)
        return score_triples(self.encoded.codes, table, kind, parts)

    @cached_property
    def parent_child_bounds(self) -> Floats:
        """Upper bounds on grandparent parts (g, p, c) by (p, c), shape (n + 1, n + 1)."""
        return score_bounds(self.encoded.codes, self.weights.bounds["parent_child"], 0, 0)

    @cached_property
    def grandparent_parent_bounds(self) -> Floats:
        """Upper bounds on grandparent parts (g, p, c) by (g, p), shape (n + 1, n + 1)."""
        return score_bounds(self.encoded.codes, self.weights.bounds["grandparent_parent"], 0, 0)

    @cached_property
    def head_modifier_bounds(self) -> Floats:
        """Upper bounds on sibling parts (h, s, m) with m ≠ h by (h, m), including those without a sibling."""
        return score_bounds(self.encoded.codes, self.weights.bounds["head_modifier"], 0, 0)

    @cached_property
    def head_sibling_bounds(self) -> Floats:
        """Upper bounds on sibling parts (h, s, m) with s ≠ h by (h, s), including those without a modifier."""
        return score_bounds(self.encoded.codes, self.weights.bounds["head_sibling"], 0, 0)
