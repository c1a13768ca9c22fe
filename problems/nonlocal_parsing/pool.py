"""The best trees so far, and what finding them has cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from colgen import Column, Solution
from problems.dependency.sentence import Heads
from problems.nonlocal_parsing.instance import Instance


@dataclass
class Effort:
    """Calls of the dynamic program: passes that find a best tree, and passes that find max-marginals besides."""

    calls: int = 0
    sweeps: int = 0
    k_best: int = 0

    @property
    def total(self) -> int:
        """All of them; a pass for max-marginals, or for k best trees, counts as one more call."""
        return self.calls + self.sweeps + self.k_best


@dataclass
class Pool:
    """The best trees so far, no more than ``k``, best first, with what they lose."""

    k: int
    trees: dict[tuple[int, ...], float] = field(default_factory=dict)

    def add(self, heads: tuple[int, ...], loss: float) -> bool:
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

    def solution(self, instance: Instance) -> Solution:
        """Trees, best first, as the engine's answer: one column that stands for all of them, worth the last."""
        trees, least = tuple(self.trees), instance.objective(self.last)
        return Solution(least, ((Column(least, {}, trees, ("trees", trees)), 1.0),))
