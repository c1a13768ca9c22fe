"""The parts of a tree search."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from colgen.branching.rules import BranchingRule
from colgen.branching.selection import Choice, MostFractional
from colgen.certificate.witness import Witness
from colgen.core.duals import OwnDuals
from colgen.enumeration import Enumeration
from colgen.fixing import Reduction
from colgen.heuristics import Heuristic
from colgen.pricing.oracles import PricingContext


@dataclasses.dataclass(frozen=True)
class Search:
    """The parts of a tree search: branching rules, reductions, enumeration, heuristics, rounding of bounds.

    ``choice`` selects among the candidates of a branching rule. ``witness`` collects proofs of nodes for a certificate.
    Unless ``enumeration_closes``, enumeration only looks for solutions, once per path of the tree. With
    ``relaxation_only``
    the root relaxation is solved exactly, and nothing else is done.
    """

    branching: Sequence[BranchingRule] = ()
    reductions: Sequence[Reduction] = ()
    enumeration: Enumeration | None = None
    heuristics: Sequence[Heuristic] = ()
    relaxation_only: bool = False
    rounding: Callable[[float, OwnDuals, PricingContext], float] | None = None
    choice: Choice = dataclasses.field(default_factory=MostFractional)
    witness: Witness | None = None
    enumeration_closes: bool = True
