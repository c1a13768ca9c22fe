"""The oracle: stable sets that weigh more than a colour, many by local search, and the heaviest exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Columns, Duals, Pricing, PricingContext, PricingResult
from colgen.core.terms import Count
from colgen.core.tolerances import TOLERANCES
from colgen.problems.colouring.zykov import VERTEX, Zykov, whole_numbers, zykov
from colgen.solvers.graphs.stable_counted import heaviest_counted
from colgen.solvers.graphs.stable_search import heavy
from colgen.solvers.graphs.stable_set import StableSets, heaviest

_NODES = 10_000
"""Of the exact search, where columns are known."""

_NODES_MORE = 300
"""Of the exact search, where what it has found proves enough."""


@dataclass(frozen=True)
class Paid:
    """What stable sets pay for cuts.

    Attributes
    ----------
    amounts
        Of each merged vertex in each cut: shape (cuts, merged).
    divisors, charges
        Of the cuts.
    sides
        What all cuts charge for their upper sides.
    """

    amounts: NDArray[np.int64]
    divisors: NDArray[np.int64]
    charges: NDArray[np.int64]
    sides: int

    def by(self, members: NDArray[np.bool_]) -> NDArray[np.int64]:
        """What each of some sets pays: shape (sets,)."""
        return members @ self.amounts.T // self.divisors @ self.charges


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
    closed
        Whether a set with more vertices is as good a column: where rows are ≥ 1.  Where they are equations, and sets
        may pay for cuts, columns are the sets that earn most as they are.

    Attributes
    ----------
    known
        Colours of the best colouring known: a bound that rounds up to as many is all that is wanted.  It says when to
        stop searching, and nothing that is stated depends on its being true.
    """

    cost_bound = 1.0  # every stable set costs a colour: Farley's bound holds
    prices = frozenset({Count})

    def __init__(
        self, vertices: Sequence[int], adjacency: NDArray[np.bool_], columns: int = 50, *, closed: bool = True
    ) -> None:
        self.vertices = tuple(vertices)
        self.adjacency = adjacency
        self.columns = columns
        self.closed = closed
        self.known = math.inf
        self._graph: Zykov | None = None
        self._decisions: tuple[object, ...] | None = None

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        graph = self.graph(context)
        whole, scale = whole_numbers(np.asarray(duals.array(VERTEX), dtype=np.float64))
        weights, paid = graph.weights(whole), self._paid(duals, graph, whole, scale)
        # No set weighs more than all vertices, however large a multiple of dual values near zero a colour is.
        all_of_them = int(weights.sum())
        least = min(math.floor((context.cost_weight + context.tolerance) * scale), all_of_them)
        quickly = heavy(graph.adjacency, weights, above=least, number=self.columns)
        earned = quickly @ weights
        if paid is not None:
            earned = earned - paid.by(quickly)
            quickly, earned = quickly[earned > least], earned[earned > least]
        enough = self.sufficient(whole, paid) if context.cost_weight else 0
        if len(quickly):
            columns = self.batch(self._extended(quickly, graph), graph, duals)
            if int(earned.max()) > enough:
                return PricingResult(columns)
            # Columns are still to be found, and yet these dual values may prove all that is wanted.
            tried = self._heaviest(graph, weights, paid, above=enough, nodes=_NODES)
            return PricingResult(columns, context.cost_weight - tried.bound / scale if tried.finished else None)
        cost = min(math.floor(context.cost_weight * scale), all_of_them)
        exactly = self._heaviest(
            graph,
            weights,
            paid,
            above=max(cost, enough),
            expired=context.expired,
        )
        members, most = exactly.members, exactly.bound
        if not len(members) and exactly.finished and enough > cost:
            # That proves all that a run needs; one that wants the relaxation itself goes on with what is lighter.
            lighter = self._heaviest(graph, weights, paid, above=cost, nodes=_NODES_MORE)
            members, most = lighter.members, min(most, lighter.bound)
        found = self._extended(members[::-1][: self.columns], graph)
        bound = context.cost_weight - most / scale
        return PricingResult(self.batch(found, graph, duals), bound, cut_off=not exactly.finished)

    def _extended(self, members: NDArray[np.bool_], graph: Zykov) -> NDArray[np.bool_]:
        return graph.maximal(members) if self.closed else members

    @staticmethod
    def _heaviest(graph: Zykov, weights: NDArray[np.int64], paid: Paid | None, **how: Any) -> StableSets:
        if paid is None:
            return heaviest(graph.adjacency, weights, **how)
        return heaviest_counted(graph.adjacency, weights, paid.amounts, paid.divisors, paid.charges, **how)

    def _paid(self, duals: Duals, graph: Zykov, whole: NDArray[np.int64], scale: float) -> Paid | None:
        """What stable sets pay for cuts, in whole numbers rounded down; None if they pay for none."""
        cuts = duals.terms(Count)
        if not cuts:
            return None
        terms = cuts.arrays({vertex: place for place, vertex in enumerate(self.vertices)})
        weights = np.zeros((len(cuts), len(self.vertices)), dtype=np.int64)
        weights[np.repeat(np.arange(len(cuts)), np.diff(terms.starts)), terms.members] = terms.weights
        # Who pays more than all vertices together earn is worth nothing, however much more it is.
        most = float(np.maximum(whole, 0).sum() + 1)
        charges = np.floor(np.clip(-terms.values * scale, 0.0, most)).astype(np.int64)
        sides = np.array([term.side for term in cuts.terms], dtype=np.int64)
        return Paid(weights @ graph.groups.T, terms.divisors, charges, int(charges @ sides))

    def sufficient(self, whole: NDArray[np.int64], paid: Paid | None = None) -> int:
        """Stable sets of at most this weight leave no colouring that is better than the one known; 0 if all do.

        By Farley's bound Σ_v w_v / max_S w(S) colours are needed, less what cuts charge for their sides: more than that
        would be known if the heaviest set weighed less.  A hair is left for the tolerance at which bounds are rounded.
        """
        fewer = self.known - 1.0
        if not 0.0 < fewer < math.inf:
            return 0
        total = int(whole.sum()) - (0 if paid is None else paid.sides)
        return max(math.floor((1.0 - 8.0 * TOLERANCES.optimality) * float(total) / fewer), 0)

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
