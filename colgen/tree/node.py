"""Nodes of a tree, their evaluation, and checks of a node against its parent and the incumbent."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from colgen.bounding.protocol import NodeState
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
    """A node of the tree.

    Its ``path`` of decisions is shared with its ancestors. ``bound`` is the dual bound of the parent, before rounding.
    ``start`` holds data of the parent for a warm start.
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
        """All decisions from the root, put together on first use."""
        known = self._decisions
        if known is None:
            known = self.path.decisions
            object.__setattr__(self, "_decisions", known)
        return known


@dataclass(frozen=True)
class Subtree:
    """The result of searching the subtree of a node in another process.

    It has closed nodes (``done``, parents before children) and open ones (``left``). ``lost`` is the dual bound of
    leaves that cannot be resolved, hopeless without such leaves, and ``why_lost`` the reason.
    """

    done: Sequence[NodeRecord]
    left: Sequence[Node]
    lost: float
    why_lost: Termination | None


@dataclass(frozen=True)
class Evaluation:
    """The result of evaluating a node.

    Attributes
    ----------
    bound
        Dual bound of the node, before rounding.
    outcome
        One or two words for the record.
    children
        The decisions of each child, in the order of exploration. Empty for a leaf.
    start
        Passed to the children.
    bounds, starts
        A proved bound and a start of its own for each child. Empty if no child was tried.
    fixed
        Decisions of reductions at the node, which hold for all children.
    exact
        The optimum of the relaxation if it was solved. It cannot be better than the bound of the parent.
    unresolved
        Why a leaf may still hold better solutions, or None.
    stop
        Why the search must end, or None. The node then stays open.
    subtree
        Replaces ``children`` if nodes below were evaluated too.
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
def skip_on_failure(run: Run, name: str, node: Node | NodeState) -> Iterator[None]:
    """Skip a step that the run does not need if it fails numerically or runs out of memory, and add a note."""
    try:
        yield
    except (SolverError, programs.SolverError, ArithmeticError, MemoryError) as error:
        run.notes.append(f"{name} failed at node {node.number} and was skipped: {error}.")


def as_diagnostic(error: Exception) -> Exception:
    """Convert an error of a linear solver to a :class:`colgen.core.errors.SolverError`; return others unchanged."""
    return SolverError(str(error)) if isinstance(error, programs.SolverError) else error


def check_against_incumbent(run: Run, pricing: Sequence[Pricing], node: Node, bound: float) -> None:
    """Raise an error if a node contains the incumbent, but its dual bound excludes it."""
    incumbent = run.incumbent
    if incumbent is None or not all(decision.exhaustive for decision in node.decisions):
        return
    if run.contradicts(bound, incumbent.objective) and admits(node.decisions, incumbent):
        raise InvalidBoundError(
            f"node {node.number} has the dual bound {bound:g}, but contains the incumbent of objective "
            f"{incumbent.objective:g}: an oracle states an invalid bound "
            f"({', '.join(oracle.name for oracle in pricing)})"
        )


def check_children(
    rule: BranchingRule, number: int, children: Sequence[Sequence[Decision]], solution: Solution
) -> None:
    """Raise an error if a child does not cut off the relaxation of its node."""
    for decisions in children:
        if admits(decisions, solution):
            raise BranchingError(
                f"{type(rule).__name__} returned a child of node {number} that does not cut off its relaxation, and "
                f"would be branched on forever: {', '.join(map(str, decisions)) or 'no decision'}"
            )
