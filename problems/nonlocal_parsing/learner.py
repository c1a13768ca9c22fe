"""Models in training: steps of the averaged structured perceptron (Collins, 2002).

Only features that are frequent enough in the correct trees have weights. Features of incorrect trees alone would be the
majority, and their weights do not improve accuracy on new sentences.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.learning.weights import AveragedWeights, part, prefixed
from colgen.problems.dependency.arc_labels import GrowingArcLabels
from colgen.problems.dependency.features.tags_between import mark_between
from colgen.problems.dependency.features.tuple_scores import mark_tuples
from colgen.problems.dependency.features.vocabulary import Encoded
from colgen.problems.nonlocal_parsing.decoding import decode
from colgen.problems.nonlocal_parsing.examples import Example, ParsedExamples, tree_tuples
from colgen.problems.nonlocal_parsing.kernels import factor_sets
from colgen.problems.nonlocal_parsing.local_parts import Tuples, tree_arcs
from colgen.problems.nonlocal_parsing.scoring import Model
from colgen.solvers.trees.eisner import Parts, best_tree

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Singles = NDArray[np.float32]


class FilterLearner:
    """The classifier that selects candidate heads, a first-order parser.

    ``model`` has the weights after the last step, not averaged; ``steps`` counts the sentences seen.
    """

    batch = 1

    def __init__(self, examples: ParsedExamples) -> None:
        empty = Model.zero(examples.vocabulary, "first")
        model = Model.zero(examples.vocabulary, "first", keys=examples.features(empty, ("filter",)))
        only = {"filter": model.tables["filter"]}, {"filter": model.between["filter"]}
        self._start(examples, dataclasses.replace(model, tables=only[0], between=only[1]), ("filter",))

    def _start(self, examples: ParsedExamples, model: Model, learned: Sequence[str]) -> None:
        """Begin with the weights of a model; only the tables ``learned`` change."""
        self.examples, self.model, self.steps = examples, model, 0
        self._tables = {name: AveragedWeights(model.tables[name].weights) for name in learned}
        self._between = {name: AveragedWeights(model.between[name]) for name in learned if name in model.between}
        self._triples = None if model.triples is None else AveragedWeights(model.triples)

    def __len__(self) -> int:
        return len(self.examples)

    def learn(self, examples: Ints) -> tuple[float, float]:
        wrong = words = 0
        for k in examples.tolist():
            self.steps += 1
            wrong += self._learn_one(k)
            words += len(self.examples.examples[k].encoded)
        return float(wrong), float(words)

    def _learn_one(self, k: int) -> int:
        """Take a step on one sentence; return its number of incorrect heads."""
        _, encoded, gold = self.examples.examples[k]
        everywhere = np.ones((len(gold), len(gold)), dtype=np.bool_)
        everywhere[:, 0] = False
        np.fill_diagonal(everywhere, False)
        found = best_tree(Parts(self.model.score_arcs("filter", encoded, everywhere)))
        assert found is not None  # every arc is allowed
        self._step_arcs("filter", encoded, gold, found[1])
        return int((gold != found[1]).sum())

    def _step_arcs(self, name: str, encoded: Encoded, gold: Ints, found: Ints) -> None:
        n, differ = len(gold) - 1, np.flatnonzero(gold[1:] != found[1:])
        right, wrong = (Tuples(*(array[differ] for array in tree_arcs(tree))) for tree in (gold, found))
        self._step_tuples(name, encoded, right, wrong)
        between, tags = self._between[name], self.model.vocabulary.num_tags
        between.begin(2 * n * n)
        for heads, other, plus in ((gold, found, True), (found, gold, False)):
            between.count = mark_between(encoded.tags, tags, heads, other, plus, between.marks, between.count)
        self._apply_step(between)

    def _step_tuples(self, name: str, encoded: Encoded, right: Tuples, wrong: Tuples) -> None:
        table, average = self.model.tables[name], self._tables[name]
        width, codes, features = table.weights.shape[1], encoded.codes, table.features
        average.begin(2 * (len(right.columns) + len(wrong.columns)) * len(table.radix.templates))
        for tuples, plus in ((right, True), (wrong, False)):
            average.count = mark_tuples(codes, features, width, *tuples, plus, average.marks, average.count)
        self._apply_step(average)

    def _apply_step(self, average: AveragedWeights) -> None:
        """Apply the marked step."""
        average.settle()
        average.step(1.0, self.steps)

    def averaged(self) -> Model:
        """Return the model with the average weights over all steps."""
        tables, between = dict(self.model.tables), dict(self.model.between)
        for name, average in self._tables.items():
            tables[name] = tables[name]._replace(weights=average.mean(self.steps))
        between |= {name: average.mean(self.steps) for name, average in self._between.items()}
        triples = None if self._triples is None else self._triples.mean(self.steps)
        return dataclasses.replace(self.model, tables=tables, between=between, triples=triples)

    def _averages(self) -> dict[str, AveragedWeights]:
        """Return all averaged weights, by name."""
        named = {f"table.{name}": average for name, average in self._tables.items()}
        named |= {f"between.{name}": average for name, average in self._between.items()}
        return named if self._triples is None else {**named, "triples": self._triples}

    def state(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {"steps": np.array(self.steps)}
        for name, average in self._averages().items():
            arrays |= prefixed(name, average.state())
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        for name, average in self._averages().items():
            average.restore(part(name, arrays))
        self.steps = int(arrays["steps"])


class ParserLearner(FilterLearner):
    """A model that decodes over the candidates of a trained filter.

    ``filtered`` has the filter; all other weights begin at zero. ``labels`` are scores of the best relation of each
    arc, None if arc scores do not include relations. ``candidates`` are heads per word, None for all.
    """

    def __init__(
        self,
        examples: ParsedExamples,
        filtered: Model,
        backbone: str = "grandchild",
        families: Sequence[str] = (),
        *,
        labels: GrowingArcLabels | None = None,
        candidates: int | None = 10,
    ) -> None:
        self._most, self._allowed = candidates, list[Bools]()
        self._extend(examples, filtered, ("filter",), backbone, families, labels)

    def with_families(self, families: Sequence[str]) -> ParserLearner:
        """Return a learner that continues from the current average with these families, without changing this one.

        It averages over its own steps only. Otherwise the families' weights would count as zero in all earlier steps,
        and the contributions that the backbone leaves to them would be missing.
        """
        initial, learned = self.averaged(), self.model.arc_labels
        labels = None
        if isinstance(learned, GrowingArcLabels):
            labels = learned.copy_at_average(max(self.steps, 1))
        learner = object.__new__(ParserLearner)
        learner._most, learner._allowed = self._most, self._allowed
        learner._extend(self.examples, initial, tuple(initial.tables), initial.backbone, families, labels)
        return learner

    def _extend(
        self,
        examples: ParsedExamples,
        initial: Model,
        kept: Sequence[str],
        backbone: str,
        families: Sequence[str],
        labels: GrowingArcLabels | None,
    ) -> None:
        """Begin with the tables ``kept`` of a model, and with zero weights in all others."""
        empty = Model.zero(examples.vocabulary, backbone, families)
        fresh = examples.features(empty, [name for name in empty.tables if name not in kept])
        model = Model.zero(examples.vocabulary, backbone, families, fresh)
        model.tables.update({name: initial.tables[name] for name in kept})
        model.between.update({name: initial.between[name] for name in kept if name in initial.between})
        triples = initial.triples if "arcs" in kept else model.triples
        model = dataclasses.replace(model, triples=triples, arc_labels=labels)
        self._start(examples, model, [name for name in model.tables if name != "filter"])

    def _learn_one(self, k: int) -> int:
        if not self._allowed:
            right = ((e.encoded, e.heads[1:].tolist()) for e in self.examples.examples)
            self._allowed += [self.model.candidates(encoded, self._most, heads) for encoded, heads in right]
        example = self.examples.examples[k]
        found = decode(self.model.score_sentence(example.words, example.encoded, self._allowed[k]))
        if found is None:
            return 0
        other, labels = np.array([-1, *found]), self.model.arc_labels
        if isinstance(labels, GrowingArcLabels):
            which = labels.best(example.encoded)[1]
            named = np.concatenate([[0], which[other[1:], np.arange(1, len(other))]]).astype(np.int64)
            if labels.mark(example.encoded.codes, (example.heads, labels.right[k]), (other, named)) > 0.0:
                labels.step(1.0, self.steps)
        missed = int((example.heads != other).sum())
        if missed:
            self.step(example, other)
        return missed

    def step(self, example: Example, found: Ints) -> None:
        """Add the features of the correct tree to the weights, and subtract those of the tree found."""
        words, encoded, gold = example
        self._step_arcs("arcs", encoded, gold, found)
        right, wrong = tree_tuples(self.model, words, gold), tree_tuples(self.model, words, found)
        for name in right:
            if name != "arcs":
                self._step_tuples(name, encoded, right[name], wrong[name])
        if self.model.triples is not None and self._triples is not None:
            several = [_triple_places(self.model.triples, encoded, tree) for tree in (gold, found)]
            marks = np.concatenate([2 * several[0] + 1, 2 * several[1]])
            self._triples.begin(len(marks))
            self._triples.marks[: len(marks)], self._triples.count = marks, len(marks)
            self._apply_step(self._triples)

    def averaged(self) -> Model:
        """Return the model with the average weights over all steps."""
        model, labels = super().averaged(), self.model.arc_labels
        if isinstance(labels, GrowingArcLabels):
            model = dataclasses.replace(model, arc_labels=labels.averaged(max(self.steps, 1)))
        return model

    def state(self) -> dict[str, NDArray[Any]]:
        model, labels = self.model, self.model.arc_labels
        fixed = {"filter.weights": model.tables["filter"].weights, "filter.between": model.between["filter"]}
        own = prefixed("arc_labels", labels.state()) if isinstance(labels, GrowingArcLabels) else {}
        return {**super().state(), **fixed, **own}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        super().restore(arrays)
        self.model.tables["filter"].weights[:] = arrays["filter.weights"]
        self.model.between["filter"][:] = arrays["filter.between"]
        self._allowed.clear()
        if isinstance(self.model.arc_labels, GrowingArcLabels):
            self.model.arc_labels.restore(part("arc_labels", arrays))


def _triple_places(triples: Singles, encoded: Encoded, heads: Ints) -> Ints:
    """Return the positions of a tree's grand-siblings in the flat table of weights."""
    rows = factor_sets.tree_adjacent_siblings(heads)
    h, m, s = rows.T
    g = np.where(h > 0, heads[h], 0)
    tags = encoded.tags
    last = np.where(s == h, triples.shape[5] - 1, tags[s])
    places = np.ravel_multi_index(
        ((g > h).astype(int), (m > h).astype(int), tags[g], tags[h], tags[m], last), triples.shape
    )
    return np.asarray(places, dtype=np.int64)
