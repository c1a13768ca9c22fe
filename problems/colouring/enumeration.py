"""All stable sets that a better colouring can use: those of the best colouring, or all of small reduced cost."""

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
from colgen.problems.colouring.pricing import StableSetOracle
from colgen.problems.colouring.zykov import VERTEX, Zykov, whole_numbers
from colgen.solvers.graphs.fewest_colours import fewest_colours
from colgen.solvers.graphs.stable_listing import maximal
from colgen.solvers.graphs.stable_set import heaviest

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


_NEAR, _FAR = 1 << 17, 1 << 24
"""Of the search for the fewest colours, where the bound lacks one colour, and where it lacks more."""


class StableSetEnumeration(Enumeration):
    """The colours of a best colouring, searched vertex by vertex; else maximal stable sets by their reduced cost.

    The search (:mod:`colgen.solvers.graphs.fewest_colours`) knows nothing of stable sets, and is soon at its end on
    graphs of which they say little: Mycielski's of 47 vertices needs six colours, and its relaxation is worth 3.6.
    Where the bound lacks more than one colour it is given longer, for lists would be long there.  If it finds no better
    colouring then no stable set can be part of one.

    A colouring of K colours makes K maximal stable sets that cover all vertices.  Where none has a negative reduced
    cost, these sum to K - Σ_S π(S) ≤ K - Σ_v π_v, so that none exceeds the gap.  Which optimal dual values π are taken
    matters: those of a linear program are zero wherever they can be, and in a graph of much symmetry nearly every set
    has a reduced cost of zero.  Equal values for all vertices, as large as the largest stable set allows, are tried as
    well, and those that leave fewer sets are taken.

    Parameters
    ----------
    limit
        At most so many stable sets.
    seconds
        For the search for a cover by them.
    """

    def __init__(self, oracle: StableSetOracle, limit: int = 10_000, seconds: float = 10.0) -> None:
        self.oracle = oracle
        self.limit = limit
        self.seconds = seconds

    def enumerate(self, context: ReductionContext) -> Enumerated | None:
        told = PricingContext(context.sense, decisions=context.decisions, budget=context.budget)
        graph = self.oracle.graph(told)
        whole_search = self._vertex_by_vertex(graph, context)
        if whole_search is not None or not self.oracle.closed:
            return whole_search  # maximal sets alone do not cover each vertex once
        duals = np.asarray(context.duals.array(VERTEX), dtype=np.float64)
        best: tuple[Mask, Ints, float] | None = None
        for whole, scale in (self._equal(graph, context), whole_numbers(duals)):
            sets = self._sets(graph, whole, scale, context)
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

    def _vertex_by_vertex(self, graph: Zykov, context: ReductionContext) -> Enumerated | None:
        """What the best colouring of interest uses; None if the search does not come to its end."""
        if not graph.possible.all():
            return None  # neighbours are merged: nothing to colour, which the lists find as well
        most = math.floor(context.target + TOLERANCES.integrality)
        lacks_one = math.ceil(context.bound - TOLERANCES.integrality) >= most
        found = fewest_colours(
            graph.adjacency, most, nodes=_NEAR if lacks_one else _FAR, expired=lambda: context.budget.expired
        )
        if not found.finished:
            return None
        if found.colours is None:
            return Enumerated(())
        sets = classes(found.colours)
        sets = graph.places(graph.maximal(sets) if self.oracle.closed else sets)
        vertices = np.array(self.oracle.vertices)
        return Enumerated([self.oracle.encode(vertices[row].tolist()) for row in sets])

    def _equal(self, graph: Zykov, context: ReductionContext) -> tuple[Ints, float]:
        """The same value for all vertices, and what a stable set may earn in these units."""
        ones = np.ones(len(self.oracle.vertices), dtype=np.int64)
        largest = heaviest(graph.adjacency, graph.weights(ones), expired=lambda: context.budget.expired)
        return ones, float(largest.bound)

    def _sets(self, graph: Zykov, whole: Ints, scale: float, context: ReductionContext) -> Mask | None:
        """Sets of reduced cost within the gap that values whole / scale leave; None if too many."""
        weights = graph.weights(whole)
        gap = context.target * scale - float(whole.sum())
        # What no set may earn more than, where rounding up has added to what sets earn.
        most = max(scale, heaviest(graph.adjacency, weights, expired=lambda: context.budget.expired).bound)
        spare = (context.target - 1.0) * (most - scale)
        least = math.floor(scale - gap - spare)
        listed = maximal(
            np.ascontiguousarray(graph.adjacency[np.ix_(graph.possible, graph.possible)]),
            weights[graph.possible],
            least=max(least, 0),
            limit=self.limit,
            expired=lambda: context.budget.expired,
        )
        if listed is None:
            return None
        sets = np.zeros((len(listed), len(graph.groups)), dtype=np.bool_)
        sets[:, graph.possible] = listed
        return sets
