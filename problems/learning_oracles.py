"""Exact solvers of templates as oracles of learning: clusterings, and trees with grandchildren and siblings.

Each answer is proved by a run of the engine, so that means, losses and trainers of :mod:`colgen.learning` are as exact
over problems that are hard as over chains.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen import InputError, Termination
from colgen.learning.oracles import SecondOrder, check_labels, check_shapes, penalized, unless_forbidden
from colgen.problems.coreference.clustering import cluster
from colgen.problems.grandparent_parsing.instance import GrandparentInstance
from colgen.problems.grandparent_parsing.parser import parse

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


class Clusterings:
    """Partitions of n items: scores of pairs, shape (n, n), by correlation clustering.

    A pair in one cluster has two parts, (i, j) and (j, i); a score of -inf at either forbids it.  The diagonal counts
    for nothing.
    """

    def best(self, scores: Floats) -> tuple[Ints]:
        """A clustering that is proved to be the best; never None, since items alone are one."""
        both = scores + scores.T
        np.fill_diagonal(both, 0.0)
        found = cluster(both)
        if found.termination is not Termination.OPTIMAL:
            raise InputError(f"Clusterings.best: the search ended without a proof: {found.termination.value}")
        return self.structure(found.labels)

    def check(self, *arrays: Floats) -> None:
        """Refuse scores of other shapes."""
        check_shapes(self, arrays, {"scores": (max(len(arrays[0]) if arrays[0].ndim else 1, 1),) * 2})

    def from_labels(self, labels: Any, scores: Floats) -> tuple[Ints]:
        """Places of a clustering's parts, given the number of each item's cluster; the numbers are checked."""
        return self.structure(check_labels(labels, len(scores), 0))

    @staticmethod
    def structure(labels: Ints) -> tuple[Ints]:
        """Places of a clustering's parts, given the number of each item's cluster."""
        together = labels[:, np.newaxis] == labels
        np.fill_diagonal(together, False)
        return (np.flatnonzero(together),)

    @staticmethod
    def crop(length: int, scores: Floats) -> tuple[Floats]:
        """The scores of the first items of a padded instance."""
        return (scores[:length, :length],)


class SecondOrderTrees(SecondOrder):
    """Dependency trees, projective or not, with scores of grandchildren and adjacent siblings beside those of arcs.

    Arrays and parts are those of :class:`colgen.learning.ProjectiveTrees`.

    Parameters
    ----------
    parts
        Names of what is scored beside the arcs, in the order of the scores: ``"siblings"``, ``"grandchildren"``.
    single_root
        Whether exactly one arc leaves the root.
    """

    def best(self, scores: Floats, *others: Floats) -> tuple[Ints, ...] | None:
        """A tree that is proved to be the best, by head automata and branch and bound."""
        arrays = dict(zip(self.parts, penalized(scores, others)[0], strict=True))
        arcs = scores.copy()
        grandparents = siblings = None
        if "grandchildren" in arrays:
            grandparents = arrays["grandchildren"].copy()
            arcs[0] += others[self.parts.index("grandchildren")][0, 0]  # of the root's modifiers
            grandparents[0, 0] = 0.0
        if "siblings" in arrays:
            siblings = arrays["siblings"].transpose(0, 2, 1).copy()
            words = np.arange(len(scores))
            siblings[words, :, words] = 0.0  # that a sibling is the last has no score
        found = parse(GrandparentInstance(arcs, grandparents, siblings), single_root=self.single_root)
        if found.heads is None:
            return None
        if not found.is_optimal:
            raise InputError(f"SecondOrderTrees.best: the search ended without a proof: {found.termination.value}")
        return unless_forbidden(self.structure(np.array([-1, *found.heads])), (scores, *others))

    @staticmethod
    def crop(length: int, *scores: Any) -> tuple[Any, ...]:
        """The arrays of a padded instance of so many words."""
        if length >= len(scores[0]):
            raise InputError(f"lengths: expected at most {len(scores[0]) - 1} words, got {length}")
        return tuple(theta[(slice(length + 1),) * theta.ndim] for theta in scores)
