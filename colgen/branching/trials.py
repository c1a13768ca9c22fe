"""Trying children before one candidate is chosen: what their relaxations are worth, and what that proves."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from colgen.bounding.column_generation import column_generation
from colgen.bounding.protocol import Bounded, NodeState, Outcome, Parts
from colgen.core.decision import Decision
from colgen.core.tolerances import TOLERANCES
from colgen.master.program import SavedBasis
from colgen.master.protocol import MasterStatus, switch
from colgen.stabilization import NoStabilization


@dataclass(frozen=True)
class Tried:
    """What trying a child has found.

    Attributes
    ----------
    gain
        By how much its restricted master is worse than its parent's; infinite where it has no solution.
    bound
        What oracles have proved for the child's answers; the ideal value where they were not asked.
    exact
        Whether ``gain`` is that of the relaxation, solved to the end.
    done
        Whether the child is proved to hold nothing better than the incumbent.
    basis
        The child's last, to start from.
    bounded
        What column generation has said of the child; None where oracles were not asked.
    """

    gain: float
    bound: float
    exact: bool = False
    done: bool = False
    basis: SavedBasis | None = field(default=None, repr=False)
    bounded: Bounded | None = field(default=None, repr=False)


class Trying:
    """Tries children of a node whose relaxation has been solved.

    Columns that are found stay in the master; answers that are met become incumbents like any other.  A bound is one
    that oracles have proved with the child's decisions in force.

    Parameters
    ----------
    parts
        Of the run, at this node.
    node
        The node.
    objective
        Of its relaxation.
    basis
        Of its last restricted master.
    """

    def __init__(self, parts: Parts, node: NodeState, objective: float, basis: SavedBasis | None) -> None:
        self._parts, self._node, self._basis = parts, node, basis
        self.objective = objective
        self.depth = node.depth
        self.least = TOLERANCES.optimality * max(parts.run.scale, abs(objective))

    @property
    def gap(self) -> float:
        """What a child has to gain to be pruned; infinite while there is no answer."""
        run = self._parts.run
        return max(run.sense.sign * (run.objective - self.objective), self.least)

    @property
    def is_over(self) -> bool:
        """Whether the run has no time left, or has been told to stop."""
        return self._parts.run.expired or self._parts.run.reason is not None

    def linear(self, decisions: Sequence[Decision]) -> Tried:
        """Solve the child's linear program over the columns at hand, which proves nothing."""
        master, sense = self._parts.master, self._parts.run.sense
        self._enter(decisions)
        solved = master.solve(self._parts.run.budget)
        if solved.status is MasterStatus.OPTIMAL and solved.phase == 2:
            return Tried(self._gain(solved.objective), sense.ideal)
        return Tried(0.0 if solved.status is MasterStatus.LIMIT else math.inf, sense.ideal)

    def priced(self, decisions: Sequence[Decision], rounds: int) -> Tried:
        """Let column generation run for a few rounds."""
        return self._generated(decisions, rounds)

    def exact(self, decisions: Sequence[Decision]) -> Tried:
        """Solve the child's relaxation to the end, or until it is proved to hold nothing better than the incumbent."""
        return self._generated(decisions, None)

    def _enter(self, decisions: Sequence[Decision]) -> None:
        switch(self._parts.master, (*self._node.decisions, *decisions), self._basis)

    def _generated(self, decisions: Sequence[Decision], rounds: int | None) -> Tried:
        parts, node, run = self._parts, self._node, self._parts.run
        self._enter(decisions)
        child = NodeState(node.number, node.depth + 1, (*node.decisions, *decisions), node.bound, node.duals)
        settings = dataclasses.replace(
            parts.settings, rounds=rounds, stop_early=True, keep_duals=False, keep_values=False
        )
        proved = run.node_bound
        try:
            bounded = column_generation(
                child, dataclasses.replace(parts, settings=settings, stabilization=NoStabilization())
            )
        finally:  # what is proved here holds for the child alone
            run.node_bound = proved
        return self._price_context(bounded)

    def _price_context(self, bounded: Bounded) -> Tried:
        run, solved = self._parts.run, bounded.solved
        if bounded.outcome is Outcome.INFEASIBLE:
            return Tried(math.inf, run.sense.hopeless, exact=True, done=True, bounded=bounded)
        done = run.prunes(bounded.bound)
        nodes = self._parts.master.node
        basis = None if nodes is None else nodes.basis()
        if solved is None or solved.phase == 1:
            return Tried(math.inf, bounded.bound, done=done, basis=basis, bounded=bounded)
        exact = bounded.outcome is Outcome.SOLVED
        return Tried(self._gain(solved.objective), bounded.bound, exact, done, basis, bounded)

    def _gain(self, objective: float) -> float:
        return max(self._parts.run.sense.sign * (objective - self.objective), 0.0)
