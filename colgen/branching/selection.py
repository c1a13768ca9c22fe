"""The choice among the candidates of a branching rule."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from colgen.branching.pseudo_costs import PseudoCosts
from colgen.branching.rules import BranchingRule, Candidate, candidates_of, children_of
from colgen.branching.trials import Trial, Trials
from colgen.core.solution import Solution
from colgen.core.text import Described

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Chosen:
    """A candidate, and the trial of each child, or None for a child that was not tried."""

    candidate: Candidate
    tried: Sequence[Trial | None] = field(default=())


class Choice(Described, ABC):
    """Chooses among the candidates of a branching rule. Subclasses implement :meth:`choose` and keep no state."""

    @abstractmethod
    def choose(self, rule: BranchingRule, solution: Solution, costs: PseudoCosts, trials: Trials) -> Chosen | None:
        """Return one of the candidates of the rule, or None if it has none.

        Parameters
        ----------
        solution
            Solution of the relaxation.
        costs
            Pseudo-costs of the run.
        trials
            Solves children partly or completely.
        """


class MostFractional(Choice):
    """The candidate that the rule prefers, usually the most fractional quantity.

    Examples
    --------
    >>> solve(problem, method=Method(choice=MostFractional())).objective
    453.0
    """

    def choose(self, rule: BranchingRule, solution: Solution, costs: PseudoCosts, trials: Trials) -> Chosen | None:
        return choose_first(rule, solution)


def choose_first(rule: BranchingRule, solution: Solution) -> Chosen | None:
    """Return the candidate that the rule itself branches on."""
    children = children_of(rule, solution)
    return Chosen(Candidate(children)) if children else None


class PseudoCostBranching(Choice):
    """The candidate with the largest expected gains. Unknown gains count as average."""

    def choose(self, rule: BranchingRule, solution: Solution, costs: PseudoCosts, trials: Trials) -> Chosen | None:
        found = candidates_of(rule, solution)
        if len(found) < 2:
            return Chosen(found[0]) if found else None
        return Chosen(found[rank_by_merit(found, costs.gains(found), trials)[0]])


def merit(gains: Floats | Sequence[float], trials: Trials) -> float:
    """Return the merit of a candidate: the product of its children's gains, each at most the gap to close.

    References
    ----------
    T. Achterberg, T. Koch, A. Martin, *Branching rules revisited* (2005), on the product.
    """
    return math.prod(min(max(float(gain), trials.least), trials.gap) for gain in gains) if len(gains) else 0.0


def rank_by_merit(candidates: Sequence[Candidate], gains: Sequence[Floats], trials: Trials) -> list[int]:
    """Return the numbers of candidates by decreasing merit. Ties keep the order of the rule."""
    merits = [merit(mine, trials) for mine in gains]
    return sorted(range(len(candidates)), key=lambda k: (-merits[k], k))
