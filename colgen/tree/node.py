"""Nodes of a tree, their evaluation, and checks of a node against its parent and the incumbent."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from colgen.bounding.run import Run
from colgen.branching.rules import BranchingRule
from colgen.core.decision import ROOT, Decision, DecisionPath, admits
from colgen.core.errors import BranchingError, InvalidBoundError, SolverError
from colgen.core.result import NodeRecord, Termination
from colgen.core.solution import Solution
from colgen.pricing.oracles import Pricing
from colgen.solvers.linear import lp as programs


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


@contextlib.contextmanager
def sparing(run: Run, name: str, node: Node) -> Iterator[None]:
    """Let the run go on where something fails that it can do without, and say so."""
    try:
        yield
    except (SolverError, programs.SolverError, ArithmeticError, MemoryError) as error:
        run.notes.append(f"{name} failed at node {node.number} and was skipped: {error}.")


def as_diagnostic(error: Exception) -> Exception:
    """An error of a linear program's solver as one of colgen's; others as they are."""
    return SolverError(str(error)) if isinstance(error, programs.SolverError) else error


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
