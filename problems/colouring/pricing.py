"""The oracle: stable sets that weigh more than a colour, many by local search, and the heaviest exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Columns, Duals, Pricing, PricingContext, PricingResult
from colgen.core.tolerances import TOLERANCES
from problems.colouring.zykov import VERTEX, Zykov, whole_numbers, zykov
from solvers.graphs.stable_search import heavy
from solvers.graphs.stable_set import heaviest

_NODES = 10_000
"""Of the exact search, where columns are known."""

_NODES_MORE = 1_000
"""Of the exact search, where what it has found proves enough."""


class StableSetOracle(Pricing):
    """Maximum weight stable set: local search first, and the exact search where that finds nothing.

    Dual values become whole numbers, rounded up, so that the bound holds for the dual values themselves, without a
    tolerance.

    Parameters
    ----------
    vertices
        The vertices that have a row, increasing.
    adjacency
        Of these, in this order.
    columns
        At most so many stable sets a round.

    Attributes
    ----------
    known
        Colours of the best colouring known: a bound that rounds up to as many is all that is wanted.  It says when to
        stop searching, and nothing that is stated depends on its being true.
    """

    cost_bound = 1.0  # every stable set costs a colour: Farley's bound holds

    def __init__(self, vertices: Sequence[int], adjacency: NDArray[np.bool_], columns: int = 50) -> None:
        self.vertices = tuple(vertices)
        self.adjacency = adjacency
        self.columns = columns
        self.known = math.inf
        self._graph: Zykov | None = None
        self._decisions: tuple[object, ...] | None = None

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        graph = self.graph(context)
        whole, scale = whole_numbers(np.asarray(duals.array(VERTEX), dtype=np.float64))
        weights = graph.weights(whole)
        # No set weighs more than all vertices, however large a multiple of dual values near zero a colour is.
        all_of_them = int(weights.sum())
        least = min(math.floor((context.cost_weight + context.tolerance) * scale), all_of_them)
        quickly = heavy(graph.adjacency, weights, above=least, number=self.columns)
        enough = self.sufficient(whole) if context.cost_weight else 0
        if len(quickly):
            columns = self.batch(graph.maximal(quickly), graph, duals)
            if int(weights[quickly[0]].sum()) > enough:
                return PricingResult(columns)
            # Columns are still to be found, and yet these dual values may prove all that is wanted.
            tried = heaviest(graph.adjacency, weights, above=enough, nodes=_NODES)
            return PricingResult(columns, context.cost_weight - tried.bound / scale if tried.finished else None)
        cost = min(math.floor(context.cost_weight * scale), all_of_them)
        exactly = heaviest(
            graph.adjacency,
            weights,
            above=max(cost, enough),
            seconds=context.seconds_left(),
            expired=lambda: context.budget.expired,
        )
        members, most = exactly.members, exactly.bound
        if not len(members) and exactly.finished and enough > cost:
            # That proves all that a run needs; one that wants the relaxation itself goes on with what is lighter.
            lighter = heaviest(graph.adjacency, weights, above=cost, nodes=_NODES_MORE)
            members, most = lighter.members, min(most, lighter.bound)
        found = graph.maximal(members[::-1][: self.columns])
        bound = context.cost_weight - most / scale
        return PricingResult(self.batch(found, graph, duals), bound, cut_off=not exactly.finished)

    def sufficient(self, whole: NDArray[np.int64]) -> int:
        """Stable sets of at most this weight leave no colouring that is better than the one known; 0 if all do.

        By Farley's bound Σ_v w_v / max_S w(S) colours are needed: more than that would be known if the heaviest set
        weighed less.  A hair is left for the tolerance at which bounds are rounded.
        """
        fewer = self.known - 1.0
        if not 0.0 < fewer < math.inf:
            return 0
        return math.floor((1.0 - 8.0 * TOLERANCES.optimality) * float(whole.sum()) / fewer)

    def graph(self, context: PricingContext) -> Zykov:
        """The graph of the node, kept for the next call."""
        if self._graph is None or context.decisions != self._decisions:
            self._graph, self._decisions = zykov(self.vertices, self.adjacency, context), context.decisions
        return self._graph

    def batch(self, members: NDArray[np.bool_], graph: Zykov, duals: Duals) -> Columns:
        """The columns of stable sets of the node's graph, one a row."""
        owners, places = np.nonzero(graph.places(members))
        numbers = np.array(self.vertices, dtype=np.int64)[places]
        starts = np.searchsorted(owners, np.arange(len(members) + 1))

        def structure(k: int) -> tuple[int, ...]:
            return tuple(numbers[starts[k] : starts[k + 1]].tolist())

        return Columns(np.ones(len(members)), starts, duals.rows(VERTEX)[places], np.ones(len(places)), structure)

    def encode(self, vertices: Sequence[int]) -> Column:
        """The column of a stable set."""
        return Column(1.0, {(VERTEX, v): 1.0 for v in vertices}, tuple(vertices))
