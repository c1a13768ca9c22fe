"""A node closed by a mixed-integer program over all columns that matter in it."""

from __future__ import annotations

import math

from colgen.bounding.protocol import Bounded, Outcome
from colgen.enumeration import Enumeration
from colgen.master.protocol import MasterStatus
from colgen.tree.node import Evaluation, Node, sparing
from colgen.tree.node_bounds import NodeBounds

_NARROWER = 0.5
"""A node is tried after one whose program came to no end if its gap is at most this share of that one's."""


class NodeEnumeration:
    """Lists the columns that can be part of a better answer in a node, where a problem knows how; solves over them.

    Where a program came to no end within its time, those of nodes with nearly as wide a gap would not either: these
    are branched on, and a list is only made again once the gap is half as wide.
    """

    def __init__(self, enumeration: Enumeration | None, bounds: NodeBounds) -> None:
        self.enumeration, self._bounds = enumeration, bounds
        self._closes = bounds.search.enumeration_closes
        self._barren: set[int] = set()
        """Nodes that hold nothing better as far as a list says, and that may not be closed by it."""
        self._too_wide = math.inf
        """Gaps from here on leave more columns than a program comes to an end with."""

    def close(self, node: Node, relaxed: Bounded, share: float = 1.0) -> tuple[Evaluation | None, bool]:
        """Close the node by a mixed-integer program over all columns that matter in it, if they can be listed.

        ``share``: of the program's time.  The second answer is whether more of it might help.
        """
        master, run = self._bounds.master, self._bounds.run
        incumbent = run.incumbent
        if self.enumeration is None or incumbent is None or master.integer is None:
            return None, False
        if relaxed.outcome is not Outcome.SOLVED or run.expired:
            return None, False
        if node.number in self._barren or node.parent in self._barren:
            self._barren.add(node.number)
            return None, False
        gap = abs(run.target - relaxed.bound)
        if gap >= self._too_wide:
            return None, False
        with run.stage("enumeration"), sparing(run, self.enumeration.name, node):
            found = self.enumeration.enumerate(self._bounds.proved_at(node, relaxed))
            if found is None:
                return None, False
            target = run.target
            status, solution = master.integer.solve_over(
                found.columns,
                found.sides,
                target,
                min(share * self.enumeration.seconds, run.seconds_left),
                any_will_do=not master.sense.is_better(run.round_bound(relaxed.bound), target),
                stopped=lambda: run.expired,
                values=found.values,
            )
            if status is MasterStatus.INFEASIBLE:  # the node holds nothing better than the incumbent
                if self._closes:
                    return Evaluation(master.sense.hopeless, "enumerated"), False
                self._barren.add(node.number)
                return None, False
            completed = None if solution is None else self.enumeration.complete(solution)
            if completed is not None and run.meets(target, completed.objective):
                self._bounds.answers.take(completed, self.enumeration.name)
                if status is MasterStatus.OPTIMAL and completed is solution and self._closes:
                    return Evaluation(solution.objective, "enumerated"), False
            if run.prunes(relaxed.bound):
                return Evaluation(relaxed.bound, "pruned"), False
            cut_short = status is MasterStatus.LIMIT
            if cut_short and share >= 1.0 and not run.expired:
                self._too_wide = _NARROWER * gap
            return None, cut_short
        return None, False
