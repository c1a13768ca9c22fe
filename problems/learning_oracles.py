"""Exact solvers of templates as learning oracles: clusterings, and trees with grandchildren and siblings.

Instances of a few items or words are solved by dynamic programs over their subsets, which take less time.  All other
solutions are proved optimal by the engine.  Means, losses and trainers of :mod:`colgen.learning` are therefore
exact for these NP-hard problems too, as they are for chains.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen import InputError, Termination
from colgen.learning.oracles import SecondOrder, check_labels, check_shapes, first_places
from colgen.problems.coreference.clustering import cluster
from colgen.problems.grandparent_parsing.parser import parse
from colgen.solvers.clusters import small_partition
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
        both = scores + scores.T
        if len(both) <= small_partition.LARGEST:
            return self.structure(small_partition.best_small_partition(both)[1])
        np.fill_diagonal(both, 0.0)
        found = cluster(both)
        if found.termination is not Termination.OPTIMAL:
            raise InputError(f"Clusterings.best: the search stopped without a proof: {found.termination.value}")
        return self.structure(found.labels)

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
