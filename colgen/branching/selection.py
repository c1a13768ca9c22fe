"""How the tree chooses among the candidates of a branching rule."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from colgen.branching.pseudo_costs import PseudoCosts
from colgen.branching.rules import BranchingRule, Candidate, candidates_of, children_of
from colgen.branching.trials import Tried, Trying
from colgen.core.solution import Solution

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Chosen:
    """A candidate, and what is known of its children; nothing of those that were not tried."""

    candidate: Candidate
    tried: Sequence[Tried | None] = field(default=())


class Choice(ABC):
    """Chooses among the candidates of a branching rule.  Subclasses write :meth:`choose`, and keep no state."""

    @abstractmethod
    def choose(self, rule: BranchingRule, solution: Solution, costs: PseudoCosts, trying: Trying) -> Chosen | None:
        """One of the rule's candidates; None if it has none.

        Parameters
        ----------
        solution
            Of the node's relaxation.
        costs
            What the run has learnt of quantities.
        trying
            Solves children, in part or to the end.
        """


class MostFractional(Choice):
    """What the rule likes best: the most fractional quantity, unless it says otherwise."""

    def choose(self, rule: BranchingRule, solution: Solution, costs: PseudoCosts, trying: Trying) -> Chosen | None:
        return first_of(rule, solution)


def first_of(rule: BranchingRule, solution: Solution) -> Chosen | None:
    """What a rule branches on by itself."""
    children = children_of(rule, solution)
    return Chosen(Candidate(children)) if children else None


class PseudoCostBranching(Choice):
    """The candidate whose children have gained most elsewhere; what is not known is taken for the average."""

    def choose(self, rule: BranchingRule, solution: Solution, costs: PseudoCosts, trying: Trying) -> Chosen | None:
        found = candidates_of(rule, solution)
        if len(found) < 2:
            return Chosen(found[0]) if found else None
        return Chosen(found[by_merit(found, costs.gains(found), trying)[0]])


def merit(gains: Floats | Sequence[float], trying: Trying) -> float:
    """How good a candidate is: the product of its children's gains, none of which counts more than the gap to close.

    References
    ----------
    T. Achterberg, T. Koch, A. Martin, *Branching rules revisited* (2005), on the product.
    """
    return math.prod(min(max(float(gain), trying.least), trying.gap) for gain in gains) if len(gains) else 0.0


def by_merit(candidates: Sequence[Candidate], gains: Sequence[Floats], trying: Trying) -> list[int]:
    """Numbers of candidates, the best first; among equals, those that the rule likes better."""
    merits = [merit(mine, trying) for mine in gains]
    return sorted(range(len(candidates)), key=lambda k: (-merits[k], k))
