"""A compact model without blocks, which HiGHS solves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from colgen.branching.rules import BranchingRule
from colgen.core.budget import Budget
from colgen.core.solution import Complete
from colgen.decomposition.compact_solver import AtTheEnd, solve_compact
from colgen.decomposition.decomposed import Decomposed
from colgen.decomposition.reading.compact_model import MASTER, CompactModel, Partition
from colgen.decomposition.splitting import Splitting
from colgen.method import Method


class Undecomposed(Decomposed):
    """A compact model that HiGHS solves, for comparison or if no decomposition pays.

    All variables stay in the master, whose relaxation is solved first.  If its solution is fractional, HiGHS solves the
    model.  The solution is checked like any other.  The bound is trusted, as ``result.bound_source`` states.

    Parameters
    ----------
    compact
        A model from :func:`colgen.read` or a constructor of :class:`colgen.CompactModel`.
    """

    def __init__(self, compact: CompactModel) -> None:
        height, width = compact.rows.shape
        super().__init__(
            Splitting(compact.scaled(), Partition((), np.full(width, MASTER), np.full(height, MASTER)), ()), compact
        )

    def branching(self) -> Sequence[BranchingRule]:
        return ()

    def method(self) -> Method:
        return Method(heuristics=(AtTheEnd(1.0),), complete=self._solve_compact)

    def _solve_compact(self, nodes: int, budget: Budget) -> Complete | None:
        return solve_compact(self.splitting.compact, None, budget, self.splitting.solution)
