"""Trials of children before a candidate is chosen: their gains, and the bounds that these prove."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from colgen.bounding.column_generation import column_generation
from colgen.bounding.protocol import Bounded, NodeState, Outcome, Parts
from colgen.core.columns import Key
from colgen.core.decision import Decision
from colgen.core.duals import Duals
from colgen.core.tolerances import TOLERANCES
from colgen.master.program import SavedBasis
from colgen.master.protocol import MasterStatus, switch
from colgen.stabilization import NoStabilization


@dataclass(frozen=True)
class Trial:
    """The result of trying a child.

    ``gain`` is how much worse its restricted master is than its parent's, infinite if infeasible, and ``exact`` if it
    is that of the solved relaxation. ``bound`` is the dual bound that oracles proved, the ideal value without pricing.
    The child is ``done`` if it is proved to contain no improvement of the incumbent. ``bounded`` is the result of
    column generation, or None without pricing.
    """

    gain: float
    bound: float
    exact: bool = False
    done: bool = False
    basis: SavedBasis | None = field(default=None, repr=False)
    bounded: Bounded | None = field(default=None, repr=False)


class Trials:
    """Tries children of a node whose relaxation has been solved.

    New columns stay in the master, and solutions found on the way may become the incumbent. Bounds are proved by
    oracles under the decisions of the child. ``objective`` is the objective of the relaxation of the node, and
    ``basis`` the last basis.
    """

    def __init__(self, parts: Parts, node: NodeState, objective: float, basis: SavedBasis | None) -> None:
        self._parts, self._node, self._basis = parts, node, basis
        self.objective = objective
        self.depth = node.depth
        self.least = TOLERANCES.optimality * max(parts.run.scale, abs(objective))

    @property
    def gap(self) -> float:
        """The gain that prunes a child; infinite without an incumbent."""
        run = self._parts.run
        return max(run.sense.sign * (run.objective - self.objective), self.least)

    def dual_value(self, key: Key) -> float:
        """Return the dual value of a row at which the node's bound was proved; 0 if unknown."""
        return self._node.duals.get(key) if isinstance(self._node.duals, Duals) else 0.0

    @property
    def is_over(self) -> bool:
        """True if the time is up, the share of branching in the work is used up, or a stop rule has triggered."""
        run = self._parts.run
        return run.budget.allotment.remaining <= 0.0 or run.expired or run.reason is not None

    def linear(self, decisions: Sequence[Decision]) -> Trial:
        """Solve the linear program of the child over the known columns, which proves no bound."""
        master, sense = self._parts.master, self._parts.run.sense
        self._enter(decisions)
        solved = master.solve(self._parts.run.budget)
        if solved.status is MasterStatus.OPTIMAL and solved.phase == 2:
            return Trial(self._gain(solved.objective), sense.ideal)
        return Trial(0.0 if solved.status is MasterStatus.LIMIT else math.inf, sense.ideal)

    def _enter(self, decisions: Sequence[Decision]) -> None:
        switch(self._parts.master, (*self._node.decisions, *decisions), self._basis)

    def price(self, decisions: Sequence[Decision], rounds: int | None = None) -> Trial:
        """Run column generation for some rounds. Without a number, continue until the child is solved or pruned."""
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
        finally:  # bounds here hold only for the child
            run.node_bound = proved
        solved = bounded.solved
        if bounded.outcome is Outcome.INFEASIBLE:
            return Trial(math.inf, run.sense.hopeless, exact=True, done=True, bounded=bounded)
        done = run.prunes(bounded.bound)
        nodes = parts.master.node
        basis = None if nodes is None else nodes.basis()
        if solved is None or solved.phase == 1:
            return Trial(math.inf, bounded.bound, done=done, basis=basis, bounded=bounded)
        exact = bounded.outcome is Outcome.SOLVED
        return Trial(self._gain(solved.objective), bounded.bound, exact, done, basis, bounded)

    def _gain(self, objective: float) -> float:
        return max(self._parts.run.sense.sign * (objective - self.objective), 0.0)
