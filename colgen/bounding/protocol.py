"""What a node is bounded by: the interface that column generation, subgradient, volume and bundle methods share."""

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
from colgen.core.tolerances import TOLERANCES
from colgen.cuts.separation import Separation
from colgen.master.protocol import MasterSolution, RestrictedMaster
from colgen.pricing.oracles import Pricing, PricingContext
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
    """How column generation is to be run.

    Attributes
    ----------
    stop_early
        End as soon as the bound decides what the tree wants to know (its rounded value, or that the node is to be
        pruned).
    clean_up_after
        Delete columns whose reduced cost has kept them out for this many solves; None keeps all.
    keep_duals
        Keep the dual values of each round in its record.
    keep_values
        Keep the restricted master's solution of each round in its record.
    tolerance
        A column improves if its reduced cost gains more than this, relative to the scale of the objective.
    scale
        Of the objective, if the problem states it; None: the master's.
    pricing_share
        The share of the oracles that is asked at a time, until one finds a column; all before anything is proved.
    rounds
        End after so many rounds, with what they have proved; None: go on to the end.
    """

    stop_early: bool = True
    round_early: bool = True
    clean_up_after: int | None = None
    keep_duals: bool = False
    keep_values: bool = False
    tolerance: float = TOLERANCES.reduced_cost
    scale: float | None = None
    pricing_share: float = 1.0
    rounds: int | None = None


@dataclass(frozen=True)
class NodeState:
    """A node as a bounding sees it.

    Attributes
    ----------
    number, depth
        Of the node; 0 and 0 are the root's.
    decisions
        Branching decisions in force.
    bound
        The parent's dual bound; the ideal value at the root.
    duals
        Dual values near the node's, of its parent or guessed; None if there are none.
    start
        What the bounding left at the parent as ``Bounded.start``.
    proved
        The dual bound on this node's answers that the engine has proved at ``duals``; None if they are a guess.
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
    """What a bounding says of a node.

    Attributes
    ----------
    outcome
        How it ended.
    bound
        On the node's answers, before any rounding.
    solved
        The last restricted master, where there is one.
    duals
        Dual values at which ``bound`` was proved, or at which the engine is to prove it.
    termination
        Why the whole run must stop, where the outcome is ``STOPPED``.
    weakness
        Which oracles' bounds leave a gap to the restricted master, with their numbers; empty if there is none.
    solution
        A solution of the relaxation, fractional or approximate, for branching rules and heuristics; None: the master's.
    columns
        Found on the way, for who comes next.
    start
        Handed to the children's :class:`NodeState`.
    proved
        Whether the engine's own rounds have priced at ``duals``.  Otherwise it prices there, and believes that bound
        alone.
    ray
        Dual values of phase 1, where they show that the node holds no answer.
    unfinished
        Whether further rounds would have improved the bound, by little: the node is to be branched on as it is, and if
        that cannot be, to be solved to its end.
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


def _nowhere(node: NodeState) -> PricingContext:
    raise NotImplementedError("parts are given to a bounding by the tree, which knows nodes")


@dataclass(frozen=True)
class Parts:
    """What boundings work with, the same at all nodes.

    Attributes
    ----------
    master, oracles, separation, stabilization
        The problem's own.
    run
        Clock, incumbent, record of rounds; ``run.prunes(bound)`` says whether a bound decides a node.
    settings
        How column generation is to be run.
    context
        What oracles are told at a node.
    found
        To be called with restricted masters that may hold an answer.
    take
        To be called with whole solutions, and who found them.
    """

    master: RestrictedMaster
    oracles: Sequence[Pricing]
    separation: Sequence[Separation]
    stabilization: Stabilization
    run: Run
    settings: Settings
    context: Callable[[NodeState], PricingContext] = field(default=_nowhere)
    found: Callable[[MasterSolution], None] = lambda solved: None
    take: Callable[[Solution, str], bool] = lambda solution, source: False


class Bounding(ABC):
    """Bounds nodes.  Subclasses write :meth:`bound`.

    What it returns is a guess, like a warm start: the engine prices all oracles at ``Bounded.duals`` and believes the
    bound that they state there.  Decisions are in force in the master and in ``parts.context(node)``.
    """

    @abstractmethod
    def bound(self, node: NodeState, parts: Parts) -> Bounded:
        """Bound a node; look at ``parts.run.budget`` and end early, with what there is, once it is spent."""


class OneRound(Bounding):
    """One round of pricing, at the parent's dual values if there are any: the bound is what the oracles state.

    For problems whose oracles know by themselves what a node is worth, from ``context.decisions``.  Branching rules
    look at the solution of the relaxation that they return (``PricingResult.relaxed``).
    """

    def bound(self, node: NodeState, parts: Parts) -> Bounded:
        return Bounded(Outcome.SOLVED, parts.master.sense.ideal, duals=node.duals)
