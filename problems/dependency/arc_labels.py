"""Relations in the arcs' own scores: an arc is worth what its best relation makes of it.

The tree is then found with the relations in view, and no more has to be searched: the best relation of an arc is a
maximum that no other arc changes.  What relations of several arcs say together, a tree's are found by
(:mod:`colgen.problems.dependency.labels`), is left to a second look at the tree.
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
from colgen.problems.dependency.labels import LABEL_TEMPLATES, Labels, numbered, templates_of
from colgen.problems.dependency.sentence import Sentence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]

TEMPLATES = tuple(template for template in LABEL_TEMPLATES if template[3] == HEAD)
"""Those that look at head and modifier alone."""

_NONE = np.empty(0, dtype=np.int64)
_NO_LOSS = np.zeros(2)

_OFTEN = 16
"""So often a feature occurs in the right trees that has a row while it learns, for each relation that there is."""


@dataclass(frozen=True, eq=False)
class ArcLabels:
    """Learned scores of relations of arcs.

    Attributes
    ----------
    relations
        Their names.
    sizes
        How many codes each conjunction has (:attr:`~colgen.problems.dependency.features.vocabulary.Vocabulary.sizes`).
    weights
        Of features and relations.
    """

    relations: tuple[str, ...]
    sizes: Ints
    weights: FeatureWeights

    @cached_property
    def _index(self) -> RelationIndex:
        return relation_index(templates_of(TEMPLATES, self.sizes), self.sizes, self.weights, KIND)

    def best(self, encoded: Encoded) -> tuple[Floats, Shorts]:
        """Of each arc, by head and modifier: what the best relation scores, and its number."""
        return best_relations(encoded.codes, self._index)

    def __getstate__(self) -> dict[str, object]:
        """All but the index, which another process makes for itself."""
        return {name: value for name, value in vars(self).items() if name != "_index"}

    def forget(self) -> None:
        """Drop what is only there to find relations fast; it is made again when it is needed."""
        vars(self).pop("_index", None)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a model's file keeps besides the names."""
        return prefixed("arc_labels", self.weights.arrays())

    @staticmethod
    def from_arrays(names: Sequence[str], arrays: Mapping[str, NDArray[Any]], vocabulary: Vocabulary) -> ArcLabels:
        """Scores of relations from a model's file.

        Raises
        ------
        InputError
            If the arrays are of something else.
        """
        relations = tuple(map(str, names))
        return ArcLabels(relations, vocabulary.sizes, FeatureWeights.from_arrays(arrays, "arc_labels", len(relations)))

    def named(self, which: Shorts, heads: Sequence[int]) -> tuple[str, ...]:
        """The names of a tree's relations, of the numbers that :meth:`best` has given."""
        return tuple(self.relations[which[head, token]] for token, head in enumerate(heads, 1))


def relations_data(
    labels: Labels | None, arc_labels: ArcLabels | GrowingArcLabels | None
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What a model's file keeps of relations: names, and arrays."""
    names: dict[str, Any] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for name, one in (("labels", labels), ("arc_labels", arc_labels)):
        if isinstance(one, (Labels, ArcLabels)):
            names[name] = one.relations
            arrays |= one.arrays()
    return names, arrays


def relations_from(about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], vocabulary: Vocabulary) -> Any:
    """The two fields of a model of what :func:`relations_data` returned.

    Raises
    ------
    InputError
        If the arrays are of something else.
    """
    kinds: dict[str, type[Labels] | type[ArcLabels]] = {"labels": Labels, "arc_labels": ArcLabels}
    return {name: kind.from_arrays(about[name], arrays, vocabulary) for name, kind in kinds.items() if name in about}


class GrowingArcLabels:
    """Scores of relations that learn: weights, sums for the average, and the features of the step at hand.

    Parameters
    ----------
    sentences
        Whose right trees say which features may have weights; every one has heads and relations.
    encoded
        The sentences' codes.
    vocabulary
        Theirs.

    Attributes
    ----------
    right
        Of each sentence, the right relations by token, shape (n + 1,); the root's is 0.
    """

    KEPT = "first", "after", "relations", "weights", "sums"
    """What :meth:`state` has."""

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
        self._keys, _ = numbered(keys, _NONE)
        self._rows = rows_of(self._keys)
        first = np.full(len(self._keys), NOTHING)
        often = self._often(keys)
        first[often] = -2 - np.arange(len(often))
        zeros = np.zeros(len(often) * len(names), dtype=np.float32)
        self.restore({"first": first, "after": _NONE, "relations": _NONE, "weights": zeros, "sums": zeros})

    def _often(self, keys: Ints) -> Ints:
        """The features that occur so often that they have rows."""
        counts = np.zeros(len(self._keys), dtype=np.int64)
        for t in range(keys.shape[1]):
            every, own = np.unique(keys[:, t], return_counts=True)
            known = np.isin(every, self._keys)
            counts[np.searchsorted(self._keys, every[known])] += own[known]
        return np.flatnonzero(counts >= _OFTEN * len(self.relations))

    def best(self, encoded: Encoded) -> tuple[Floats, Shorts]:
        """Of each arc by the weights of the moment: what the best relation scores, and its number."""
        best, which, _ = self.best_with_losses(encoded.codes, _NONE, _NONE, _NO_LOSS)
        return best, which

    def best_with_losses(self, codes: Codes, heads: Ints, right: Ints, losses: Floats) -> tuple[Floats, Shorts, Floats]:
        """See :func:`~colgen.problems.dependency.features.arc_label_scores.best_of_arcs`."""
        num = len(self.relations)
        return best_of_arcs(codes, self._templates, self._rows, self._lists, num, heads, right, losses)

    def mark(self, codes: Codes, right: tuple[Ints, Ints], found: tuple[Ints, Ints]) -> float:
        """Mark what the right tree has and the tree found has not, and the reverse; the squared norm of that.

        Trees are heads and relations by token.
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
        """Take a step along what was marked."""
        self._average.step(step, number)

    def averaged(self, steps: float, cutoff: float = 0.0) -> ArcLabels:
        """The average of the weights over all steps so far, those above a share of the 99th hundredth's."""
        lists, num, (rows, entries) = self._lists, len(self.relations), self._lists.sizes.tolist()
        weights = self._average.mean(steps)[: rows * num + entries]
        feature, entry = np.empty(entries, dtype=np.int32), lists.first.astype(np.int64)
        of_rows = np.empty(rows, dtype=np.int32)
        of_rows[-2 - entry[entry < NOTHING]] = np.flatnonzero(entry < NOTHING)
        those = np.flatnonzero(entry >= 0)
        while len(those):  # all features walk along their lists
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
        """One that begins at the average over all steps so far, with steps of its own; this one stays as it is."""
        fresh = copy.copy(self)
        kept = self.state()
        mean = kept["weights"] - kept["sums"] / np.float32(steps)
        fresh.restore({**kept, "weights": mean, "sums": np.zeros_like(mean)})
        return fresh

    # --- to continue later -------------------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays from which :meth:`restore` continues."""
        lists, (rows, entries) = self._lists, self._lists.sizes.tolist()
        held = rows * len(self.relations) + entries
        arrays = lists.after[:entries], lists.relations[:entries], lists.weights[:held], self._average.sums[:held]
        return dict(zip(self.KEPT, (lists.first, *arrays), strict=True))

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned."""
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
