"""The best trees so far, where several are wanted."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from problems.dependency.sentence import Heads


@dataclass
class Pool:
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
