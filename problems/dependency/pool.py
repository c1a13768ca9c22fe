"""The best trees so far, where several are wanted."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.problems.dependency.sentence import Heads
from colgen.solvers.arrays import ArrayError, as_integer

_ROOM = 1 << 30
"""Bytes that the heads of the wanted trees may take."""

_FEW = 1024
"""So many trees are always taken without counting how many there are."""


def check_k(k: int, there: NDArray[np.bool_] | None = None) -> int:
    """How many trees are looked for: k, or one more than there are if that is less.

    Parameters
    ----------
    there
        Which arcs there are, by head and modifier, the root first.

    Raises
    ------
    InputError
        If k is no positive integer, or so many trees do not fit into the memory.
    """
    try:
        wanted: int = as_integer(k, "k", low=1)
    except ArrayError as error:
        raise InputError(str(error)) from None
    if there is None or wanted <= _FEW:
        return wanted
    wanted = min(wanted, _num_trees(there, wanted) + 1)
    if wanted * len(there) * 8 > _ROOM:
        raise InputError(
            f"k: expected at most {_ROOM // (8 * len(there)):,} trees of {len(there) - 1} words, got {k:,}"
        )
    return wanted


def _num_trees(there: NDArray[np.bool_], most: int) -> int:
    """How many trees of some arcs there are, several roots allowed, by the matrix-tree theorem; ``most`` if more."""
    arcs = there.astype(np.float64)
    np.fill_diagonal(arcs, 0.0)
    laplacian = np.diag(arcs.sum(axis=0)[1:]) - arcs[1:, 1:]
    sign, log = np.linalg.slogdet(laplacian)
    if sign <= 0.0 or log < -0.5:
        return 0
    return most if log > math.log(most) else math.floor(math.exp(log) * (1.0 + 1e-9) + 0.5)


@dataclass
class TreePool:
    """The best trees so far, no more than ``k``, best first, with what they lose."""

    k: int
    trees: dict[Heads, float] = field(default_factory=dict)

    def add(self, heads: Heads, loss: float) -> bool:
        """Whether the tree is among the best k, and was not before."""
        if heads in self.trees or (len(self.trees) >= self.k and loss >= self.least):
            return False
        self.trees[heads] = loss
        ranked = sorted(self.trees.items(), key=lambda item: item[1])[: self.k]
        self.trees = dict(ranked)
        return heads in self.trees

    @property
    def least(self) -> float:
        """What a tree must lose less than: the loss of the k-th best, infinite before there are k."""
        return max(self.trees.values()) if len(self.trees) >= self.k else math.inf

    @property
    def is_full(self) -> bool:
        """Whether there are k."""
        return len(self.trees) >= self.k

    @property
    def last(self) -> Heads:
        """The k-th best."""
        return list(self.trees)[-1]
