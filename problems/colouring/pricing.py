"""The oracle: improving stable sets by local search, and the heaviest by exact search."""

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
from colgen.problems.colouring.zykov import VERTEX, Zykov, round_up, zykov
from colgen.solvers.graphs.stable_counted import heaviest_counted
from colgen.solvers.graphs.stable_search import heavy
from colgen.solvers.graphs.stable_set import StableSets, heaviest

_NODES = 10_000
"""Node limit of the exact search when local search has found columns."""

_NODES_MORE = 300
"""Node limit for lighter sets once the bound proves enough."""


@dataclass(frozen=True)
class CutCharges:
    """Charges of cuts to stable sets.

    * ``amounts``: coefficient of each merged vertex in each cut, shape (cuts, merged)
    * ``divisors``, ``charges``: divisor and charge of each cut, shape (cuts,)
    * ``sides``: total charge of the cuts' upper sides
    """

    amounts: NDArray[np.int64]
    divisors: NDArray[np.int64]
    charges: NDArray[np.int64]
    sides: int

    def total(self, members: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the total charge of cuts for each set, shape (sets,)."""
        return members @ self.amounts.T // self.divisors @ self.charges


class StableSetOracle(Pricing):
    """Oracle for maximum weight stable sets: local search, then exact search if that finds no improving set.

    Dual values are rounded up to integers, so the bound holds without a tolerance.

    Parameters
    ----------
    vertices
        The vertices that have a row, increasing.
    adjacency
        Their adjacency matrix, in this order.
    columns
        Maximum number of stable sets per round.
    closed
        Whether to extend sets to maximal ones.  This requires covering rows (≥ 1) and no cuts.

    Attributes
    ----------
    known
        Number of colours of the best known colouring.  The search stops once its bound rounds up to this number.  The
        bound itself does not depend on it.
    needed
        Number of colours that every colouring needs, proved without stable sets.  Relaxations may need fewer.
    """

    cost_bound = 1.0  # every stable set costs 1: Farley's bound holds
    prices = frozenset({Count})

    def __init__(
        self, vertices: Sequence[int], adjacency: NDArray[np.bool_], columns: int = 50, *, closed: bool = True
    ) -> None:
        self.vertices = tuple(vertices)
        self.adjacency = adjacency
        self.columns = columns
        self.closed = closed
        self.known = math.inf
        self.needed = 1
        self._graph: Zykov | None = None
        self._decisions: tuple[object, ...] | None = None

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        graph = self.graph(context)
        whole, scale = round_up(np.asarray(duals.array(VERTEX), dtype=np.float64))
        weights, charges = graph.weights(whole), self._cut_charges(duals, graph, whole, scale)
        # No set weighs more than all vertices: this limits ``least`` if dual values are near zero.
        all_of_them = int(weights.sum())
        least = min(math.floor((context.cost_weight + context.tolerance) * scale), all_of_them)
        quickly = heavy(graph.adjacency, weights, above=least, number=self.columns)
        earned = quickly @ weights
        if charges is not None:
            earned = earned - charges.total(quickly)
            quickly, earned = quickly[earned > least], earned[earned > least]
        enough = self.sufficient(whole, charges) if context.cost_weight else 0
        if len(quickly):
            columns = self.batch(self._extend(quickly, graph), graph, duals)
            if int(earned.max()) > enough:
                return PricingResult(columns)
            # Improving columns exist, but these dual values may already prove a sufficient bound.
            tried = self._heaviest(graph, weights, charges, above=enough, nodes=_NODES)
            return PricingResult(columns, context.cost_weight - tried.bound / scale if tried.finished else None)
        cost = min(math.floor(context.cost_weight * scale), all_of_them)
        exactly = self._heaviest(
            graph,
            weights,
            charges,
            above=max(cost, enough),
            expired=context.expired,
        )
        members, most = exactly.members, exactly.bound
        if not len(members) and exactly.finished and enough > cost:
            # The bound suffices for the integer problem; solving the relaxation itself needs lighter sets.
            lighter = self._heaviest(graph, weights, charges, above=cost, nodes=_NODES_MORE)
            members, most = lighter.members, min(most, lighter.bound)
        found = self._extend(members[::-1][: self.columns], graph)
        bound = context.cost_weight - most / scale
        return PricingResult(self.batch(found, graph, duals), bound, cut_off=not exactly.finished)

    def _extend(self, members: NDArray[np.bool_], graph: Zykov) -> NDArray[np.bool_]:
        return graph.maximal(members) if self.closed else members

    @staticmethod
    def _heaviest(graph: Zykov, weights: NDArray[np.int64], charges: CutCharges | None, **how: Any) -> StableSets:
        if charges is None:
            return heaviest(graph.adjacency, weights, **how)
        return heaviest_counted(graph.adjacency, weights, charges.amounts, charges.divisors, charges.charges, **how)

    def _cut_charges(self, duals: Duals, graph: Zykov, whole: NDArray[np.int64], scale: float) -> CutCharges | None:
        """Return the charges of cuts, rounded down to integers; None without cuts."""
        cuts = duals.terms(Count)
        if not cuts:
            return None
        terms = cuts.arrays({vertex: place for place, vertex in enumerate(self.vertices)})
        weights = np.zeros((len(cuts), len(self.vertices)), dtype=np.int64)
        weights[np.repeat(np.arange(len(cuts)), np.diff(terms.starts)), terms.members] = terms.weights
        # A charge above the weight of all vertices excludes a set: larger charges are truncated.
        most = float(np.maximum(whole, 0).sum() + 1)
        charges = np.floor(np.clip(-terms.values * scale, 0.0, most)).astype(np.int64)
        sides = np.array([term.side for term in cuts.terms], dtype=np.int64)
        return CutCharges(weights @ graph.groups.T, terms.divisors, charges, int(charges @ sides))

    def sufficient(self, whole: NDArray[np.int64], charges: CutCharges | None = None) -> int:
        """Return a weight such that no improving colouring exists if no set is heavier; 0 if unknown.

        Let w_v be the weights, σ_c the charges of cuts with right-hand sides b_c, and w(S) the weight of a set minus
        its charges.  By Farley's bound, at least (Σ_v w_v - Σ_c σ_c b_c) / max_S w(S) colours are needed.  A small
        margin accounts for the tolerance at which bounds are rounded up.
        """
        fewer = self.known - 1.0
        if not 0.0 < fewer < math.inf:
            return 0
        total = int(whole.sum()) - (0 if charges is None else charges.sides)
        return max(math.floor((1.0 - 8.0 * TOLERANCES.optimality) * float(total) / fewer), 0)

    def graph(self, context: PricingContext) -> Zykov:
        """Return the graph of the node; it is cached for the next call."""
        if self._graph is None or context.decisions != self._decisions:
            self._graph, self._decisions = zykov(self.vertices, self.adjacency, context), context.decisions
        return self._graph

    def batch(self, members: NDArray[np.bool_], graph: Zykov, duals: Duals) -> Columns:
        """Return the columns of stable sets of the node's graph, one per row."""
        owners, places = np.nonzero(graph.places(members))
        numbers = np.array(self.vertices, dtype=np.int64)[places]
        starts = np.searchsorted(owners, np.arange(len(members) + 1))

        def structure(k: int) -> tuple[int, ...]:
            return tuple(numbers[starts[k] : starts[k + 1]].tolist())

        return Columns(np.ones(len(members)), starts, duals.rows(VERTEX)[places], np.ones(len(places)), structure)

    def encode(self, vertices: Sequence[int]) -> Column:
        """Return the column of a stable set."""
        return Column(1.0, {(VERTEX, v): 1.0 for v in vertices}, tuple(vertices))
