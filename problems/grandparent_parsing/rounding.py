"""Heuristic trees near a fractional solution."""

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
"""Minimum improvement of a tree, relative to the unit of the scores."""

_USED = 1e-6
"""Arcs with smaller values are ignored."""


class Rounded(Protocol):
    """Members of a problem that :class:`TreeRounding` uses; ``standard_score`` and ``check`` return scores of trees."""

    @property
    def tokens(self) -> int: ...

    @property
    def standard(self) -> StandardScores: ...

    @property
    def single_root(self) -> bool: ...

    @property
    def projective(self) -> bool: ...

    def standard_score(self, heads: Heads) -> float: ...

    def solution(self, heads: Heads) -> Solution: ...

    def check(self, heads: Heads) -> float: ...

    @property
    def scale(self) -> float: ...


class TreeRounding(Heuristic):
    """The best tree of a fractional solution, improved by replacing single heads with others that the solution uses."""

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
        score = problem.standard_score(heads)
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
                    value = problem.standard_score(other)
                    if value > score + _BETTER * unit:
                        heads, score, improved = other, value, True
        solution = problem.solution(heads)
        # Columns use raised scores.  If a tree contains a raised part, its true score is lower: reject it.
        scored = problem.check(heads)
        lost = solution.objective - scored
        return None if lost > TOLERANCES.diagnostic * size(problem.scale, scored) else solution
