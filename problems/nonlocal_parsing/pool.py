"""What finding the best trees has cost, and they as the engine's answer."""

from __future__ import annotations

from dataclasses import dataclass

from colgen import Column, Solution
from colgen.problems.dependency import pool
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance


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
class BestTreePool(pool.TreePool):
    """The best trees so far."""

    def solution(self, instance: NonlocalInstance) -> Solution:
        """Trees, best first, as the engine's answer: one column that stands for all of them, worth the last."""
        trees, least = tuple(self.trees), instance.objective(self.last)
        return Solution(least, ((Column(least, {}, trees, ("trees", trees)), 1.0),))
