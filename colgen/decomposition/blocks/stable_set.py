"""Recognition of blocks that are stable sets of a graph, and their pricing by a kernel.

A block is a stable set if in each row at most one of its binary variables can be 1, by ``x_1 + ... + x_k ≤ 1`` or by
weights of which no two fit.  Variables with negative entries are complemented.  ``x_i + x_j ≤ y`` means that at most
one of x_i, x_j and 1 - y is 1.  ``x_i + x_j ≥ 1`` means that at most one of 1 - x_i and 1 - x_j is 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from colgen.core.column_batch import Mask
from colgen.core.tolerances import ROUNDING, TOLERANCES
from colgen.decomposition.reading.compact_model import Floats
from colgen.decomposition.reading.subproblems import Subproblem
from colgen.solvers.graphs.stable_search import heavy
from colgen.solvers.graphs.stable_set import heaviest
from colgen.solvers.linear.highs import LPStatus, Stopped
from colgen.solvers.linear.recosted import Points
from colgen.solvers.scaling import integer_scale
from colgen.solvers.stopping import after, never

_MOST = 4096
"""Maximum number of vertices; the edge mask of larger graphs needs too much memory."""

_BITS = 52
"""Bits of the sum of integer weights, and the largest power of two by which weights are scaled."""

_NODES = 20_000
"""Node limit of the search in a graph of few large cliques, whose linear relaxation is strong."""

_SETS, _KICKS = 8, 2
"""Maximum number of points per call of the local search, and random restarts per point."""


@dataclass(frozen=True, eq=False)
class StableSet:
    """``min costs·x`` where no two neighbours are 1; variables in ``turned`` count as 1 - x.

    ``conflict`` is the adjacency mask.  ``few_rows``: HiGHS prices instead if the search is long.
    """

    conflict: Mask
    turned: Mask
    few_rows: bool = False

    def points(
        self, costs: Floats, lower: Floats, upper: Floats, seconds: float = math.inf, stopped: Stopped | None = None
    ) -> Points | None:
        """Return the best point and others, and a bound that is valid even if the search is stopped.

        None if HiGHS should price.
        """
        nothing = np.empty((0, len(costs)))
        turned = self.turned
        least, most = np.where(turned, 1.0 - upper, lower), np.where(turned, 1.0 - lower, upper)
        inside = least > 0.0
        around = self.conflict[inside].any(axis=0)
        if (lower > upper).any() or (around & inside).any():
            return Points(LPStatus.INFEASIBLE, math.inf, nothing)
        gains = np.where(turned, costs, -costs)
        free = np.flatnonzero((gains > 0.0) & (most > 0.0) & ~around & ~inside)
        members = inside[None, :]
        given = (inside != turned) + 0.0
        terms = costs * given
        rounding = ROUNDING * len(costs) * float(np.abs(costs).sum())
        bound, finished = float(terms.sum()) - rounding, True
        if len(free):
            scale = integer_scale(float(gains[free].sum()), _BITS)
            weights = np.ceil(gains[free] * scale).astype(np.int64)
            graph = self.conflict[np.ix_(free, free)]
            quickly = heavy(graph, weights, number=_SETS, kicks=_KICKS)
            known = int(quickly[0] @ weights) if len(quickly) else 0
            expired = after(seconds, stopped or never)
            search = heaviest(graph, weights, above=known, nodes=_NODES if self.few_rows else None, expired=expired)
            if self.few_rows and not search.finished and not expired():
                return None
            sets = np.concatenate([quickly, search.members[-1:]])
            members = np.repeat(members, len(sets), axis=0)
            members[:, free] = sets
            bound -= max(search.bound, known) / scale
            finished = search.finished
        points = (members != turned) + 0.0
        values = points @ costs
        order = np.argsort(values, kind="stable")
        status = LPStatus.OPTIMAL if finished else LPStatus.LIMIT
        return Points(status, min(bound, float(values[order[0]])), points[order])


def stable_set_of(sub: Subproblem) -> StableSet | None:
    """Return the graph whose stable sets are the points of a block, or None if there is none."""
    binary = sub.integer & (sub.lower >= 0.0) & (sub.upper <= 1.0)
    if not binary.all() or len(binary) > _MOST or not sub.matrix.shape[0]:
        return None
    rows = sparse.csr_array(sub.matrix)
    rows.eliminate_zeros()
    size, turned = len(sub.costs), np.zeros(len(sub.costs), dtype=np.int64)
    conflict = np.zeros((size, size), dtype=np.bool_)
    starts = rows.indptr.tolist()
    for row, (low, high) in enumerate(zip(sub.row_lower.tolist(), sub.row_upper.tolist(), strict=True)):
        mine = slice(starts[row], starts[row + 1])
        columns, entries = rows.indices[mine], rows.data[mine]
        least, most = float(np.minimum(entries, 0.0).sum()), float(np.maximum(entries, 0.0).sum())
        below, above = low > least, high < most
        if not below and not above:
            continue
        if (below and above) or len(columns) < 2:
            return None
        entries, room = (-entries, most - low) if below else (entries, high - least)
        # After complementing, all weights are positive, with this capacity.
        weights, sign = np.abs(entries), np.sign(entries).astype(np.int64)
        two, slack = np.sort(weights)[:2].sum(), TOLERANCES.feasibility * weights.max()
        if weights.max() > room or two <= room + slack or (turned[columns] == -sign).any():
            return None
        turned[columns] = sign
        conflict[np.ix_(columns, columns)] = True
    np.fill_diagonal(conflict, False)
    return StableSet(conflict, turned < 0, rows.shape[0] < size) if conflict.any() else None
