"""Learned scores: from a sentence to an instance, by way of weights of the parser's local parts and of the factors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from problems.dependency.features import ARC_TEMPLATES, FT, LC, C, Encoded, F, L, T, Vocabulary, _0
from problems.dependency.sentence import Sentence
from problems.nonlocal_parsing.factors import Factors
from problems.nonlocal_parsing.families import FAMILIES, Family, Grandchildren, Words
from problems.nonlocal_parsing.instance import Instance
from solvers import factor_sets
from solvers.eisner import Parts, best_tree
from solvers.factored_scores import RELATIONS, ROW, Table, empty_table, score_arcs, table_of
from solvers.tuple_scores import score_allowed_arcs, score_tuples

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_FORMAT = "colgen nonlocal parsing 1"

FILTER_TEMPLATES: tuple[tuple[int, int], ...] = tuple(
    template for template in ARC_TEMPLATES if set(template) <= {_0, T, C, F, LC, FT}
)
"""Of the classifier that picks candidate heads: the plainest templates of the arcs."""

ADJACENT_TEMPLATES: tuple[tuple[int, ...], ...] = (
    *((T, T, T), (C, C, C), (_0, T, T), (_0, C, C), (LC, C, C), (C, LC, C), (C, C, LC)),
    *((_0, L, L), (_0, L, C), (_0, C, L), (T, L, L), (L, L, C), (L, C, L)),
)
"""Head, modifier, adjacent sibling."""

OUTERMOST_TEMPLATES: tuple[tuple[int, ...], ...] = (
    *((T, T, T), (C, C, C), (T, _0, T), (C, _0, C), (LC, C, C), (C, LC, C), (C, C, LC)),
    *((L, _0, L), (_0, T, L), (_0, L, T), (L, L, C), (C, L, L)),
)
"""Head, modifier, the modifier's outermost modifier."""

GRAND = Grandchildren()
_GRAND_SIBLINGS = ((C, C, C, C), (T, C, C, C), (C, T, C, C), (C, C, T, C), (C, C, C, T))

BACKBONES = ("first", "sibling", "grandchild", "third")
"""First order; adjacent siblings; outermost grandchildren besides (the source's); all grandchildren and triples."""


@dataclass(frozen=True, eq=False)
class Model:
    """Weights of everything that is scored.

    Attributes
    ----------
    backbone
        Which local parts there are: one of ``BACKBONES``.
    families
        Names of the factor families, keys of :data:`~problems.nonlocal_parsing.families.FAMILIES`.
    tables
        By name: "filter", "arcs", the local parts', and each family's.
    between
        Of the filter and of the arcs: weights of tags between head and modifier.
    triples
        Weights of grandparent, head, modifier and sibling by coarse tag, for the third-order parser.
    """

    vocabulary: Vocabulary
    backbone: str = "grandchild"
    families: tuple[str, ...] = ()
    tables: dict[str, Table] = field(default_factory=dict, repr=False)
    between: dict[str, Singles] = field(default_factory=dict, repr=False)
    triples: Singles | None = field(default=None, repr=False)

    @staticmethod
    def zero(vocabulary: Vocabulary, backbone: str = "grandchild", families: Sequence[str] = ()) -> Model:
        """A model without weights."""
        if backbone not in BACKBONES:
            raise InputError(f"backbone: expected one of {', '.join(BACKBONES)}, not {backbone!r}")
        unknown = [name for name in families if name not in FAMILIES]
        if unknown:
            raise InputError(f"there is no family {unknown[0]!r}; there are {', '.join(FAMILIES)}")
        model = Model(vocabulary, backbone, tuple(families))
        sizes, tags = vocabulary.sizes, vocabulary.num_tags
        for name, templates in (("filter", FILTER_TEMPLATES), ("arcs", ARC_TEMPLATES)):
            model.tables[name] = empty_table(np.array(templates), sizes, weights=ROW, relations=2)
            model.between[name] = np.zeros((tags, tags, 2, tags), dtype=np.float32)
        for name, many, relations in model.tuple_tables():
            model.tables[name] = empty_table(np.array(many), sizes, weights=1, relations=relations)
        if backbone == "third":
            k = tags + 1
            object.__setattr__(model, "triples", np.zeros((2, 2, k, k, k, k), dtype=np.float32))
        return model

    def tuple_tables(self) -> list[tuple[str, tuple[tuple[int, ...], ...], int]]:
        """Name, templates and number of relations of each table of tuples."""
        local = [("adjacent", ADJACENT_TEMPLATES, RELATIONS)] if self.backbone != "first" else []
        if self.backbone == "grandchild":
            local.append(("outermost", OUTERMOST_TEMPLATES, 4))
        if self.backbone == "third":
            local.append(("all_grandchildren", GRAND.templates, GRAND.relations))
        return [*local, *((family.name, family.templates, family.relations) for family in self.members())]

    def members(self) -> list[Family]:
        """The families, one by one."""
        return [family for name in self.families for family in FAMILIES[name]]

    # --- scores ------------------------------------------------------------------------------------------------------

    def candidates(self, encoded: Encoded, k: int | None, heads: Sequence[int] | None = None) -> Bools:
        """The k best heads of each word by the filter, and its best tree, so that there is one; shape (N, N).

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
            table = self.tables["filter"]
            scores = score_arcs(encoded.codes, table, encoded.tags, self.between["filter"])
            allowed[:] = False
            best = np.argpartition(-scores[:, 1:], k - 1, axis=0)[:k]
            allowed[best, np.arange(1, size)] = True
            np.fill_diagonal(scores, 0.0)
            scores[:, 0] = 0.0
            found = best_tree(Parts(scores))
            assert found is not None  # every arc is allowed
            allowed[found[1][1:], np.arange(1, size)] = True
            if heads is not None:
                allowed[list(heads), np.arange(1, size)] = True
        np.fill_diagonal(allowed, False)
        allowed[:, 0] = False
        return allowed

    def instance(self, sentence: Sentence, k: int | None = 10, *, gold: bool = False) -> Instance:
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
        return Instance(
            self.parts(encoded, allowed), self.factors(sentence, encoded, allowed), allowed, words=sentence.forms
        )

    def parts(self, encoded: Encoded, allowed: Bools) -> Parts:
        """Scores of the local parts of the allowed arcs."""
        size = len(allowed)
        arcs = score_allowed_arcs(encoded.codes, self.tables["arcs"], encoded.tags, self.between["arcs"], allowed)
        if self.backbone == "first":
            return Parts(arcs)
        siblings = np.zeros((size, size, size))
        rows = factor_sets.adjacent_siblings(allowed)
        siblings[tuple(rows.T)] = self._score("adjacent", encoded, *adjacent_features(rows, size))
        if self.backbone == "sibling":
            return Parts(arcs, siblings)
        if self.backbone == "grandchild":
            outermost = np.zeros((size, size, size))
            rows = factor_sets.outermost_grandchildren(allowed)
            outermost[tuple(rows.T)] = self._score("outermost", encoded, *outermost_features(rows, size))
            return Parts(arcs, siblings, outermost)
        grand = np.zeros((size, size, size))
        rows = factor_sets.grandchildren(allowed)
        grand[tuple(rows.T)] = self._score("all_grandchildren", encoded, rows, GRAND.relation(rows))
        kinds = encoded.tags[:size].copy()
        return Parts(arcs, siblings, grandchildren=grand, triples=self._double_triples, kinds=kinds)

    @cached_property
    def _double_triples(self) -> Floats:
        assert self.triples is not None  # the third-order parser has them
        return self.triples.astype(np.float64)

    def factors(self, sentence: Sentence, encoded: Encoded, allowed: Bools) -> Factors:
        """The non-local factors whose score is not zero."""
        size, words = len(allowed), Words(sentence)
        found = []
        for family in self.members():
            rows = family.rows(words, allowed)
            if len(rows):
                scores = self._score(family.name, encoded, rows, family.relation(rows))
                kept = np.flatnonzero(scores)
                found.append((family.arcs(rows[kept], size), scores[kept]))
        return Factors.from_rows(size, found)

    def _score(self, name: str, encoded: Encoded, columns: Ints, relation: Ints) -> Floats:
        return score_tuples(encoded.codes, self.tables[name], columns, relation)

    # --- files -------------------------------------------------------------------------------------------------------

    def save(self, path: Path | str) -> None:
        """Write the model; numpy's ``.npz``, whatever the file is called."""
        arrays: dict[str, NDArray[np.generic]] = {f"between.{name}": w for name, w in self.between.items()}
        for name, table in self.tables.items():
            held = np.flatnonzero((table.keys >= 0) & (table.values != 0.0).any(axis=1))
            arrays[f"{name}.keys"], arrays[f"{name}.values"] = table.keys[held], table.values[held]
        if self.triples is not None:
            arrays["triples"] = self.triples
        head = {
            "format": _FORMAT,
            "slots": self.vocabulary.slots,
            "values": self.vocabulary.values(),
            "backbone": self.backbone,
            "families": self.families,
        }
        arrays["head"] = np.frombuffer(json.dumps(head, ensure_ascii=False).encode(), dtype=np.uint8)
        with open(path, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    @staticmethod
    def load(path: Path | str) -> Model:
        """Read a model.

        Raises
        ------
        InputError
            If the file is something else.
        """
        try:
            with np.load(path, allow_pickle=False) as arrays:
                head = json.loads(bytes(arrays["head"]).decode())
                if head["format"] != _FORMAT:
                    raise ValueError(head["format"])
                values = [[tuple(value) for value in known] for known in head["values"]]
                model = Model.zero(Vocabulary(values, head["slots"]), head["backbone"], head["families"])
                for name, table in model.tables.items():
                    model.tables[name] = table_of(table, arrays[f"{name}.keys"], arrays[f"{name}.values"])
                for name in model.between:
                    model.between[name] = arrays[f"between.{name}"]
                if model.triples is not None:
                    object.__setattr__(model, "triples", arrays["triples"])
        except FileNotFoundError:
            raise InputError(f"{path} cannot be read: there is no such file") from None
        except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
            raise InputError(f"{path}: expected a model that `colgen train nonlocal_parsing` wrote ({error})") from None
        return model


# --- features of local parts: columns of the codes, and relations ----------------------------------------------------


def adjacent_features(rows: Ints, size: int) -> tuple[Ints, Ints]:
    """Of (head, modifier, adjacent sibling): the column n + 1 stands for no sibling; the side, and the distance."""
    h, m, s = rows.T
    near = np.searchsorted([1, 2, 5], np.abs(m - s))
    columns = rows.copy()
    columns[s == h, 2] = size
    return columns, 2 * near + (h > m)


def outermost_features(rows: Ints, size: int) -> tuple[Ints, Ints]:
    """Of (head, modifier, outermost modifier): columns n + 1 and n + 2 for none; the side, and within or beyond."""
    h, m, c = rows.T
    columns = rows.copy()
    columns[c == m, 2] = size
    columns[c == h, 2] = size + 1
    beyond = (c == h) | ((c != m) & ((c > m) == (m > h)))
    return columns, 2 * beyond + (h > m)
