"""What a tree is searched with."""

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
    """What the tree is searched with: branching rules, reductions, enumeration, heuristics, exact bounds.

    ``choice``: how it chooses among the candidates of a branching rule.
    ``witness``: who keeps what is proved of nodes, for a certificate.
    ``enumeration_closes``: whether it may close nodes; else it looks for answers, once on a way down the tree.
    ``relaxation_only``: the root's relaxation is wanted, to its exact optimum, and nothing else.
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
