"""A model in training: steps of the averaged structured perceptron (Collins, 2002).

The features are fixed beforehand: those that the right trees have often enough.  What only wrong trees have would be
most of all features, and weights for it do not make fresh sentences any better.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from colgen.problems.dependency.arc_labels import GrowingArcLabels
from colgen.problems.dependency.features.margin_updates import mark_between, take_step
from colgen.problems.dependency.features.tuple_scores import mark_tuples, table_of
from colgen.problems.dependency.features.vocabulary import Encoded
from colgen.problems.dependency.training import Say, one_pass
from colgen.problems.nonlocal_parsing.decoding import decode
from colgen.problems.nonlocal_parsing.examples import Example, ParsedExamples, tree_tuples
from colgen.problems.nonlocal_parsing.kernels import factor_sets
from colgen.problems.nonlocal_parsing.local_parts import Tuples, tree_arcs
from colgen.problems.nonlocal_parsing.scoring import Model
from colgen.solvers.trees.eisner import Parts, best_tree

Ints = NDArray[np.int64]
Singles = NDArray[np.float32]


class _Average:
    """Weights that are changed in place, and the sums that their average needs."""

    def __init__(self, weights: Singles) -> None:
        self.weights = weights.reshape(-1, weights.shape[-1]) if weights.ndim == 2 else weights.reshape(-1, 1)
        self.sums, self.delta = np.zeros_like(self.weights), np.zeros_like(self.weights)
        self.shape = weights.shape

    def step(self, places: Ints, count: int, number: float) -> None:
        """Add what ``delta`` has at places, some named twice; it becomes zero."""
        take_step(self.weights, self.sums, self.delta, places, count, 1.0, number)

    def mean(self, number: float) -> Singles:
        """The average of the weights over so many steps."""
        mean: Singles = (self.weights - self.sums / np.float32(max(number, 1.0))).reshape(self.shape)
        return mean


class PerceptronLearner:
    """A model in training.

    Parameters
    ----------
    relations
        Whether an arc's score has that of its best relation.

    Attributes
    ----------
    model
        The weights after the last step, not averaged.
    number
        Sentences seen, by the filter and by the rest.
    """

    def __init__(
        self,
        examples: ParsedExamples,
        backbone: str = "grandchild",
        families: Sequence[str] = (),
        *,
        relations: bool = False,
    ) -> None:
        empty = Model.zero(examples.vocabulary, backbone, families)
        features = examples.features(empty, tuple(empty.tables))
        model = Model.zero(examples.vocabulary, backbone, families, features)
        if relations:
            model = dataclasses.replace(model, arc_labels=examples.arc_labels())
        self._start(examples, model)

    def _start(self, examples: ParsedExamples, model: Model) -> None:
        self.examples, self.model = examples, model
        self.number = {"filter": 0, "rest": 0}
        self._tables = {name: _Average(table.weights) for name, table in model.tables.items()}
        self._between = {name: _Average(weights) for name, weights in model.between.items()}
        self._triples = None if model.triples is None else _Average(model.triples)

    def _all(self) -> dict[str, _Average]:
        """Everything that is averaged, by name."""
        named = {f"table.{name}": average for name, average in self._tables.items()}
        named |= {f"between.{name}": average for name, average in self._between.items()}
        return named if self._triples is None else {**named, "triples": self._triples}

    def afresh(self, backbone: str) -> PerceptronLearner:
        """A learner with another backbone, which has the filter and nothing else from this one."""
        begun, learner = self.averaged(compact=False), PerceptronLearner(self.examples, backbone)
        learner._tables["filter"].weights[:] = begun.tables["filter"].weights
        learner._between["filter"].weights[:] = begun.between["filter"].reshape(-1, 1)
        return learner

    def with_families(self, families: Sequence[str]) -> PerceptronLearner:
        """A learner that goes on with factors of these families from the average so far; this one stays as it is.

        It takes its own average, over its own steps: the families' weights would else count as zero for all the steps
        before they came, and what the backbone's weights leave to them would be missing.
        """
        begun, labels = self.averaged(compact=False), self.model.arc_labels
        if isinstance(labels, GrowingArcLabels):
            labels = labels.begun_at_average(max(self.number["rest"], 1))
        empty = Model.zero(begun.vocabulary, begun.backbone, families)
        model = dataclasses.replace(empty, tables={}, between=begun.between, triples=begun.triples, arc_labels=labels)
        fresh = [name for name in empty.tables if name not in begun.tables]
        features = self.examples.features(empty, fresh)
        for name, table in empty.tables.items():
            if name in begun.tables:
                model.tables[name] = begun.tables[name]
            else:
                zero = np.zeros((len(features[name]), table.weights.shape[1]), dtype=np.float32)
                model.tables[name] = table_of(table.radix, features[name], zero)
        learner = object.__new__(PerceptronLearner)
        learner._start(self.examples, model)
        return learner

    # --- steps -------------------------------------------------------------------------------------------------------

    def learn_filter(self, rng: np.random.Generator) -> float:
        """Go over the sentences with the classifier that picks candidate heads, a first-order parser.

        Returns the share of heads that were wrong before each step, in percent.
        """

        def step(i: int) -> tuple[int, int]:
            _, encoded, gold = self.examples.examples[i]
            everywhere = np.ones((len(gold), len(gold)), dtype=np.bool_)
            everywhere[:, 0] = False
            np.fill_diagonal(everywhere, False)
            found = best_tree(Parts(self.model.score_arcs("filter", encoded, everywhere)))
            assert found is not None  # every arc is allowed
            self.number["filter"] += 1
            self._step_arcs("filter", encoded, gold, found[1], self.number["filter"])
            return int((gold != found[1]).sum()), len(encoded)

        return 100.0 * one_pass(rng.permutation(len(self.examples)).tolist(), step)

    def learn(
        self, rng: np.random.Generator, *, k: int | None = 10, most: int | None = None, say: Say | None = None
    ) -> float:
        """Go over the sentences, decoding over the filter's candidates and the right tree.

        Returns the share of heads that were wrong before each step, in percent.

        Parameters
        ----------
        most
            How many sentences are taken; None for all.
        say
            Told now and then how far it is.
        """
        self._settle_filter()
        allowed = self.examples.candidates(self.model, k)
        order = rng.permutation(len(self.examples))[:most].tolist()

        def step(i: int) -> tuple[int, int]:
            example = self.examples.examples[i]
            found = decode(self.model.scored(example.words, example.encoded, allowed[i]))
            self.number["rest"] += 1
            if found is None:
                return 0, len(example.encoded)
            other = np.array([-1, *found])
            missed = int((example.heads != other).sum())
            labels = self.model.arc_labels
            if isinstance(labels, GrowingArcLabels):
                which = labels.best(example.encoded)[1]
                named = np.concatenate([[0], which[other[1:], np.arange(1, len(other))]]).astype(np.int64)
                if labels.mark(example.encoded.codes, (example.heads, labels.right[i]), (other, named)) > 0.0:
                    labels.step(1.0, self.number["rest"])
            if missed:
                self.step(example, other)
            return missed, len(example.encoded)

        return 100.0 * one_pass(order, step, say)

    def _settle_filter(self) -> None:
        """Take the filter's average for its weights: the rest learns over the candidates that parsing will have."""
        for average in (self._tables["filter"], self._between["filter"]):
            average.weights[:] = average.mean(self.number["filter"]).reshape(average.weights.shape)
            average.sums[:] = 0.0
        self.number["filter"] = 0

    def step(self, example: Example, found: Ints) -> None:
        """Add the features of the right tree to the weights, subtract those of the tree found."""
        words, encoded, gold = example
        model, number = self.model, self.number["rest"]
        self._step_arcs("arcs", encoded, gold, found, number)
        right, wrong = tree_tuples(model, words, gold), tree_tuples(model, words, found)
        for name in right:
            if name != "arcs":
                self._step_tuples(name, encoded, right[name], wrong[name], number)
        if model.triples is not None and self._triples is not None:
            several = [_triple_places(model.triples, encoded, tree) for tree in (gold, found)]
            for sign, places in zip((1.0, -1.0), several, strict=True):
                np.add.at(self._triples.delta[:, 0], places, sign)
            both = np.concatenate(several)
            self._triples.step(both, len(both), number)

    def _step_arcs(self, name: str, encoded: Encoded, gold: Ints, found: Ints, number: int) -> None:
        n, differ = len(gold) - 1, np.flatnonzero(gold[1:] != found[1:])
        right, wrong = (Tuples(*(array[differ] for array in tree_arcs(tree))) for tree in (gold, found))
        self._step_tuples(name, encoded, right, wrong, number)
        between = self._between[name]
        delta = between.delta.reshape(between.shape)
        places = np.empty(2 * n * n, dtype=np.int64)
        count = mark_between(encoded.tags, delta, gold, found, 1.0, places)
        count += mark_between(encoded.tags, delta, found, gold, -1.0, places[count:])
        between.step(places, count, number)

    def _step_tuples(self, name: str, encoded: Encoded, right: Tuples, wrong: Tuples, number: int) -> None:
        table, average = self.model.tables[name], self._tables[name]
        places = np.empty((len(right.columns) + len(wrong.columns)) * len(table.radix.templates), dtype=np.int64)
        count = mark_tuples(encoded.codes, table.features, average.delta, *right, 1.0, places)
        count += mark_tuples(encoded.codes, table.features, average.delta, *wrong, -1.0, places[count:])
        average.step(places, count, number)

    # --- results -----------------------------------------------------------------------------------------------------

    def averaged(self, *, compact: bool = True) -> Model:
        """The model whose weights are the averages over all steps.

        Parameters
        ----------
        compact
            Leave out features whose weights are zero.
        """
        model, number = (
            self.model,
            {name: self.number["filter" if name == "filter" else "rest"] for name in self._tables},
        )
        tables = {}
        for name, table in model.tables.items():
            weights = self._tables[name].mean(number[name])
            held = (weights != 0.0).any(axis=1)
            if compact and not held.all():
                tables[name] = table_of(table.radix, table.keys[held], weights[held])
            else:
                tables[name] = table._replace(weights=weights)
        between = {name: average.mean(number[name]) for name, average in self._between.items()}
        triples = None if self._triples is None else self._triples.mean(self.number["rest"])
        labels = model.arc_labels
        if isinstance(labels, GrowingArcLabels):
            labels = labels.averaged(max(self.number["rest"], 1))
        return dataclasses.replace(model, tables=tables, between=between, triples=triples, arc_labels=labels)

    def state(self) -> dict[str, NDArray[np.generic]]:
        """What has to be kept to go on later."""
        arrays: dict[str, NDArray[np.generic]] = {
            "number": np.array([self.number["filter"], self.number["rest"]], dtype=np.int64)
        }
        for name, average in self._all().items():
            arrays[f"{name}.weights"], arrays[f"{name}.sums"] = average.weights, average.sums
        labels = self.model.arc_labels
        if isinstance(labels, GrowingArcLabels):
            arrays |= {f"arc_labels.{name}": array for name, array in labels.state().items()}
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        """Put back what :meth:`state` gave.

        Raises
        ------
        ValueError, KeyError
            If it does not fit.
        """
        for name, average in self._all().items():
            average.weights[:], average.sums[:] = arrays[f"{name}.weights"], arrays[f"{name}.sums"]
        labels = self.model.arc_labels
        if isinstance(labels, GrowingArcLabels):
            labels.restore({name: arrays[f"arc_labels.{name}"] for name in labels.KEPT})
        self.number = dict(zip(("filter", "rest"), arrays["number"].tolist(), strict=True))


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
