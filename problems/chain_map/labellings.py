"""Labellings of chains and trees: the result of every method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from colgen.core.columns import Column
from colgen.core.solution import Solution
from colgen.solvers.chains.forest import NONE, Forest

Ints = NDArray[np.int32]
Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Labellings(Sequence[Ints]):
    """A labelling of each chain or tree of an instance; index k gives the labels of tree k.

    Attributes
    ----------
    starts
        Tree k has the nodes ``starts[k]`` to ``starts[k + 1] - 1``.
    labels
        Labels of all nodes; -1 in trees that have no labelling of finite score.
    values
        Scores, one per tree, summed in double precision; -inf without a labelling.
    bounds
        Upper bounds on the scores of all labellings of each tree, inf if nothing is proved. They hold up to rounding
        errors in double precision; for baselines, in the precision of the scores.
    runner_up
        Second best labellings, if requested; -1 and -inf for trees without one within the margin.
    """

    starts: NDArray[np.int64]
    labels: Ints
    values: Values
    bounds: Values
    runner_up: Labellings | None = None

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> Ints: ...

    @overload
    def __getitem__(self, index: slice) -> list[Ints]: ...

    def __getitem__(self, index: int | slice) -> Ints | list[Ints]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        k = range(len(self))[index]
        return self.labels[self.starts[k] : self.starts[k + 1]]

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Whether each tree has a labelling of finite score."""
        return self.values > -np.inf

    @property
    def objective(self) -> float:
        """Sum of the finite values."""
        return float(self.values[self.feasible].sum())

    @property
    def dual_bound(self) -> float:
        """Sum of the bounds, except for trees proved to have no labelling."""
        return float(self.bounds[self.bounds > -np.inf].sum())

    @property
    def is_complete(self) -> bool:
        """Whether every tree is labelled, or proved to have no labelling."""
        return bool(((self.values > -np.inf) | (self.bounds == -np.inf)).all())

    @property
    def gaps(self) -> Values:
        """``bounds - values``; 0 for trees proved to have no labelling."""
        out = np.zeros(len(self))
        np.subtract(self.bounds, self.values, out=out, where=self.bounds > -np.inf)
        return out


class UsedPairs(Sequence[tuple[Column, float]]):
    """The columns of labellings, one per edge, created on access."""

    def __init__(self, forest: Forest, labels: Ints) -> None:
        self._forest = forest
        self._labels = labels

    @cached_property
    def _nodes(self) -> NDArray[np.int64]:
        """Lower nodes of edges, and the nodes of one-node trees."""
        parent, first_child = self._forest.parent, self._forest.first_child
        return np.flatnonzero((self._labels != NONE) & ((parent != NONE) | (first_child == NONE)))

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[tuple[Column, float]]:
        return (self._pair(int(node)) for node in self._nodes)

    @overload
    def __getitem__(self, index: int) -> tuple[Column, float]: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[Column, float]]: ...

    def __getitem__(self, index: int | slice) -> tuple[Column, float] | Sequence[tuple[Column, float]]:
        if isinstance(index, slice):
            return [self._pair(int(node)) for node in self._nodes[index]]
        return self._pair(int(self._nodes[index]))

    def _pair(self, node: int) -> tuple[Column, float]:
        above = int(self._forest.parent[node])
        return pair_column(node, int(self._labels[node]), NONE if above == NONE else int(self._labels[above])), 1.0


def pair_column(node: int, lower: int, upper: int) -> Column:
    """Return the column of a pair of labels of a node and its parent; ``upper`` is ``NONE`` in a one-node tree."""
    return Column(0.0, {}, structure=(node, lower, upper), key=("pair", (node, lower, upper)))


@dataclass(frozen=True)
class LabelledSolution(Solution):
    """A solution of the restricted master problem with the labellings of all trees."""

    labellings: Labellings | None = None

    @property
    def is_integral(self) -> bool:
        return self.labellings is None or self.labellings.is_complete

    def round(self) -> Solution:
        return self

    @property
    def terms(self) -> float:
        """0: pairs of labels have no cost of their own, so no columns need to be created."""
        return 0.0


def as_solution(forest: Forest, found: Labellings) -> LabelledSolution:
    """Return labellings as a solution."""
    return LabelledSolution(found.objective, UsedPairs(forest, found.labels), labellings=found)
