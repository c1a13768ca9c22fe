"""A model in training: steps of the averaged structured perceptron (Collins, 2002)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from problems.dependency.features import Encoded
from problems.dependency.sentence import Sentence
from problems.nonlocal_parsing.decoding import decode
from problems.nonlocal_parsing.families import Words
from problems.nonlocal_parsing.scoring import GRAND, Model, adjacent_features, outermost_features
from solvers import factor_sets
from solvers.eisner import Parts, best_tree
from solvers.factored_scores import score_arcs, table_of
from solvers.margin_updates import mark_arcs, mark_between, squared_norm, take_step
from solvers.tuple_scores import mark_tuples

Ints = NDArray[np.int64]
Singles = NDArray[np.float32]
Say = Callable[[str], None]


class Learner:
    """A model in training, with the sums that its average needs.

    Attributes
    ----------
    model
        The weights after the last step, not averaged.
    number
        Sentences seen.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.number = {"filter": 0, "rest": 0}
        self._sums = {name: np.zeros_like(table.values) for name, table in model.tables.items()}
        self._delta = {name: np.zeros_like(table.values) for name, table in model.tables.items()}
        self._between_sums = {name: np.zeros_like(w) for name, w in model.between.items()}
        self._between_delta = {name: np.zeros_like(w) for name, w in model.between.items()}
        self._triple_sums = None if model.triples is None else np.zeros_like(model.triples)
        self._triple_delta = None if model.triples is None else np.zeros_like(model.triples)
        self._claimed = dict.fromkeys(model.tables, 0)

    def with_families(self, families: Sequence[str]) -> Learner:
        """A learner that goes on with factors of these families from the average so far; this one stays as it is.

        It takes its own average, over its own steps: the families' weights would else count as zero for all the steps
        before they came, and what the backbone's weights leave to them would be missing.
        """
        begun = self.averaged()
        model = Model.zero(self.model.vocabulary, self.model.backbone, families)
        for name in model.tables.keys() & begun.tables.keys():
            model.tables[name] = begun.tables[name]
        model.between.update(begun.between)
        if begun.triples is not None:
            model = dataclasses.replace(model, triples=begun.triples)
        fresh = Learner(model)
        fresh._claimed = {name: int((table.keys >= 0).sum()) for name, table in model.tables.items()}
        return fresh

    # --- steps -------------------------------------------------------------------------------------------------------

    def learn_filter(self, sentences: Sequence[Sentence], epochs: int, rng: np.random.Generator, say: Say) -> None:
        """Train the classifier that picks candidate heads: a first-order parser."""
        encoded = [self.model.vocabulary.encode(sentence) for sentence in sentences]
        for epoch in range(1, epochs + 1):
            wrong = 0
            for i in rng.permutation(len(sentences)).tolist():
                codes = encoded[i]
                table = self.model.tables["filter"]
                scores = score_arcs(codes.codes, table, codes.tags, self.model.between["filter"])
                np.fill_diagonal(scores, 0.0)
                scores[:, 0] = 0.0
                found = best_tree(Parts(scores))
                assert found is not None  # every arc is allowed
                self.number["filter"] += 1
                gold = np.array([-1, *(sentences[i].heads or ())])
                wrong += int((gold != found[1]).sum())
                self._step_arcs("filter", codes, gold, found[1], self.number["filter"])
            say(f"filter, epoch {epoch}: {wrong} heads wrong in training")

    def learn(
        self,
        sentences: Sequence[Sentence],
        epochs: int,
        rng: np.random.Generator,
        say: Say,
        *,
        k: int | None = 10,
        name: str = "",
    ) -> None:
        """Go over the sentences so many times, decoding over the filter's candidates and the right tree."""
        for epoch in range(1, epochs + 1):
            wrong = words = 0
            for done, i in enumerate(rng.permutation(len(sentences)).tolist(), 1):
                sentence = sentences[i]
                found = decode(self.model.instance(sentence, k, gold=True))
                self.number["rest"] += 1
                words += len(sentence)
                if found is not None and found != sentence.heads:
                    gold = np.array([-1, *(sentence.heads or ())])
                    other = np.array([-1, *found])
                    wrong += int((gold != other).sum())
                    self._step(sentence, gold, other)
                if done % 2000 == 0:
                    say(f"{name}, epoch {epoch}: {done} of {len(sentences)} sentences")
            say(f"{name}, epoch {epoch}: {100 * wrong / max(words, 1):.2f}% of the heads wrong in training")

    def _step(self, sentence: Sentence, gold: Ints, found: Ints) -> None:
        """Add the features of the right tree to the weights, subtract those of the tree found."""
        model, number = self.model, self.number["rest"]
        encoded = model.vocabulary.encode(sentence)
        self._step_arcs("arcs", encoded, gold, found, number)
        right, wrong = tree_tuples(model, sentence, gold), tree_tuples(model, sentence, found)
        for name in right:
            self._step_tuples(name, encoded, right[name], wrong[name], number)
        if model.triples is not None and self._triple_sums is not None and self._triple_delta is not None:
            places = [_triple_places(model.triples, encoded, tree) for tree in (gold, found)]
            flat = self._triple_delta.reshape(-1, 1)
            for sign, at in zip((1.0, -1.0), places, strict=True):
                np.add.at(flat[:, 0], at, sign)
            slots = np.concatenate(places)
            squared_norm(flat, slots, len(slots))
            take_step(
                model.triples.reshape(-1, 1),
                self._triple_sums.reshape(-1, 1),
                flat,
                slots,
                len(slots),
                1.0,
                number,
            )

    def _step_arcs(self, name: str, encoded: Encoded, gold: Ints, found: Ints, number: int) -> None:
        n, templates = len(gold) - 1, len(self.model.tables[name].templates)
        self._reserve(name, 2 * n * templates)
        table = self.model.tables[name]
        slots = np.empty(2 * n * templates, dtype=np.int64)
        delta = self._delta[name]
        count = mark_arcs(encoded.codes, table, delta, gold, found, 1.0, slots)
        count += mark_arcs(encoded.codes, table, delta, found, gold, -1.0, slots[count:])
        self._claimed[name] += count
        squared_norm(delta, slots, count)
        take_step(table.values, self._sums[name], delta, slots, count, 1.0, number)
        weights, delta = self.model.between[name], self._between_delta[name]
        places = np.empty(2 * n * n, dtype=np.int64)
        count = mark_between(encoded.tags, delta, gold, found, 1.0, places)
        count += mark_between(encoded.tags, delta, found, gold, -1.0, places[count:])
        flat = delta.reshape(-1, 1)
        squared_norm(flat, places, count)
        take_step(weights.reshape(-1, 1), self._between_sums[name].reshape(-1, 1), flat, places, count, 1.0, number)

    def _step_tuples(
        self, name: str, encoded: Encoded, right: tuple[Ints, Ints], wrong: tuple[Ints, Ints], number: int
    ) -> None:
        right, wrong = _without(right, wrong), _without(wrong, right)
        templates = len(self.model.tables[name].templates)
        most = (len(right[0]) + len(wrong[0])) * templates
        if not most:
            return
        self._reserve(name, most)
        table, delta = self.model.tables[name], self._delta[name]
        slots = np.empty(most, dtype=np.int64)
        count = mark_tuples(encoded.codes, table, delta, *right, 1.0, slots)
        count += mark_tuples(encoded.codes, table, delta, *wrong, -1.0, slots[count:])
        self._claimed[name] += count
        squared_norm(delta, slots, count)
        take_step(table.values, self._sums[name], delta, slots, count, 1.0, number)

    def _reserve(self, name: str, keys: int) -> None:
        """Make room for so many more keys."""
        table = self.model.tables[name]
        if 2 * (self._claimed[name] + keys) <= len(table.keys):
            return
        held = np.flatnonzero(table.keys >= 0)
        self._claimed[name] = len(held)
        if 2 * (len(held) + keys) <= len(table.keys):
            return
        width = table.values.shape[1]
        both = np.concatenate([table.values[held], self._sums[name][held]], axis=1)
        grown = table_of(table, table.keys[held], both, room=2 * (len(held) + keys))
        self.model.tables[name] = grown._replace(values=np.ascontiguousarray(grown.values[:, :width]))
        self._sums[name] = np.ascontiguousarray(grown.values[:, width:])
        self._delta[name] = np.zeros_like(self._sums[name])

    def averaged(self) -> Model:
        """The model whose weights are the averages over all steps."""
        model = self.model
        tables, between = {}, {}
        for name, table in model.tables.items():
            number = max(self.number["filter" if name == "filter" else "rest"], 1)
            values = table.values - self._sums[name] / np.float32(number)
            held = np.flatnonzero((table.keys >= 0) & (values != 0.0).any(axis=1))
            tables[name] = table_of(table, table.keys[held], values[held])
        for name, weights in model.between.items():
            number = max(self.number["filter" if name == "filter" else "rest"], 1)
            between[name] = weights - self._between_sums[name] / np.float32(number)
        triples = None
        if model.triples is not None and self._triple_sums is not None:
            triples = model.triples - self._triple_sums / np.float32(max(self.number["rest"], 1))
        return dataclasses.replace(model, tables=tables, between=between, triples=triples)


def tree_tuples(model: Model, sentence: Sentence, heads: Ints) -> dict[str, tuple[Ints, Ints]]:
    """What a tree has of each table of tuples: columns and relations.  Heads of shape (N,)."""
    size = len(heads)
    allowed = np.zeros((size, size), dtype=np.bool_)
    allowed[heads[1:], np.arange(1, size)] = True
    found: dict[str, tuple[Ints, Ints]] = {}
    if model.backbone != "first":
        found["adjacent"] = adjacent_features(factor_sets.tree_adjacent_siblings(heads), size)
    if model.backbone == "grandchild":
        found["outermost"] = outermost_features(factor_sets.tree_outermost_grandchildren(heads), size)
    if model.backbone == "third":
        rows = factor_sets.grandchildren(allowed)
        found["all_grandchildren"] = (rows, GRAND.relation(rows))
    words = Words(sentence)
    for family in model.members():
        rows = family.rows(words, allowed)
        found[family.name] = (rows, family.relation(rows))
    return found


def _without(these: tuple[Ints, Ints], those: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """The tuples that are in the first set only."""
    listed = set(map(tuple, those[0].tolist()))
    kept = [k for k, row in enumerate(these[0].tolist()) if tuple(row) not in listed]
    return np.ascontiguousarray(these[0][kept]), np.ascontiguousarray(these[1][kept])


def _triple_places(triples: Singles, encoded: Encoded, heads: Ints) -> Ints:
    """Where the weights of a tree's grand-siblings are in the flat table."""
    rows = factor_sets.tree_adjacent_siblings(heads)
    h, m, s = rows.T
    g = np.where(h > 0, heads[h], 0)
    tags = encoded.tags
    last = np.where(s == h, triples.shape[5] - 1, tags[s])
    places = np.ravel_multi_index(
        ((g > h).astype(int), (m > h).astype(int), tags[g], tags[h], tags[m], last), triples.shape
    )
    return np.asarray(places, dtype=np.int64)
