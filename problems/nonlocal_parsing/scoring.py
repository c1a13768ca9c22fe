"""Learned scores: from a sentence to an instance, by way of weights of the parser's local parts and of the factors."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.core.array_files import reading
from colgen.core.files import parse_json, writing
from colgen.problems.dependency.arc_labels import ArcLabels, GrowingArcLabels
from colgen.problems.dependency.features.mixed_radix import radix_of
from colgen.problems.dependency.features.tuple_scores import TupleTable, score_tuples, table_of
from colgen.problems.dependency.features.vocabulary import Encoded, Vocabulary
from colgen.problems.dependency.labels import Labels
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.nonlocal_parsing.factors import Factors
from colgen.problems.nonlocal_parsing.families import FAMILIES, Family, Words
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance
from colgen.problems.nonlocal_parsing.kernels import factor_sets
from colgen.problems.nonlocal_parsing.kernels.part_tuples import adjacent_tuples, in_cube, outermost_tuples, score_arcs
from colgen.problems.nonlocal_parsing.local_parts import ARCS, BACKBONES, FILTER, GRAND, PartKind, Tuples, kinds_of
from colgen.solvers.arrays import as_floats, as_integers
from colgen.solvers.trees.eisner import Parts, max_marginals

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_FORMAT = "colgen nonlocal parsing 2"


@dataclass(frozen=True, eq=False)
class Model:
    """Weights of everything that is scored.

    Attributes
    ----------
    backbone
        Which local parts there are: one of :data:`~colgen.problems.nonlocal_parsing.local_parts.BACKBONES`.
    families
        Names of the factor families, keys of :data:`~colgen.problems.nonlocal_parsing.families.FAMILIES`.
    tables
        By name: "filter", "arcs", the local parts', and each family's.
    between
        Of the filter and of the arcs: weights of tags between head and modifier.
    triples
        Weights of grandparent, head, modifier and sibling by coarse tag, for the third-order parser.
    labels
        What finds the relations of a tree's arcs; None where that is left to the arcs' scores, or the training data had
        none.
    arc_labels
        What the best relation of each arc adds to its score; None where relations are no part of it.
    """

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
        """A model whose weights are zero.

        Parameters
        ----------
        keys
            The features of each table, ascending; none where a table's name is missing.
        """
        if backbone not in BACKBONES:
            raise InputError(f"backbone: expected one of {', '.join(BACKBONES)}, not {backbone!r}")
        unknown = [name for name in families if name not in FAMILIES]
        if unknown:
            raise InputError(f"there is no family {unknown[0]!r}; there are {', '.join(FAMILIES)}")
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
        """What there is a table for, by name."""
        families = {family.name: PartKind(family.templates, family.relations) for family in self.members()}
        return {"filter": FILTER, "arcs": ARCS, **kinds_of(self.backbone), **families}

    def members(self) -> list[Family]:
        """The families, one by one."""
        return [family for name in self.families for family in FAMILIES[name]]

    # --- scores ------------------------------------------------------------------------------------------------------

    def candidates(self, encoded: Encoded, k: int | None, heads: Sequence[int] | None = None) -> Bools:
        """The k heads of each word whose best trees by the filter are best, its max-marginals; shape (N, N).

        Ranks by max-marginals lose half as many right heads as ranks by the arcs' own scores, or fewer; and the best
        tree of the filter is always possible.

        Parameters
        ----------
        k
            None: all heads.
        heads
            A tree to be kept possible.
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
        """The scores of a sentence.

        Parameters
        ----------
        k
            Candidate heads a word; None for all.
        gold
            Keep the sentence's own tree possible.
        """
        encoded = self.vocabulary.encode(sentence)
        allowed = self.candidates(encoded, k, sentence.heads if gold else None)
        return self.scored(Words(sentence), encoded, allowed)

    def scored(self, words: Words, encoded: Encoded, allowed: Bools) -> NonlocalInstance:
        """The scores of a sentence whose codes and allowed arcs are known."""
        parts, factors = self.parts(encoded, allowed), self.factors(words, encoded, allowed)
        return NonlocalInstance(parts, factors, allowed, words=words.sentence.forms)

    def parts(self, encoded: Encoded, allowed: Bools) -> Parts:
        """Scores of the local parts of the allowed arcs."""
        size = len(allowed)
        arcs = self.score_arcs("arcs", encoded, allowed)
        if self.arc_labels is not None:
            arcs += np.where(allowed, self.arc_labels.best(encoded)[0], 0.0)
        if self.backbone == "first":
            return Parts(arcs)
        rows = factor_sets.adjacent_siblings(allowed)
        siblings = in_cube(rows, self._score("adjacent", encoded, Tuples(*adjacent_tuples(rows, size))), size)
        if self.backbone == "sibling":
            return Parts(arcs, siblings)
        if self.backbone == "grandchild":
            rows = factor_sets.outermost_grandchildren(allowed)
            outermost = in_cube(rows, self._score("outermost", encoded, Tuples(*outermost_tuples(rows, size))), size)
            return Parts(arcs, siblings, outermost)
        rows = factor_sets.grandchildren(allowed)
        relation = GRAND.relation(rows)
        grand = in_cube(rows, self._score("all_grandchildren", encoded, Tuples(rows, relation, relation)), size)
        kinds = encoded.tags[:size].copy()
        return Parts(arcs, siblings, grandchildren=grand, triples=self._double_triples, kinds=kinds)

    def score_arcs(self, name: str, encoded: Encoded, allowed: Bools) -> Floats:
        """Scores of the allowed arcs by the table "arcs" or "filter", zero elsewhere."""
        table = self.tables[name]
        return score_arcs(encoded.codes, table.features, table.weights, encoded.tags, self.between[name], allowed)

    def relations(self, encoded: Encoded, heads: Sequence[int]) -> tuple[str, ...] | None:
        """What the tokens of a tree are to their heads, as far as the model knows.

        Those that a whole tree says most of, where it knows of that; else the best of each arc.
        """
        if self.labels is not None:
            return self.labels.of(encoded, heads)
        if not isinstance(self.arc_labels, ArcLabels):
            return None
        return self.arc_labels.named(self.arc_labels.best(encoded)[1], heads)

    @cached_property
    def _double_triples(self) -> Floats:
        assert self.triples is not None  # the third-order parser has them
        return self.triples.astype(np.float64)

    def factors(self, words: Words, encoded: Encoded, allowed: Bools) -> Factors:
        """The non-local factors whose score is not zero."""
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

    def save(self, path: Path | str) -> None:
        """Write the model; numpy's ``.npz``, whatever the file is called."""
        arrays: dict[str, NDArray[np.generic]] = {f"between.{name}": w for name, w in self.between.items()}
        for name, table in self.tables.items():
            arrays[f"{name}.keys"], arrays[f"{name}.values"] = table.keys, table.weights
        if self.triples is not None:
            arrays["triples"] = self.triples
        head = {
            "format": _FORMAT,
            "slots": self.vocabulary.slots,
            "values": self.vocabulary.values(),
            "backbone": self.backbone,
            "families": self.families,
        }
        if self.labels is not None:
            head["relations"] = self.labels.relations
            arrays |= self.labels.arrays()
        if isinstance(self.arc_labels, ArcLabels):
            head["arc_relations"] = self.arc_labels.relations
            arrays |= self.arc_labels.arrays()
        arrays["head"] = np.frombuffer(json.dumps(head, ensure_ascii=False).encode(), dtype=np.uint8)
        with writing(path, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    @staticmethod
    def load(path: Path | str) -> Model:
        """Read a model.

        Raises
        ------
        InputError
            If the file is something else.
        """
        with reading(path, "a model that `colgen train nonlocal_parsing` wrote") as arrays:
            head = parse_json(bytes(as_integers(arrays["head"], "head", dtype=np.uint8)).decode(), str(path))
            if head["format"] != _FORMAT:
                raise ValueError(head["format"])
            values = [[tuple(value) for value in known] for known in head["values"]]
            model = Model.zero(Vocabulary(values, head["slots"]), head["backbone"], head["families"])

            def weights(name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
                return as_floats(arrays[name], name, shape=shape, dtype=np.float32)

            for name, table in model.tables.items():
                keys = as_integers(arrays[f"{name}.keys"], f"{name}.keys", shape=("features",), low=0)
                if (np.diff(keys) <= 0).any():
                    raise ValueError(f"{name}.keys: expected keys that ascend")
                shape = (len(keys), table.weights.shape[1])
                model.tables[name] = table_of(table.radix, keys, weights(f"{name}.values", shape))
            for name, between in model.between.items():
                model.between[name] = weights(f"between.{name}", between.shape)
            if model.triples is not None:
                model.triples[:] = weights("triples", model.triples.shape)
            if "relations" in head:
                model = replace(model, labels=Labels.from_arrays(head["relations"], arrays, model.vocabulary))
            if "arc_relations" in head:
                by_arc = ArcLabels.from_arrays(head["arc_relations"], arrays, model.vocabulary)
                model = replace(model, arc_labels=by_arc)
        return model
