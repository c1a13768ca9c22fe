"""Trees near a fractional solution."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from colgen import Heuristic, HeuristicContext, Solution
from colgen.core.tolerances import TOLERANCES, size
from colgen.problems.dependency.sentence import Heads, is_projective
from colgen.problems.grandparent_parsing.separation import arc_values
from colgen.problems.grandparent_parsing.standard import StandardScores
from colgen.problems.grandparent_parsing.tree_list import first_order
from colgen.solvers.trees.arborescence import is_tree

_BETTER = 1e-9
"""Trees are better by more than this, relative to the unit of the scores."""

_USED = 1e-6
"""Arcs of smaller values are no candidates."""


class Rounded(Protocol):
    """What trees are rounded for."""

    @property
    def tokens(self) -> int:
        """Of the sentence."""

    @property
    def standard(self) -> StandardScores:
        """Its scores near 1."""

    @property
    def single_root(self) -> bool:
        """Whether exactly one token is under the root."""

    @property
    def projective(self) -> bool:
        """Whether trees must be projective."""

    def worth(self, heads: Heads) -> float:
        """A tree's score."""

    def solution(self, heads: Heads) -> Solution:
        """A tree as columns."""

    def check(self, heads: Heads) -> float:
        """A tree's score in the instance itself."""

    @property
    def scale(self) -> float:
        """What differences of scores are relative to."""


class TreeRounding(Heuristic):
    """The best tree of a fractional solution, improved by other heads that the solution uses, one at a time."""

    every = 1

    def __init__(self, problem: Rounded) -> None:
        self.problem = problem

    def search(self, context: HeuristicContext) -> Solution | None:
        problem = self.problem
        z = arc_values(context.relaxation, problem.tokens)
        arcs, unit = problem.standard.arcs, problem.standard.unit
        spread = np.ptp(arcs[~np.isneginf(arcs)]) + unit
        weights = np.where(np.isneginf(arcs), -np.inf, z + 1e-6 * arcs / spread)
        found = first_order(weights, 1, problem.projective, problem.single_root)
        if not found:
            return None
        heads = found[0]
        moves = [(h, m) for h, m in np.argwhere(z > _USED).tolist() if z[h, m] < 1.0 - _USED]
        score = problem.worth(heads)
        improved, mark = bool(moves), np.empty(problem.tokens + 1, dtype=np.int64)
        while improved:
            improved = False
            for h, m in moves:
                other = (*heads[: m - 1], h, *heads[m:])
                if other == heads or (problem.single_root and other.count(0) != 1):
                    continue
                if problem.projective and not is_projective(other):
                    continue
                if is_tree(np.array([-1, *other]), mark):
                    value = problem.worth(other)
                    if value > score + _BETTER * unit:
                        heads, score, improved = other, value, True
        solution = problem.solution(heads)
        # Penalties are clipped to what no best tree has: a tree with one scores less than the columns say.
        scored = problem.check(heads)
        lost = solution.objective - scored
        return None if lost > TOLERANCES.diagnostic * size(problem.scale, scored) else solution
