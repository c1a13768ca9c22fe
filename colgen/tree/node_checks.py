"""What a tree does not believe: a bound that excludes an answer at hand, children that do not cut their parent off."""

from __future__ import annotations

from collections.abc import Sequence

from colgen.bounds.run import Run
from colgen.core.decision import Decision, admits
from colgen.core.errors import BranchingError, InvalidBoundError
from colgen.core.solution import Solution
from colgen.pricing.oracles import Pricing
from colgen.tree.branching import BranchingRule
from colgen.tree.node import Node


def check_against_incumbent(run: Run, pricing: Sequence[Pricing], node: Node, bound: float) -> None:
    """A node's bound must not exclude an answer that we hold in our hands."""
    incumbent = run.incumbent
    if incumbent is None or not all(decision.exhaustive for decision in node.decisions):
        return
    if run.contradicts(bound, incumbent.objective) and admits(node.decisions, incumbent):
        raise InvalidBoundError(
            f"node {node.number} has the dual bound {bound:g}, but the incumbent of objective "
            f"{incumbent.objective:g} lies in it: a bound stated by "
            f"{', '.join(oracle.name for oracle in pricing)} is not valid"
        )


def check_children(
    rule: BranchingRule, number: int, children: Sequence[Sequence[Decision]], solution: Solution
) -> None:
    """Each child of a node must cut off the node's relaxation."""
    for decisions in children:
        if admits(decisions, solution):
            raise BranchingError(
                f"{type(rule).__name__} returned a child of node {number} that does not cut off its "
                "relaxation, so that it would be repeated for ever: "
                f"{', '.join(map(str, decisions)) or 'no decision at all'}"
            )
