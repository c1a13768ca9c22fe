"""The pool of best trees, and the effort of finding them."""

from __future__ import annotations

from dataclasses import dataclass

from colgen import Column, Solution
from colgen.problems.dependency import pool
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance


@dataclass
class Effort:
    """Calls of the dynamic program for best trees, and additional passes for max-marginals and k best trees."""

    calls: int = 0
    sweeps: int = 0
    k_best: int = 0

    @property
    def total(self) -> int:
        """Total effort; a pass for max-marginals or for k best trees counts as one more call."""
        return self.calls + self.sweeps + self.k_best


@dataclass
class BestTreePool(pool.TreePool):
    """The best trees so far."""

    def solution(self, instance: NonlocalInstance) -> Solution:
        """Return the trees, best first, as a solution with one column, whose cost is the score of the last."""
        trees, least = tuple(self.trees), instance.objective(self.last)
        return Solution(least, ((Column(least, {}, trees, ("trees", trees)), 1.0),))
