"""Enumeration of the stable sets that an improving colouring can use."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from colgen import PricingContext
from colgen.core.columns import Key
from colgen.core.tolerances import TOLERANCES
from colgen.enumeration import Enumerated, Enumeration
from colgen.fixing import ReductionContext
from colgen.problems.colouring.heuristics import classes
from colgen.problems.colouring.lower_bounds import CLIQUES
from colgen.problems.colouring.pricing import StableSetOracle
from colgen.problems.colouring.zykov import VERTEX, Zykov, round_up
from colgen.solvers.graphs.fewest_colours import fewest_colours
from colgen.solvers.graphs.mycielskian import mycielskian_bound
from colgen.solvers.graphs.stable_listing import maximal
from colgen.solvers.graphs.stable_set import heaviest
from colgen.solvers.work import VERTEX as COLOURING

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


_NEAR, _FAR = 1 << 17, 1 << 24
"""Node limits of the search for the fewest colours: if the bound lacks one colour, and if it lacks more."""


class StableSetEnumeration(Enumeration):
    """Bounds by Mycielskians, then searches for a best colouring, then lists maximal stable sets by reduced cost.

    Embedded Mycielskians (:mod:`colgen.solvers.graphs.mycielskian`) need more colours than the relaxation proves.  The
    search (:mod:`colgen.solvers.graphs.fewest_colours`) does not use stable sets.  It is fast on some graphs with
    weak relaxations: Mycielski's graph with 47 vertices needs six colours, its relaxation has value 3.6.  The node
    limit is larger if the bound lacks more than one colour, as lists would be long.  If the search finds no improving
    colouring, no stable set can be part of one.

    A colouring with K colours corresponds to K maximal stable sets that cover all vertices.  If no reduced cost is
    negative, they sum to K - Σ_S π(S) ≤ K - Σ_v π_v, so none exceeds the gap.  The choice of optimal dual values π
    matters.  Duals of a linear program are often zero.  In symmetric graphs nearly every set then has reduced cost
    zero.  Equal values for all vertices, as large as the largest stable set permits, are also tried.  The values with
    fewer sets are used.

    Parameters
    ----------
    limit
        Maximum number of stable sets to list.
    seconds
        Time limit of the search for a cover.
    """

    def __init__(self, oracle: StableSetOracle, limit: int = 10_000, seconds: float = 10.0) -> None:
        self.oracle = oracle
        self.limit = limit
        self.seconds = seconds

    def excludes(self, target: float) -> bool:
        return target < self.oracle.needed - TOLERANCES.integrality

    def enumerate(self, context: ReductionContext) -> Enumerated | None:
        pricing = PricingContext(context.sense, decisions=context.decisions, budget=context.budget)
        graph = self.oracle.graph(pricing)
        complete = self._search_colouring(graph, context)
        if complete is not None or not self.oracle.closed:
            return complete  # maximal sets do not partition the vertices
        duals = np.asarray(context.duals.array(VERTEX), dtype=np.float64)
        best: tuple[Mask, Ints, float] | None = None
        for whole, scale in (self._uniform_values(graph, context), round_up(duals)):
            sets = self._list_sets(graph, whole, scale, context)
            if sets is not None and (best is None or len(sets) < len(best[0])):
                best = sets, whole, scale
        if best is None:
            return None
        sets, whole, scale = best
        vertices = np.array(self.oracle.vertices)
        columns = [self.oracle.encode(vertices[row].tolist()) for row in graph.places(sets)]
        values: dict[Key, float] = {
            (VERTEX, v): value for v, value in zip(self.oracle.vertices, (whole / scale).tolist(), strict=True)
        }
        return Enumerated(columns, values=values)

    def _search_colouring(self, graph: Zykov, context: ReductionContext) -> Enumerated | None:
        """Return the columns of the best improving colouring.  None if the search does not finish."""
        if not graph.possible.all():
            return None  # neighbours are merged: the node is infeasible, which the lists prove
        most = math.floor(context.target + TOLERANCES.integrality)
        expired = lambda: context.budget.expired  # noqa: E731
        if mycielskian_bound(graph.adjacency, most + 1, cliques=CLIQUES, expired=expired)[0] > most:
            return Enumerated(())
        lacks_one = math.ceil(context.bound - TOLERANCES.integrality) >= most
        nodes = min(
            _NEAR if lacks_one else _FAR, context.budget.allotment.remaining / (COLOURING * len(graph.adjacency))
        )
        found = fewest_colours(graph.adjacency, most, nodes=int(nodes), expired=expired)
        if not found.finished:
            return None
        if found.colours is None:
            return Enumerated(())
        sets = classes(found.colours)
        sets = graph.places(graph.maximal(sets) if self.oracle.closed else sets)
        vertices = np.array(self.oracle.vertices)
        return Enumerated([self.oracle.encode(vertices[row].tolist()) for row in sets])

    def _uniform_values(self, graph: Zykov, context: ReductionContext) -> tuple[Ints, float]:
        """Return equal integer values for all vertices and the most that a stable set earns."""
        ones = np.ones(len(self.oracle.vertices), dtype=np.int64)
        largest = heaviest(graph.adjacency, graph.weights(ones), expired=lambda: context.budget.expired)
        return ones, float(largest.bound)

    def _list_sets(self, graph: Zykov, whole: Ints, scale: float, context: ReductionContext) -> Mask | None:
        """Return the sets within the gap at values ``whole / scale``.  None if there are too many."""
        weights = graph.weights(whole)
        gap = context.target * scale - float(whole.sum())
        # Rounding up may let sets earn more than ``scale``: bound the excess.
        most = max(scale, heaviest(graph.adjacency, weights, expired=lambda: context.budget.expired).bound)
        spare = (context.target - 1.0) * (most - scale)
        least = math.floor(scale - gap - spare)
        rows = maximal(
            np.ascontiguousarray(graph.adjacency[np.ix_(graph.possible, graph.possible)]),
            weights[graph.possible],
            least=max(least, 0),
            limit=self.limit,
            expired=lambda: context.budget.expired,
        )
        if rows is None:
            return None
        sets = np.zeros((len(rows), len(graph.groups)), dtype=np.bool_)
        sets[:, graph.possible] = rows
        return sets
