"""Relations in arc scores: the score of an arc is that with its best relation.

The tree is then chosen with relations in view, at no extra search: the best relation of an arc does not depend on other
arcs.  :mod:`colgen.problems.dependency.labels` scores relations of several arcs jointly once the tree is known.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.learning.weights import AveragedWeights, FeatureWeights, prefixed
from colgen.problems.dependency.features.arc_label_scores import NOTHING, LabelLists, best_of_arcs, mark_relations
from colgen.problems.dependency.features.growing_arcs import least_kept, lengthen, owned
from colgen.problems.dependency.features.label_scores import HEAD, keys_of_tree, rows_of
from colgen.problems.dependency.features.relation_scores import RelationIndex, best_relations, relation_index
from colgen.problems.dependency.features.vocabulary import KIND, Codes, Encoded, Vocabulary
from colgen.problems.dependency.labels import LABEL_TEMPLATES, Labels, number_features, templates_of
from colgen.problems.dependency.sentence import Sentence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]

TEMPLATES = tuple(template for template in LABEL_TEMPLATES if template[3] == HEAD)
"""Templates that use head and modifier only."""

_NONE = np.empty(0, dtype=np.int64)
_NO_LOSS = np.zeros(2)

_OFTEN = 16
"""A feature gets a dense row if it occurs this many times per relation in the gold trees."""


@dataclass(frozen=True, eq=False)
class ArcLabels:
    """Learned scores of the relations of arcs; ``sizes`` is :attr:`Vocabulary.sizes`."""

    relations: tuple[str, ...]
    sizes: Ints
    weights: FeatureWeights

    @cached_property
    def _index(self) -> RelationIndex:
        return relation_index(templates_of(TEMPLATES, self.sizes), self.sizes, self.weights, KIND)

    def best(self, encoded: Encoded) -> tuple[Floats, Shorts]:
        """Return the score and the number of the best relation of each arc, by head and modifier."""
        return best_relations(encoded.codes, self._index)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_index"}

    def forget(self) -> None:
        vars(self).pop("_index", None)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return prefixed("arc_labels", self.weights.arrays())

    @staticmethod
    def from_arrays(names: Sequence[str], arrays: Mapping[str, NDArray[Any]], vocabulary: Vocabulary) -> ArcLabels:
        """Return the scores from a model's file; raise :class:`InputError` if the arrays do not fit."""
        relations = tuple(map(str, names))
        return ArcLabels(relations, vocabulary.sizes, FeatureWeights.from_arrays(arrays, "arc_labels", len(relations)))

    def relation_names(self, which: Shorts, heads: Sequence[int]) -> tuple[str, ...]:
        """Return the names of a tree's relations from the numbers of :meth:`best`."""
        return tuple(self.relations[which[head, token]] for token, head in enumerate(heads, 1))


def relations_data(
    labels: Labels | None, arc_labels: ArcLabels | GrowingArcLabels | None
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the relation names and arrays to store in a model's file."""
    names: dict[str, Any] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for name, one in (("labels", labels), ("arc_labels", arc_labels)):
        if isinstance(one, (Labels, ArcLabels)):
            names[name] = one.relations
            arrays |= one.arrays()
    return names, arrays


def relations_from(about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], vocabulary: Vocabulary) -> Any:
    """Return the two model fields stored by :func:`relations_data`."""
    kinds: dict[str, type[Labels] | type[ArcLabels]] = {"labels": Labels, "arc_labels": ArcLabels}
    return {name: kind.from_arrays(about[name], arrays, vocabulary) for name, kind in kinds.items() if name in about}


class GrowingArcLabels:
    """Arc relation scores during training: weights, their sums for averaging, and features of the current step.

    All sentences need heads and relations.  Features of the gold trees may have weights.  ``right`` contains the gold
    relations of each sentence by token, shape (n + 1,); the root's is 0.
    """

    KEPT = "first", "after", "relations", "weights", "sums"
    """Names of the arrays in :meth:`state`."""

    def __init__(self, sentences: Sequence[Sentence], encoded: Sequence[Encoded], vocabulary: Vocabulary) -> None:
        names = sorted({relation for sentence in sentences for relation in sentence.relations or ()})
        number = {name: k for k, name in enumerate(names)}
        self.relations, self._sizes = tuple(names), vocabulary.sizes
        self.right = [
            np.array([0, *(number[name] for name in sentence.relations or ())], dtype=np.int64)
            for sentence in sentences
        ]
        self._templates = templates_of(TEMPLATES, self._sizes)
        keys, at = np.empty((sum(map(len, encoded)), len(TEMPLATES)), dtype=np.int64), 0
        for sentence, of in zip(sentences, encoded, strict=True):
            heads = np.array([-1, *(sentence.heads or ())], dtype=np.int64)
            keys_of_tree(of.codes, self._templates, heads, keys[at : at + len(of)])
            at += len(of)
        self._keys, _ = number_features(keys, _NONE)
        self._rows = rows_of(self._keys)
        first = np.full(len(self._keys), NOTHING)
        often = self._often(keys)
        first[often] = -2 - np.arange(len(often))
        zeros = np.zeros(len(often) * len(names), dtype=np.float32)
        self.restore({"first": first, "after": _NONE, "relations": _NONE, "weights": zeros, "sums": zeros})

    def _often(self, keys: Ints) -> Ints:
        """Return the features frequent enough for a dense row."""
        counts = np.zeros(len(self._keys), dtype=np.int64)
        for t in range(keys.shape[1]):
            every, own = np.unique(keys[:, t], return_counts=True)
            known = np.isin(every, self._keys)
            counts[np.searchsorted(self._keys, every[known])] += own[known]
        return np.flatnonzero(counts >= _OFTEN * len(self.relations))

    def best(self, encoded: Encoded) -> tuple[Floats, Shorts]:
        best, which, _ = self.best_with_losses(encoded.codes, _NONE, _NONE, _NO_LOSS)
        return best, which

    def best_with_losses(self, codes: Codes, heads: Ints, right: Ints, losses: Floats) -> tuple[Floats, Shorts, Floats]:
        """See :func:`~colgen.problems.dependency.features.arc_label_scores.best_of_arcs`."""
        num = len(self.relations)
        return best_of_arcs(codes, self._templates, self._rows, self._lists, num, heads, right, losses)

    def mark(self, codes: Codes, right: tuple[Ints, Ints], found: tuple[Ints, Ints]) -> float:
        """Mark the features in which the gold and the predicted tree differ; return their squared norm.

        Each tree is a pair of heads and relations by token.
        """
        most = 2 * (len(right[0]) - 1) * len(TEMPLATES)
        average, num = self._average, len(self.relations)
        average.begin(most)
        lists, (rows, entries) = self._lists, self._lists.sizes.tolist()
        if entries + most > len(lists.after):
            lengthen(entries + most, lists.after, lists.relations)
            lengthen(entries + most, average.weights, average.sums, behind=rows * num)
        for tree, other, plus in ((right, found, True), (found, right, False)):
            average.count = mark_relations(
                codes, self._templates, self._rows, lists, num, tree, other, plus, average.marks, average.count
            )
        return average.settle()

    def step(self, step: float, number: float) -> None:
        self._average.step(step, number)

    def averaged(self, steps: float, cutoff: float = 0.0) -> ArcLabels:
        """Return the averaged weights that exceed the share ``cutoff`` of their 99th percentile."""
        lists, num, (rows, entries) = self._lists, len(self.relations), self._lists.sizes.tolist()
        weights = self._average.mean(steps)[: rows * num + entries]
        feature, entry = np.empty(entries, dtype=np.int32), lists.first.astype(np.int64)
        of_rows = np.empty(rows, dtype=np.int32)
        of_rows[-2 - entry[entry < NOTHING]] = np.flatnonzero(entry < NOTHING)
        those = np.flatnonzero(entry >= 0)
        while len(those):  # follow the lists of all features in parallel
            feature[entry[those]] = those
            entry[those] = lists.after[entry[those]]
            those = those[entry[those] >= 0]
        feature = np.concatenate([np.repeat(of_rows, num), feature])
        which = np.concatenate([np.tile(np.arange(num, dtype=np.int32), rows), lists.relations[:entries]])
        size = np.abs(weights)
        kept = np.flatnonzero(size > least_kept(size[size > 0.0], cutoff))
        kept = kept[np.argsort(feature[kept], kind="stable")]
        used, starts = np.unique(feature[kept], return_index=True)
        starts = np.append(starts, len(kept)).astype(np.int64)
        table = FeatureWeights(self._keys[used], starts, which[kept], weights[kept], num)
        return ArcLabels(self.relations, self._sizes, table)

    def copy_at_average(self, steps: float) -> GrowingArcLabels:
        """Return a copy that starts from the average over all steps so far."""
        fresh = copy.copy(self)
        kept = self.state()
        mean = kept["weights"] - kept["sums"] / np.float32(steps)
        fresh.restore({**kept, "weights": mean, "sums": np.zeros_like(mean)})
        return fresh

    # --- saving and restoring ----------------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        lists, (rows, entries) = self._lists, self._lists.sizes.tolist()
        held = rows * len(self.relations) + entries
        arrays = lists.after[:entries], lists.relations[:entries], lists.weights[:held], self._average.sums[:held]
        return dict(zip(self.KEPT, (lists.first, *arrays), strict=True))

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        entries, held = len(arrays["after"]), len(arrays["weights"])
        self._lists = LabelLists(
            np.array([(held - entries) // max(len(self.relations), 1), entries]),
            np.array(arrays["first"], dtype=np.int32),
            owned(arrays["after"], np.int32, entries),
            owned(arrays["relations"], np.int32, entries),
            owned(arrays["weights"], np.float32, held),
        )
        self._average = AveragedWeights(self._lists.weights)
        self._average.sums = owned(arrays["sums"], np.float32, held)
