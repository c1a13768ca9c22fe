"""Nodes closed by a mixed-integer program over all their relevant columns."""

from __future__ import annotations

import math

from colgen.bounding.protocol import Bounded, Outcome
from colgen.enumeration import Enumeration
from colgen.master.protocol import MasterStatus
from colgen.tree.node import Evaluation, Node, skip_on_failure
from colgen.tree.node_bounds import NodeBounds

_NARROWER, _MORE = 0.5, 2.0
"""After an enumeration or a program ends at a limit, it is tried again once the gap has shrunk to this share, or with
so many times the work."""


_PART = "enumeration"


class NodeEnumeration:
    """Lists the columns that can be part of a better solution of a node, and solves a program over them.

    It gets a share of the work of the run (:class:`~colgen.core.allotment.Allotment`). If that does not suffice, it
    would not suffice at nodes with nearly the same gap either. Such nodes are branched on, and columns are listed again
    when the gap is half as wide, or when twice as much work is allowed.
    """

    def __init__(self, enumeration: Enumeration | None, bounds: NodeBounds) -> None:
        self.enumeration, self._bounds = enumeration, bounds
        self._closes = bounds.search.enumeration_closes
        self._hopeless: set[int] = set()
        """Nodes without better solutions according to a list, which must not be closed by it."""
        self._too_wide = math.inf
        """Nodes with at least this gap need more than the work ``_failed``."""
        self._failed = 0.0

    def close_root(self, node: Node) -> Evaluation | None:
        """Close the root before its relaxation is solved, if no solution can be better than the incumbent."""
        run = self._bounds.run
        if self.enumeration is None or run.incumbent is None or not self._closes or node.number or node.decisions:
            return None
        with run.stage("enumeration"), skip_on_failure(run, self.enumeration.name, node):
            if self.enumeration.excludes(run.target):
                return Evaluation(self._bounds.master.sense.hopeless, "enumerated")
        return None

    def close(self, node: Node, relaxed: Bounded, share: float = 1.0) -> tuple[Evaluation | None, bool]:
        """Close the node by a mixed-integer program over all its relevant columns, if they can be listed.

        ``share`` is the share of its work that the program gets. The second value is whether more time might close the
        node.
        """
        master, run = self._bounds.master, self._bounds.run
        incumbent = run.incumbent
        if self.enumeration is None or incumbent is None or master.integer is None:
            return None, False
        if relaxed.outcome is not Outcome.SOLVED or run.expired:
            return None, False
        if node.number in self._hopeless or node.parent in self._hopeless:
            self._hopeless.add(node.number)
            return None, False
        gap, allowed = abs(run.target - relaxed.bound), run.budget.allotment.left(_PART)
        if allowed <= 0.0 or (gap >= self._too_wide and allowed < _MORE * self._failed):
            return None, False
        with run.turn(_PART) as turn, skip_on_failure(run, self.enumeration.name, node):
            closed, cut_short = self._close(node, relaxed, share)
            turn.gained = closed is not None or run.incumbent is not incumbent
            if cut_short and share >= 1.0 and not run.expired:
                self._too_wide, self._failed = _NARROWER * gap, allowed
            return closed, cut_short
        return None, False

    def _close(self, node: Node, relaxed: Bounded, share: float) -> tuple[Evaluation | None, bool]:
        """Return what :meth:`close` does, within a turn."""
        master, run, enumeration = self._bounds.master, self._bounds.run, self.enumeration
        assert enumeration is not None
        assert master.integer is not None
        found = enumeration.enumerate(self._bounds.reduction_context(node, relaxed))
        work = share * run.budget.allotment.remaining
        if found is None:
            return None, work <= 0.0
        target = run.target
        status, solution = master.integer.solve_over(
            found.columns,
            found.sides,
            target,
            min(share * enumeration.seconds, run.seconds_left),
            any_will_do=not master.sense.is_better(run.round_bound(relaxed.bound), target),
            stopped=lambda: run.expired,
            values=found.values,
            work=work,
        )
        if status is MasterStatus.INFEASIBLE:  # the node contains no better solution
            if self._closes:
                return Evaluation(master.sense.hopeless, "enumerated"), False
            self._hopeless.add(node.number)
            return None, False
        completed = None if solution is None else enumeration.complete(solution)
        if completed is not None and run.meets(target, completed.objective):
            self._bounds.incumbents.offer(completed, enumeration.name)
            if status is MasterStatus.OPTIMAL and completed is solution and self._closes:
                return Evaluation(solution.objective, "enumerated"), False
        if run.prunes(relaxed.bound):
            return Evaluation(relaxed.bound, "pruned"), False
        return None, status is MasterStatus.LIMIT
