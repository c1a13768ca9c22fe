"""The interface of methods that bound a node: column generation, subgradient, volume and bundle methods."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from colgen.bounding.run import Run
from colgen.core.columns import Column
from colgen.core.decision import Decision
from colgen.core.duals import DualPoint, OwnDuals
from colgen.core.result import Termination
from colgen.core.solution import Solution
from colgen.core.text import Described
from colgen.core.tolerances import TOLERANCES
from colgen.cuts.separation import Separation
from colgen.master.protocol import MasterSolution, RestrictedMaster
from colgen.pricing.oracles import Pricing, PricingContext
from colgen.pricing.order import PricingOrder
from colgen.stabilization import Stabilization


class Outcome(enum.Enum):
    """How the bounding of a node ended."""

    SOLVED = "solved"
    PRUNED = "pruned by its bound"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    UNPROVED = "not proved: no exact oracle"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Settings:
    """Settings of column generation.

    Attributes
    ----------
    stop_early
        Stop once the bound decides the node: it can be pruned, or its rounded value is final.
    clean_up_after
        Delete columns that their reduced cost has kept at zero for this many solves; None keeps all.
    keep_duals, keep_values
        Store the dual values, and the restricted master's solution, of each round in its record.
    tolerance
        A column improves if its reduced cost gains more than this, relative to the scale of the objective.
    scale
        Scale of the objective, if the problem states it; None: the master's.
    pricing_share
        Share of the oracles that are called at a time, until one finds a column.  A bound needs all of them.
    pricing_order
        Orders the oracles of a round with such a share; None: in turn.
    rounds
        Stop after this many rounds with the bound proved so far; None: no limit.
    integral_only
        Separate integer solutions only, which may be infeasible without further rows.
    """

    stop_early: bool = True
    round_early: bool = True
    clean_up_after: int | None = None
    keep_duals: bool = False
    keep_values: bool = False
    tolerance: float = TOLERANCES.reduced_cost
    scale: float | None = None
    pricing_share: float = 1.0
    pricing_order: PricingOrder | None = None
    rounds: int | None = None
    integral_only: bool = False


@dataclass(frozen=True)
class NodeState:
    """A node as input of a bounding method.

    Attributes
    ----------
    number, depth
        Both are 0 at the root.
    bound
        The parent's dual bound; at the root the ideal value.
    duals
        Initial dual values, from the parent or guessed, or None.
    start
        ``Bounded.start`` of the parent.
    proved
        The dual bound of this node that the engine has proved at ``duals``; None if they are a guess.
    """

    number: int = 0
    depth: int = 0
    decisions: tuple[Decision, ...] = ()
    bound: float = 0.0
    duals: OwnDuals = None
    start: Any = field(default=None, repr=False)
    proved: float | None = None


@dataclass(frozen=True)
class Bounded:
    """Result of bounding a node.

    Attributes
    ----------
    bound
        Dual bound of the node, before any rounding.
    solved
        The last restricted master's solution, if there is one.
    duals
        Dual values at which ``bound`` was proved, or at which the engine will prove it.
    termination
        Why the run must stop, if the outcome is ``STOPPED``.
    weakness
        Oracles whose bounds leave a gap to the restricted master, with the numbers; possibly empty.
    solution
        A solution of the relaxation, fractional or approximate, for branching and heuristics; None: the master's.
    columns
        Columns found, for the methods and nodes that follow.
    start
        Passed to the children as ``NodeState.start``.
    proved
        Whether the engine has priced at ``duals``.  Otherwise it prices there and uses only that bound.
    ray
        Dual values of phase 1 that prove the node infeasible.
    unfinished
        Whether the rounds ended early because the bound would improve only a little.  The node is then branched on, or
        solved to the end if that is impossible.
    """

    outcome: Outcome
    bound: float
    solved: MasterSolution | None = None
    termination: Termination | None = None
    duals: DualPoint = None
    weakness: str = ""
    solution: Solution | None = None
    columns: Sequence[Column] = ()
    start: object = field(default=None, repr=False)
    proved: bool = False
    ray: DualPoint = field(default=None, repr=False)
    unfinished: bool = False


def _no_context(node: NodeState) -> PricingContext:
    raise NotImplementedError("Parts.context is not set: the tree sets it before it bounds a node")


@dataclass(frozen=True)
class Parts:
    """What a bounding method works with at every node: master, oracles, separations, run and settings.

    Attributes
    ----------
    run
        Clock, incumbent and record of rounds.  ``run.prunes(bound)`` returns whether a bound prunes a node.
    context
        Function that returns the oracles' context at a node.
    found
        Function to call with solutions of the restricted master that may be feasible.
    take
        Function to call with complete solutions and the name of their source.
    between
        Function to call between two rounds with the restricted master's solution.
    """

    master: RestrictedMaster
    oracles: Sequence[Pricing]
    separation: Sequence[Separation]
    stabilization: Stabilization
    run: Run
    settings: Settings
    context: Callable[[NodeState], PricingContext] = field(default=_no_context)
    found: Callable[[MasterSolution], None] = lambda solved: None
    take: Callable[[Solution, str], bool] = lambda solution, source: False
    between: Callable[[NodeState, MasterSolution], None] = lambda node, solved: None


class Bounding(Described, ABC):
    """A method that bounds nodes.  Subclasses implement :meth:`bound`.

    The returned bound is a guess, like a warm start.  The engine prices all oracles at ``Bounded.duals`` and uses the
    bound that they prove there.  The node's decisions are in force in the master and in ``parts.context(node)``.
    """

    @abstractmethod
    def bound(self, node: NodeState, parts: Parts) -> Bounded:
        """Return the bound of a node.  Return early once ``parts.run.budget`` is spent."""


class OneRound(Bounding):
    """One round of pricing at the parent's dual values, if any.  The bound is that of the oracles.

    For problems whose oracles bound a node by themselves, from ``context.decisions``.  Branching rules use the solution
    of the relaxation that the oracles return (``PricingResult.relaxed``).
    """

    def bound(self, node: NodeState, parts: Parts) -> Bounded:
        return Bounded(Outcome.SOLVED, parts.master.sense.ideal, duals=node.duals)
