"""Exact solvers of templates as learning oracles: clusterings, and trees with grandchildren and siblings.

Instances of a few items or words are solved by dynamic programs over their subsets, which take less time.  All other
solutions are proved optimal by the engine.  Means, losses and trainers of :mod:`colgen.learning` are therefore
exact for these NP-hard problems too, as they are for chains.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen import InputError, Termination
from colgen.learning.oracles import SecondOrder, check_labels, check_shapes, first_places
from colgen.problems.coreference.clustering import cluster
from colgen.problems.grandparent_parsing.parser import parse
from colgen.solvers.arrays import ArrayError
from colgen.solvers.clusters import small_partition
from colgen.solvers.ranking import k_best_choices
from colgen.solvers.trees import small_trees

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


class Clusterings:
    """Partitions of n items by correlation clustering; pair scores have shape (n, n).

    A pair in one cluster has two parts, (i, j) and (j, i); a score of -inf for either forbids it.  The diagonal is
    ignored.
    """

    def best(self, scores: Floats) -> tuple[Ints]:
        """Return an optimal clustering; never None, because singletons are always feasible."""
        return self.structure(self._best_labels(_pair_scores(scores)))

    def k_best(self, k: int, scores: Floats) -> list[tuple[Ints]]:
        """Return the k clusterings of largest score, best first, or all that are allowed if there are fewer.

        Sets of clusterings that agree on the first items are divided by their best one (:mod:`colgen.solvers.ranking`).
        A set's best one joins each cluster of the first items to one item, and forbids pairs of these.
        """
        both = _pair_scores(scores)
        found: dict[bytes, tuple[float, Ints] | None] = {}

        def begins(prefix: Ints) -> tuple[float, Ints] | None:
            """Return the value and labels of the best clustering whose first items have these clusters."""
            if prefix.tobytes() not in found:
                joined = _joined(both, prefix)
                if np.isneginf(joined.diagonal()).any():
                    found[prefix.tobytes()] = None
                else:
                    labels = self._best_labels(joined)
                    count = int(prefix.max(initial=-1)) + 1
                    every = _by_first_item(np.concatenate([labels[:count][prefix], labels[count:]]))
                    found[prefix.tobytes()] = _value(both, every), every
            return found[prefix.tobytes()]

        def best(prefix: Ints, excluded: Set[int]) -> tuple[float, Ints] | None:
            if not excluded:
                return begins(prefix)
            options = set(range(int(prefix.max(initial=-1)) + 2)) - excluded
            longer = [begins(np.append(prefix, option)) for option in sorted(options)]
            return max((one for one in longer if one is not None), key=lambda one: one[0], default=None)

        try:
            ranked = k_best_choices(best, k)
        except ArrayError as error:
            raise InputError(str(error)) from None
        return [self.structure(labels) for _, labels in ranked]

    @staticmethod
    def _best_labels(both: Floats) -> Ints:
        if len(both) <= small_partition.LARGEST:
            return small_partition.best_small_partition(both)[1]
        found = cluster(both)
        if found.termination is not Termination.OPTIMAL:
            raise InputError(f"Clusterings: the search stopped without a proof: {found.termination.value}")
        labels: Ints = found.labels
        return labels

    def check(self, *arrays: Floats) -> None:
        """Raise :class:`InputError` unless the scores have shape (n, n)."""
        check_shapes(self, arrays, {"scores": (max(len(arrays[0]) if arrays[0].ndim else 1, 1),) * 2})

    def from_labels(self, labels: Any, scores: Floats) -> tuple[Ints]:
        """Return the positions of a clustering's parts from the cluster number of each item; checks the numbers."""
        return self.structure(check_labels(labels, len(scores), 0))

    @staticmethod
    def structure(labels: Ints) -> tuple[Ints]:
        """Return the positions of a clustering's parts from the cluster number of each item."""
        together = labels[:, np.newaxis] == labels
        np.fill_diagonal(together, False)
        return (np.flatnonzero(together),)

    @staticmethod
    def labels(positions: Any, items: int) -> Ints:
        """Return the cluster number of each of the items, numbered by their first items: the inverse of structure.

        ``positions`` are the places of its pairs, or a structure in the forms of :meth:`best` or
        :class:`~colgen.learning.Structure`.
        """
        together = np.eye(items, dtype=np.bool_)
        places = first_places(positions)
        if places.max(initial=0) >= items * items:
            raise InputError(f"positions: expected places of pairs of {items} items, got {places.max()}")
        together.ravel()[places] = True
        first = together.argmax(axis=1)
        if not np.array_equal(first[:, np.newaxis] == first, together):
            raise InputError("positions: expected the pairs of a clustering, got others")
        labels: Ints = np.unique(first, return_inverse=True)[1].astype(np.int64)
        return labels

    @staticmethod
    def crop(length: int, scores: Floats) -> tuple[Floats]:
        """Return the scores of the first ``length`` items of a padded instance."""
        return (scores[:length, :length],)


def _pair_scores(scores: Floats) -> Floats:
    """Return the score of each pair, symmetric, with zeros on the diagonal."""
    both: Floats = scores + scores.T
    np.fill_diagonal(both, 0.0)
    return both


def _joined(both: Floats, prefix: Ints) -> Floats:
    """Return scores in which each cluster of the first items is one item, and pairs of these are forbidden.

    A diagonal entry of -inf marks a cluster with a forbidden pair.
    """
    count, first = int(prefix.max(initial=-1)) + 1, len(prefix)
    rest = both[first:]
    result = np.full((count + len(rest),) * 2, -np.inf)
    for c in range(count):
        own = prefix == c
        result[c, count:] = result[count:, c] = both[:first, first:][own].sum(axis=0)
        result[c, c] = -np.inf if np.isneginf(both[:first, :first][own][:, own]).any() else 0.0
    result[count:, count:] = rest[:, first:]
    return result


def _by_first_item(labels: Ints) -> Ints:
    """Return cluster numbers in the order of the clusters' first items."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    numbers: Ints = np.argsort(np.argsort(first))[inverse].astype(np.int64)
    return numbers


def _value(both: Floats, labels: Ints) -> float:
    """Return the score of a clustering, each pair counted once."""
    return float(both[np.triu(labels[:, np.newaxis] == labels, 1)].sum())


class SecondOrderTrees(SecondOrder):
    """Dependency trees, projective or not, scored by arcs and by grandchildren, adjacent siblings or both.

    Arrays and parts are those of :class:`colgen.learning.ProjectiveTrees`.

    Parameters
    ----------
    parts
        Part types besides arcs, in the order of their scores: ``"siblings"``, ``"grandchildren"``.
    single_root
        Whether exactly one arc leaves the root.
    """

    def best(self, scores: Floats, *others: Floats) -> tuple[Ints, ...] | None:
        """Return an optimal tree, of more than a few words by head automata and branch and bound."""
        given: dict[str, Any] = dict(zip(self.parts, others, strict=True))
        if len(scores) <= small_trees.LARGEST + 1:
            small = small_trees.best_small_tree(scores, **given, single_root=self.single_root)
            return None if small is None else self.structure(small[1])
        found = parse(scores, **given, single_root=self.single_root)
        if found.heads is None:
            return None
        if not found.is_optimal:
            raise InputError(f"SecondOrderTrees.best: the search stopped without a proof: {found.termination.value}")
        return self.structure(np.array([-1, *found.heads]))

    def k_best(self, k: int, scores: Floats, *others: Floats) -> list[tuple[Ints, ...]]:
        """Return the k trees of largest score, best first, or all that are allowed if there are fewer."""
        given: dict[str, Any] = dict(zip(self.parts, others, strict=True))
        found = parse(scores, **given, single_root=self.single_root, k=k)
        for tree in found:
            if not tree.is_optimal:
                raise InputError(
                    f"SecondOrderTrees.k_best: the search stopped without a proof: {tree.termination.value}"
                )
        return [self.structure(np.array([-1, *tree.heads])) for tree in found]
