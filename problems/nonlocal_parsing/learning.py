"""Averaged structured perceptron (Collins, 2002), decoding with the parser itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen import InputError, TimeLimit, solve
from problems.dependency.features import Encoded, Vocabulary
from problems.dependency.sentence import Heads, Sentence
from problems.nonlocal_parsing.families import Words
from problems.nonlocal_parsing.instance import Instance
from problems.nonlocal_parsing.scoring import GRAND, Model, adjacent_features, outermost_features
from problems.nonlocal_parsing.template import NonlocalParsing
from solvers import factor_sets
from solvers.eisner import Parts, best_tree
from solvers.factored_scores import score_arcs, table_of
from solvers.margin_updates import mark_arcs, mark_between, squared_norm, take_step
from solvers.tuple_scores import mark_tuples

Ints = NDArray[np.int64]
Singles = NDArray[np.float32]
Say = Callable[[str], None]

FILTER_EPOCHS, EPOCHS, FAMILY_EPOCHS = 3, 6, 3
_LIMIT = 2.0
"""Seconds that a sentence may take in training; its best tree so far is then taken for the best."""


@dataclass(frozen=True)
class Accuracy:
    """Words whose head is right, all of them and without punctuation."""

    right: int
    words: int
    right_words: int
    real_words: int

    @property
    def all(self) -> float:
        """Unlabeled accuracy in percent, punctuation included."""
        return 100.0 * self.right / max(self.words, 1)

    @property
    def without_punctuation(self) -> float:
        """Unlabeled accuracy in percent, words whose coarse tag is ``PUNCT`` left out."""
        return 100.0 * self.right_words / max(self.real_words, 1)


def accuracy(sentences: Sequence[Sentence], found: Sequence[Heads]) -> Accuracy:
    """How many heads are right."""
    right = words = right_words = real_words = 0
    for sentence, heads in zip(sentences, found, strict=True):
        if sentence.heads is None:
            raise InputError("expected sentences with heads, to compare with")
        for tag, gold, head in zip(sentence.coarse, sentence.heads, heads, strict=True):
            real = tag != "PUNCT"
            words, real_words = words + 1, real_words + real
            right, right_words = right + (gold == head), right_words + (real and gold == head)
    return Accuracy(right, words, right_words, real_words)


def decode(instance: Instance, limit: float = _LIMIT) -> Heads | None:
    """The best tree, by the plain dynamic program where there are no factors; None if none was found in time."""
    if not len(instance.nonlocal_factors):
        found = best_tree(instance.parts, allowed=instance.usable, single_root=instance.single_root)
        return None if found is None else tuple(found[1][1:].tolist())
    answer: Heads | None = solve(NonlocalParsing(instance), stop=TimeLimit(limit)).answer
    return answer


def usable(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Those that the parser can get right: projective, with a single word under the root."""
    return [s for s in sentences if s.heads is not None and s.num_roots == 1 and s.is_projective]


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
        """A learner that goes on from here with factors of these families; this one stays as it is."""
        model = Model.zero(self.model.vocabulary, self.model.backbone, families)
        fresh = Learner(model)
        fresh.number = dict(self.number)
        for name, table in self.model.tables.items():
            if name in model.tables:
                model.tables[name] = table._replace(keys=table.keys.copy(), values=table.values.copy())
                fresh._sums[name] = self._sums[name].copy()
                fresh._delta[name] = np.zeros_like(table.values)
                fresh._claimed[name] = self._claimed[name]
        for name, weights in self.model.between.items():
            model.between[name] = weights.copy()
            fresh._between_sums[name] = self._between_sums[name].copy()
        if self.model.triples is not None and self._triple_sums is not None:
            object.__setattr__(model, "triples", self.model.triples.copy())
            fresh._triple_sums = self._triple_sums.copy()
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


# --- training --------------------------------------------------------------------------------------------------------


def begin(
    sentences: Sequence[Sentence],
    *,
    backbone: str = "grandchild",
    families: Sequence[str] = (),
    seed: int = 0,
    filter_epochs: int = FILTER_EPOCHS,
    say: Say = print,
) -> Learner:
    """A learner with a trained filter, and all other weights zero.

    Raises
    ------
    InputError
        If no sentence is projective with a single word under the root.
    """
    learn_from = usable(sentences)
    if not learn_from:
        raise InputError("expected sentences with projective trees of a single root to learn from, there are none")
    learner = Learner(Model.zero(Vocabulary.of(learn_from), backbone, families))
    learner.learn_filter(learn_from, filter_epochs, np.random.default_rng(seed), say)
    return learner


def train(
    sentences: Sequence[Sentence],
    *,
    backbone: str = "grandchild",
    families: Sequence[str] = (),
    epochs: int = EPOCHS,
    family_epochs: int = FAMILY_EPOCHS,
    k: int | None = 10,
    seed: int = 0,
    say: Say = print,
) -> Model:
    """Train a model: the backbone first, then all of it together with the families."""
    learner = begin(sentences, backbone=backbone, seed=seed, say=say)
    learn_from, rng = usable(sentences), np.random.default_rng(seed)
    learner.learn(learn_from, epochs, rng, say, k=k, name=backbone)
    if families:
        learner = learner.with_families(families)
        learner.learn(learn_from, family_epochs, rng, say, k=k, name=", ".join(families))
    return learner.averaged()


def parse(model: Model, sentences: Sequence[Sentence], k: int | None = 10, limit: float = 10.0) -> list[Heads]:
    """The best trees; where none was found in time, each word hangs from the one before it."""
    found = (decode(model.instance(sentence, k), limit) for sentence in sentences)
    return [
        tuple(range(len(sentence))) if heads is None else heads
        for heads, sentence in zip(found, sentences, strict=True)
    ]
