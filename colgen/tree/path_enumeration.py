"""Route enumeration: all paths that a better answer can use, for a final program over them."""

from __future__ import annotations

import math
from dataclasses import replace

from colgen.bounds.fixing import ReductionContext
from colgen.core.columns import Key
from colgen.core.errors import InputError
from colgen.core.tolerances import TOLERANCES, size
from colgen.pricing.labelling import Labelling
from colgen.tree.branching import Bound
from colgen.tree.enumeration import Enumerated, Enumeration


class PathEnumeration(Enumeration):
    """All elementary paths within the gap, of those that visit the same vertices the cheapest.

    A path can be replaced by a cheaper one over the same vertices, in any answer.  Branching rows on arcs may not
    survive that: they are left out of the program, whose answers are then answers of the whole problem, and as good as
    the node's best at least.

    Parameters
    ----------
    oracle
        Whose paths touch no rows but those of their vertices, and of their number.
    limit
        At most so many paths.
    seconds
        For the program over the list.
    effort
        For the list: see :meth:`solvers.paths.labelling.Labelling.enumerate`.

    Raises
    ------
    InputError
        If arcs touch rows of the master: paths over the same vertices are then not the same.

    References
    ----------
    R. Baldacci, N. Christofides, A. Mingozzi, *An exact algorithm for the vehicle routing problem based on the set
    partitioning formulation with additional cuts*, Mathematical Programming 115 (2008).
    """

    def __init__(self, oracle: Labelling, limit: int = 20_000, seconds: float = 30.0, effort: float = 5e9) -> None:
        if oracle.arc_rows:
            raise InputError(
                "PathEnumeration: expected an oracle without arc_rows, which tell apart paths over the same vertices"
            )
        self.oracle = oracle
        self.limit = limit
        self.seconds = seconds
        self.effort = effort

    def enumerate(self, context: ReductionContext) -> Enumerated | None:
        rounding = TOLERANCES.optimality * size(context.scale, context.bound)
        told = replace(context.pricing, slack=context.slack + rounding)
        columns = self.oracle.listed(context.duals, told, self.limit, self.effort)
        if columns is None:
            return None
        sides: dict[Key, tuple[float, float]] = {
            decision.key: (-math.inf, math.inf)
            for decision in context.decisions
            if isinstance(decision, Bound) and decision.key[0] == self.oracle.block and decision.row() is not None
        }
        return Enumerated(columns, sides)
