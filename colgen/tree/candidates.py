"""Candidates of a branching rule: the ways in which it could split a node."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from colgen.core.decision import Decision

DOWN, UP = 0, 1


@dataclass(frozen=True)
class Candidate:
    """One way to split a node.

    Attributes
    ----------
    children
        Decisions of each child, the one to be explored first first; together they keep every answer of the node, and
        each cuts off its solution.
    quantity
        What is branched on, the same at all nodes: what is learnt of it is kept by this name.
    moves
        For each child the direction in which the quantity moves, ``DOWN`` or ``UP``, and how far at least: an empty
        tuple if nothing can be learnt of such children.
    score
        How much the rule likes it, by the solution alone.
    """

    children: Sequence[Sequence[Decision]]
    quantity: Hashable = None
    moves: Sequence[tuple[int, float]] = field(default=())
    score: float = 0.0
