"""Nodes of a tree, and what a relaxation says of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from colgen.core.decision import Decision
from colgen.core.path import ROOT, DecisionPath
from colgen.core.result import NodeRecord, Termination


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the tree: the branching decisions from the root, and what it inherits.

    Attributes
    ----------
    path
        The decisions, shared with its ancestors.
    bound
        The parent's dual bound, before any rounding.
    start
        Whatever the parent left to start warm from.
    """

    number: int = 0
    parent: int | None = None
    depth: int = 0
    path: DecisionPath = ROOT
    bound: float = 0.0
    start: Any = field(default=None, repr=False)
    _decisions: tuple[Decision, ...] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All decisions from the root on: one tuple, made when the node is treated."""
        known = self._decisions
        if known is None:
            known = self.path.decisions
            object.__setattr__(self, "_decisions", known)
        return known


@dataclass(frozen=True)
class Subtree:
    """What has become of a node and of those below it that somebody else has treated.

    Attributes
    ----------
    done
        Nodes that are done with, parents before children.
    left
        Nodes that are open still.
    lost, why_lost
        A bound on leaves that nobody can resolve, hopeless if there are none, and why not.
    """

    done: Sequence[NodeRecord]
    left: Sequence[Node]
    lost: float
    why_lost: Termination | None


@dataclass(frozen=True)
class Evaluation:
    """What a relaxation says of a node.

    Attributes
    ----------
    bound
        On the node's answers, before any rounding.
    outcome
        One word or two for the record.
    children
        The decisions of each child, to be explored in this order; empty for a leaf.
    start
        Handed to the children.
    bounds, starts
        For each child a bound that is proved of it already, and what it alone is handed; empty if none was tried.
    fixed
        Decisions found at the node by reductions, which hold for all children.
    exact
        The relaxation's optimum, if it was solved to the end: it can be no better than the parent's bound.
    unresolved
        Why a leaf is left although it may hold better answers; None for a leaf that is done with.
    stop
        Why the whole search must end; the node then stays open.
    subtree
        Instead of children, where more than the node itself was treated.
    """

    bound: float
    outcome: str
    children: Sequence[Sequence[Decision]] = ()
    start: Any = None
    exact: float | None = None
    unresolved: Termination | None = None
    stop: Termination | None = None
    fixed: tuple[Decision, ...] = ()
    bounds: Sequence[float] = ()
    starts: Sequence[Any] = ()
    subtree: Subtree | None = None
