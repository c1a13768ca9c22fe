"""Recognition of blocks that are shortest paths in a fixed network, and their pricing by a kernel.

A block is a shortest path if its rows conserve one unit of flow from a source to a sink.  After multiplying rows by 1
or -1, the two entries of each column have opposite signs.  A column with one entry leads to a node that has no row.
Forbidden arcs get a cost that no path can afford.  In an acyclic network a required arc forbids all other arcs that
pass it.  A path crosses only once from the nodes up to its tail to the nodes after it.

In a network with cycles the points of the block are paths and cycles.  As long as no cycle has negative cost, the
shortest path is optimal.  Otherwise, or with required arcs, the block is priced as a linear program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from colgen.core.column_batch import Mask
from colgen.decomposition.blocks.unimodular import Unimodular, whole_sides
from colgen.decomposition.reading.compact_model import Floats, Ints
from colgen.decomposition.reading.structure import in_units, signs_of_rows
from colgen.decomposition.reading.subproblems import Subproblem
from colgen.solvers.flows.shortest_paths import search
from colgen.solvers.linear.highs import LPStatus, Stopped
from colgen.solvers.linear.recosted import Points
from colgen.solvers.linear.weak_duality import least_by_duals
from colgen.solvers.topological import topological_ranks

_PATHS = 4
"""Maximum number of points per call."""


@dataclass(frozen=True, eq=False)
class ShortestPath:
    """One unit of flow from a source to a sink at least cost.

    ``supply`` is 1 at the source, -1 at the sink, else 0.  ``place`` is the place of each node in a topological
    order, or None if there are cycles.
    """

    sub: Subproblem
    tails: Ints
    heads: Ints
    supply: Floats
    place: Ints | None

    def points(
        self, costs: Floats, lower: Floats, upper: Floats, seconds: float = math.inf, stopped: Stopped | None = None
    ) -> Points | None:
        """Return the shortest path and others with different arcs, and a bound; None if the kernel fails."""
        forced, nothing = np.flatnonzero(lower > 0.0), np.empty((0, len(costs)))
        usable = upper > 0.0
        if (lower > upper).any():
            return Points(LPStatus.INFEASIBLE, math.inf, nothing)
        if len(forced):
            if self.place is None:
                return self._linear.points(costs, lower, upper, seconds, stopped)
            if (lower > 1.0).any():
                return Points(LPStatus.INFEASIBLE, math.inf, nothing)
            usable &= self._usable_with(forced)
        found = np.zeros((_PATHS, len(costs)), dtype=np.bool_)
        potentials = np.empty(len(self.supply))
        ends = int(np.argmax(self.supply)), int(np.argmin(self.supply))
        count = search(self.tails, self.heads, np.where(usable, costs, np.inf), self._order, *ends, potentials, found)
        if count < 0:
            return self._linear.points(costs, lower, upper, seconds, stopped)
        if not count:
            return Points(LPStatus.INFEASIBLE, math.inf, nothing)
        points = found[:count].astype(np.float64)
        values = points @ costs
        by_value = np.argsort(values, kind="stable")
        bound = min(self._bound(costs, usable, upper, potentials), float(values[by_value[0]]))
        return Points(LPStatus.OPTIMAL, bound, points[by_value])

    def _usable_with(self, forced: Ints) -> Mask:
        """Return the mask of arcs that a path through given arcs may use."""
        place, usable = self.place, np.ones(len(self.tails), dtype=np.bool_)
        assert place is not None
        for a in forced.tolist():
            passing = (place[self.tails] <= place[self.tails[a]]) & (place[self.heads] > place[self.tails[a]])
            passing[a] = False
            usable &= ~passing
        return usable

    def _bound(self, costs: Floats, usable: Mask, upper: Floats, potentials: Floats) -> float:
        most = np.where(usable, upper, 0.0)
        if self.place is not None:
            most = np.minimum(most, 1.0)  # without cycles each arc carries at most one unit
        sides = (-self.supply, -self.supply)
        return least_by_duals(np.where(usable, costs, 0.0), self._incidence, potentials, sides, (0.0 * most, most))

    @cached_property
    def _order(self) -> Ints:
        """The arcs in topological order of their tails, if there is one."""
        if self.place is None:
            return np.arange(len(self.tails))
        return np.argsort(self.place[self.tails], kind="stable")

    @cached_property
    def _incidence(self) -> sparse.csr_array:
        """The incidence matrix, 1 at the head of each arc and -1 at its tail."""
        arcs = np.arange(len(self.tails))
        entries = (np.repeat([1.0, -1.0], len(arcs)), (np.tile(arcs, 2), np.concatenate([self.heads, self.tails])))
        return sparse.csr_array(entries, shape=(len(arcs), len(self.supply)))

    @cached_property
    def _linear(self) -> Unimodular:
        return Unimodular(self.sub)


def shortest_path_of(sub: Subproblem) -> ShortestPath | None:
    """Return a block as a shortest-path problem, or None if it is not one."""
    if not sub.matrix.shape[0] or (sub.row_lower != sub.row_upper).any() or (sub.lower != 0.0).any():
        return None
    found = in_units(sub.matrix)
    if found is None or (sub.upper < 1.0).any() or not whole_sides(sub, found[1]):
        return None
    units, sizes = found
    signs = signs_of_rows(units)
    columns = sparse.csc_array(units)
    counts = np.diff(columns.indptr)
    if signs is None or (counts == 0).any():
        return None
    nodes = units.shape[0]
    sides = signs * sub.row_lower / sizes
    supply = np.append(sides, -sides.sum())  # the last node has no row
    if sorted(supply[supply != 0.0].tolist()) != [-1.0, 1.0]:
        return None
    tails, heads = (np.full(len(counts), nodes) for _ in range(2))
    owners = np.repeat(np.arange(len(counts)), counts)
    out = signs[columns.indices] * columns.data > 0.0
    tails[owners[out]], heads[owners[~out]] = columns.indices[out], columns.indices[~out]
    place = topological_ranks(nodes + 1, tails, heads)
    if place is None and not np.isfinite(sub.upper).all():
        return None
    return ShortestPath(sub, tails, heads, supply + 0.0, place)
