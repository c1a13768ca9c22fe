"""Learned scores: weights of local parts and factors, which turn a sentence into an instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.learning.models import SavedModel
from colgen.learning.weights import FeatureWeights, prefixed
from colgen.problems.dependency.arc_labels import ArcLabels, GrowingArcLabels, relations_data, relations_from
from colgen.problems.dependency.features.mixed_radix import radix_of
from colgen.problems.dependency.features.tuple_scores import TupleTable, score_tuples, table_of
from colgen.problems.dependency.features.vocabulary import Encoded, Vocabulary
from colgen.problems.dependency.labels import Labels
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.nonlocal_parsing.factors import Factors
from colgen.problems.nonlocal_parsing.families import FAMILIES, Family, Words
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance
from colgen.problems.nonlocal_parsing.kernels import factor_sets
from colgen.problems.nonlocal_parsing.kernels.part_tuples import adjacent_tuples, outermost_tuples, score_arcs, to_cube
from colgen.problems.nonlocal_parsing.local_parts import ARCS, BACKBONES, FILTER, GRAND, PartKind, Tuples, kinds_of
from colgen.solvers.arrays import as_floats
from colgen.solvers.trees.eisner import Parts, max_marginals

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Model(SavedModel):
    """Weights of all local parts and factors.

    Attributes
    ----------
    backbone, families
        The local parts, one of :data:`~colgen.problems.nonlocal_parsing.local_parts.BACKBONES`; and the factor
        families, keys of :data:`~colgen.problems.nonlocal_parsing.families.FAMILIES`.
    tables
        By name: "filter", "arcs", the local parts', and each family's.
    between
        Weights of tags between head and modifier, for the filter and the arcs.
    triples
        Weights of grandparent, head, modifier and sibling by coarse tag, for the third-order parser.
    labels
        Predicts relations after the tree; None if arc scores include relations or the training data had none.
    arc_labels
        Scores of the best relation of each arc; None if arc scores do not include relations.
    """

    kind = "nonlocal_parsing"

    vocabulary: Vocabulary
    backbone: str = "grandchild"
    families: tuple[str, ...] = ()
    tables: dict[str, TupleTable] = field(default_factory=dict, repr=False)
    between: dict[str, Singles] = field(default_factory=dict, repr=False)
    triples: Singles | None = field(default=None, repr=False)
    labels: Labels | None = field(default=None, repr=False)
    arc_labels: ArcLabels | GrowingArcLabels | None = field(default=None, repr=False)

    @staticmethod
    def zero(
        vocabulary: Vocabulary,
        backbone: str = "grandchild",
        families: Sequence[str] = (),
        keys: Mapping[str, Ints] | None = None,
    ) -> Model:
        """Return a model whose weights are zero; ``keys`` are the features of each table, ascending."""
        if backbone not in BACKBONES:
            raise InputError(f"backbone: expected one of {', '.join(BACKBONES)}, not {backbone!r}")
        unknown = [name for name in families if name not in FAMILIES]
        if unknown:
            raise InputError(f"families: expected some of {', '.join(FAMILIES)}, not {unknown[0]!r}")
        tags, triples = vocabulary.num_tags, None
        if backbone == "third":
            triples = np.zeros((2, 2, *(tags + 1,) * 4), dtype=np.float32)
        model = Model(vocabulary, backbone, tuple(families), triples=triples)
        for name, kind in model.kinds().items():
            held = (keys or {}).get(name, np.empty(0, dtype=np.int64))
            radix = radix_of(kind.templates, vocabulary.sizes, kind.relations)
            model.tables[name] = table_of(radix, held, np.zeros((len(held), kind.weights), dtype=np.float32))
        for name in ("filter", "arcs"):
            model.between[name] = np.zeros((tags, tags, 2, tags), dtype=np.float32)
        return model

    def kinds(self) -> dict[str, PartKind]:
        """Return the kinds of tuples with a table, by name."""
        families = {family.name: PartKind(family.templates, family.relations) for family in self.members()}
        return {"filter": FILTER, "arcs": ARCS, **kinds_of(self.backbone), **families}

    def members(self) -> list[Family]:
        """Return the families as a flat list."""
        return [family for name in self.families for family in FAMILIES[name]]

    def compact(self) -> Model:
        """Return the model without features whose weights are zero."""
        tables = {}
        for name, table in self.tables.items():
            held = (table.weights != 0.0).any(axis=1)
            tables[name] = table if held.all() else table_of(table.radix, table.keys[held], table.weights[held])
        return replace(self, tables=tables)

    # --- scores ------------------------------------------------------------------------------------------------------

    def candidates(self, encoded: Encoded, k: int | None, heads: Sequence[int] | None = None) -> Bools:
        """Return the k heads of each word with the best max-marginals by the filter, shape (N, N).

        Compared with ranks by arc scores, at most half as many correct heads are lost, and the filter's best tree
        remains possible. ``k`` None means all heads; ``heads`` is a tree that remains possible.
        """
        size = len(encoded) + 1
        allowed = np.ones((size, size), dtype=np.bool_)
        if k is not None and k < size - 1:
            everywhere = ~np.eye(size, dtype=np.bool_)
            everywhere[:, 0] = False
            marginals = max_marginals(Parts(self.score_arcs("filter", encoded, everywhere)))
            allowed[:] = marginals >= np.partition(marginals, size - k, axis=0)[size - k]
            if heads is not None:
                allowed[list(heads), np.arange(1, size)] = True
        np.fill_diagonal(allowed, False)
        allowed[:, 0] = False
        return allowed

    def instance(self, sentence: Sentence, k: int | None = 10, *, gold: bool = False) -> NonlocalInstance:
        """Return the scores of a sentence.

        There are ``k`` candidate heads per word, None for all. With ``gold``, the sentence's own tree remains possible.
        """
        encoded = self.vocabulary.encode(sentence)
        allowed = self.candidates(encoded, k, sentence.heads if gold else None)
        return self.score_sentence(Words(sentence), encoded, allowed)

    def score_sentence(self, words: Words, encoded: Encoded, allowed: Bools) -> NonlocalInstance:
        """Return the scores of a sentence with given codes and allowed arcs."""
        parts, factors = self.parts(encoded, allowed), self.factors(words, encoded, allowed)
        return NonlocalInstance(parts, factors, allowed, words=words.sentence.forms)

    def parts(self, encoded: Encoded, allowed: Bools) -> Parts:
        """Return the scores of the local parts of the allowed arcs."""
        size = len(allowed)
        arcs = self.score_arcs("arcs", encoded, allowed)
        if self.arc_labels is not None:
            arcs += np.where(allowed, self.arc_labels.best(encoded)[0], 0.0)
        if self.backbone == "first":
            return Parts(arcs)
        rows = factor_sets.adjacent_siblings(allowed)
        siblings = to_cube(rows, self._score("adjacent", encoded, Tuples(*adjacent_tuples(rows, size))), size)
        if self.backbone == "sibling":
            return Parts(arcs, siblings)
        if self.backbone == "grandchild":
            rows = factor_sets.outermost_grandchildren(allowed)
            outermost = to_cube(rows, self._score("outermost", encoded, Tuples(*outermost_tuples(rows, size))), size)
            return Parts(arcs, siblings, outermost)
        rows = factor_sets.grandchildren(allowed)
        relation = GRAND.relation(rows)
        grand = to_cube(rows, self._score("all_grandchildren", encoded, Tuples(rows, relation, relation)), size)
        kinds = encoded.tags[:size].copy()
        return Parts(arcs, siblings, grandchildren=grand, triples=self._double_triples, kinds=kinds)

    def score_arcs(self, name: str, encoded: Encoded, allowed: Bools) -> Floats:
        """Return the scores of the allowed arcs by the table "arcs" or "filter", zero elsewhere."""
        table = self.tables[name]
        return score_arcs(encoded.codes, table.features, table.weights, encoded.tags, self.between[name], allowed)

    def relations(self, encoded: Encoded, heads: Sequence[int]) -> tuple[str, ...] | None:
        """Return the relation of each token of a tree to its head, or None if the model has no relations.

        They are the best for the complete tree if the model has weights for it, otherwise the best for each arc.
        """
        if self.labels is not None:
            return self.labels.of(encoded, heads)
        if not isinstance(self.arc_labels, ArcLabels):
            return None
        return self.arc_labels.relation_names(self.arc_labels.best(encoded)[1], heads)

    @cached_property
    def _double_triples(self) -> Floats:
        assert self.triples is not None  # the third-order parser has triples
        return self.triples.astype(np.float64)

    def factors(self, words: Words, encoded: Encoded, allowed: Bools) -> Factors:
        """Return the non-local factors with non-zero scores."""
        size = len(allowed)
        found = []
        for family in self.members():
            rows = family.rows(words, allowed)
            if len(rows):
                relation = family.relation(rows)
                scores = self._score(family.name, encoded, Tuples(rows, relation, relation))
                kept = np.flatnonzero(scores)
                found.append((family.arcs(rows[kept], size), scores[kept]))
        return Factors.from_rows(size, found)

    def _score(self, name: str, encoded: Encoded, tuples: Tuples) -> Floats:
        table = self.tables[name]
        return score_tuples(encoded.codes, table.features, table.weights, *tuples)

    # --- files -------------------------------------------------------------------------------------------------------

    def data(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        arrays: dict[str, NDArray[Any]] = prefixed("between", self.between)
        for name, table in self.tables.items():
            arrays |= prefixed(name, FeatureWeights.of_dense(table.keys, table.weights).arrays())
        if self.triples is not None:
            arrays["triples"] = self.triples
        relations, of_relations = relations_data(self.labels, self.arc_labels)
        about = {**self.vocabulary.data(), "backbone": self.backbone, "families": self.families, **relations}
        return about, {**arrays, **of_relations}

    @classmethod
    def from_data(cls, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Model:
        model = cls.zero(Vocabulary.from_data(about), about["backbone"], about["families"])
        for name, table in model.tables.items():
            held = FeatureWeights.from_arrays(arrays, name, table.weights.shape[1])
            model.tables[name] = table_of(table.radix, held.keys, held.dense())
        for name, between in model.between.items():
            held_between = arrays[f"between.{name}"]
            model.between[name] = as_floats(held_between, f"between.{name}", shape=between.shape, dtype=np.float32)
        if model.triples is not None:
            model.triples[:] = as_floats(arrays["triples"], "triples", shape=model.triples.shape, dtype=np.float32)
        return replace(model, **relations_from(about, arrays, model.vocabulary))
