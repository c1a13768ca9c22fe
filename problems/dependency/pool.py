"""Pools of the k best trees."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.problems.dependency.sentence import Heads
from colgen.solvers.arrays import ArrayError, as_integer

_ROOM = 1 << 30
"""Maximum memory in bytes for the heads of all trees."""

_FEW = 1024
"""Up to this k, the number of existing trees is not counted."""


def check_k(k: int, there: NDArray[np.bool_] | None = None) -> int:
    """Return k after checking it, at most the number of trees plus one.

    ``there`` is the mask of arcs by head and modifier, root first.  Raises :class:`InputError` if k is not a positive
    integer, or the trees would not fit in memory.
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
    """Return the number of trees, several roots allowed, by the matrix-tree theorem; ``most`` if there are more."""
    arcs = there.astype(np.float64)
    np.fill_diagonal(arcs, 0.0)
    laplacian = np.diag(arcs.sum(axis=0)[1:]) - arcs[1:, 1:]
    sign, log = np.linalg.slogdet(laplacian)
    if sign <= 0.0 or log < -0.5:
        return 0
    return most if log > math.log(most) else math.floor(math.exp(log) * (1.0 + 1e-9) + 0.5)


@dataclass
class TreePool:
    """The best k trees so far, best first, with their losses."""

    k: int
    trees: dict[Heads, float] = field(default_factory=dict)

    def add(self, heads: Heads, loss: float) -> bool:
        """Add a tree if it is new and among the best k; return whether it was added."""
        if heads in self.trees or (len(self.trees) >= self.k and loss >= self.least):
            return False
        self.trees[heads] = loss
        ranked = sorted(self.trees.items(), key=lambda item: item[1])[: self.k]
        self.trees = dict(ranked)
        return heads in self.trees

    @property
    def least(self) -> float:
        """Loss of the k-th best tree, which new trees must stay below; +inf if there are fewer than k."""
        return max(self.trees.values()) if len(self.trees) >= self.k else math.inf

    @property
    def is_full(self) -> bool:
        return len(self.trees) >= self.k

    @property
    def last(self) -> Heads:
        return list(self.trees)[-1]
