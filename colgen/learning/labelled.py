"""Dependency trees with a label on each arc, such as its grammatical relation.

Labels enter the scores of arcs only.  So the best tree has the best label of each arc, and sums over trees take the sum
over the labels of each arc:

    model = LabelledTrees(ProjectiveTrees("siblings"))
    best_structure(model, (arcs, siblings))                       # arcs have the shape (N, N, labels)
    marginals(model, arcs, siblings).means[0]                     # also (N, N, labels)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.errors import InputError
from colgen.learning.derivations import k_best
from colgen.learning.oracles import SecondOrder, Trees, at_each_position, check_heads, check_labels, first_places
from colgen.solvers.ranking import k_best_of_scores

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LabelShares:
    """The distribution of labels given their arcs, for arrays of scores whose last axis is the label.

    Attributes
    ----------
    arcs
        log Σ exp over the labels of each arc, the scores of trees without labels.
    shares
        The probability of each label given its arc, zero if the arc is forbidden.
    """

    arcs: Floats
    shares: Floats

    @classmethod
    def of(cls, scores: Floats) -> LabelShares:
        most = scores.max(axis=-1, keepdims=True)
        weights = np.exp(np.where(scores > -np.inf, scores - np.where(most > -np.inf, most, 0.0), -np.inf))
        total = weights.sum(axis=-1, keepdims=True)
        shares = weights / np.where(total > 0.0, total, 1.0)
        return cls((most + np.log(np.where(total > 0.0, total, 1.0)))[..., 0], shares)

    def means(self, arcs: Floats) -> Floats:
        """Return the means of labelled arcs, given those of arcs."""
        return arcs[..., np.newaxis] * self.shares

    def tangent(
        self, arcs: Floats, along: Floats, of_arcs: Callable[[Floats], tuple[Floats, ...]]
    ) -> tuple[Floats, ...]:
        """Return derivatives of all means, given the means of arcs, a direction, and the tangent without labels.

        A direction of labels changes the score of an arc by its mean over the labels.
        """
        mean = (self.shares * along).sum(axis=-1)
        first, *others = of_arcs(mean)
        return self.means(first) + self.means(arcs) * (along - mean[..., np.newaxis]), *others


def _best_labels(scores: Floats) -> tuple[float, Ints] | None:
    """Return the sum and the numbers of the best labels, None if all labels of an arc are forbidden."""
    most = scores.max(axis=1)
    return None if np.isneginf(most).any() else (float(most.sum()), scores.argmax(axis=1))


class LabelledTrees:
    """Dependency trees with labels: scores of arcs have the shape (N, N, labels), by head, modifier and label.

    Scores of other parts, such as siblings, have no labels and follow in further arrays.

    Parameters
    ----------
    trees
        The oracle of trees without labels: :class:`Trees`, :class:`ProjectiveTrees`, or another :class:`SecondOrder`.

    Raises
    ------
    InputError
        If the oracle is another one.
    """

    def __init__(self, trees: Trees | SecondOrder) -> None:
        if not isinstance(trees, (Trees, SecondOrder)):
            raise InputError(f"trees: expected an oracle of dependency trees, got {type(trees).__name__}")
        self.trees = trees

    def best(self, scores: Floats, *others: Floats) -> tuple[Ints, ...] | None:
        """Return a tree of largest score, in which each arc has its best label."""
        found = self.trees.best(scores.max(axis=2), *others)
        if found is None:
            return None
        arcs, *parts = found
        return arcs * scores.shape[2] + scores.argmax(axis=2).ravel()[arcs], *parts

    def k_best(self, k: int, scores: Floats, *others: Floats) -> list[tuple[Ints, ...]]:
        """Return the k labelled trees of largest score, best first, or all that are allowed if there are fewer.

        They have the heads of the k best trees with best labels: a tree behind these loses to each of them.
        """
        count, ranked = scores.shape[2], list[tuple[float, tuple[Ints, ...]]]()
        for tree in k_best(self.trees, k, (scores.max(axis=2), *others)):
            arcs, *parts = (places for places, _ in tree.parts)
            rest = sum(float(theta.ravel()[places].sum()) for theta, places in zip(others, parts, strict=True))
            labels = k_best_of_scores(scores.reshape(-1, count)[arcs], _best_labels, k)
            ranked += [(rest + value, (arcs * count + own, *parts)) for value, own in labels]
        return [places for _, places in sorted(ranked, key=lambda pair: -pair[0])[:k]]

    def check(self, *arrays: Floats) -> None:
        shape = arrays[0].shape
        if len(shape) != 3 or not shape[2]:
            raise InputError(f"scores: expected the shape (N, N, labels), one label or more, got {shape}")
        self.trees.check(arrays[0][:, :, 0], *arrays[1:])

    def crop(self, length: int, *arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """Return the arrays of the root and the first words."""
        end = length + 1
        return arrays[0][:end, :end], *(a[(slice(end),) * a.ndim] for a in arrays[1:])

    def structure(self, heads: ArrayLike, labels: ArrayLike, count: int) -> tuple[Ints, ...]:
        """Return places of a tree's parts, given the head and the label of each position; the root's are ignored.

        ``count`` is the number of labels.
        """
        above = check_heads(heads, np.size(heads))
        given = np.array(labels)
        given[:1] = 0
        arcs, *parts = self.trees.structure(above)
        return arcs * count + check_labels(given, len(above), 0, count - 1)[1:], *parts

    @staticmethod
    def heads_and_labels(positions: Any, count: int) -> tuple[Ints, Ints]:
        """Return the head and the label of each position, -1 for the root: the inverse of :meth:`structure`.

        ``positions`` are the places of its arcs, or a structure in the forms of :meth:`best` or :class:`Structure`.
        """
        places = first_places(positions)
        arcs, size = places // count, len(places) + 1
        labels = at_each_position(arcs % size - 1, places % count, size - 1)
        return Trees.heads((arcs,)), np.concatenate([[-1], labels])
