"""The pricing problem: find the pairs of labels with positive reduced cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from colgen.pricing.oracles import Pricing, PricingContext, PricingResult
from colgen.problems.chain_map.kernel_calls import KernelCalls
from colgen.problems.chain_map.kernels.exchange_bounds import Exchanges, allocate_edge_scratch
from colgen.problems.chain_map.kernels.exchange_prices import price_by_exchanges
from colgen.problems.chain_map.kernels.pair_prices import PairList, Prices, allocate_pairs
from colgen.problems.chain_map.kernels.tree_prices import allocate_scratch, price
from colgen.problems.chain_map.master import LabelPairs, MessageDuals
from colgen.solvers.chains.forest import Forest
from colgen.solvers.chains.tree_messages import Model

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]
PriceTrees = Callable[[PairList, Offsets, float], tuple[int, int, int, bool]]
"""Continue writing pairs from a position, which is updated, for an amount of work: see ``tree_prices.price``."""

_INITIAL_PAIRS = 2**10
"""Initial capacity for pairs."""

_MOST_PAIRS = 2**20
"""With more pairs than this, the remaining trees wait for the next round, and only the best pair of each edge is kept.
This bounds the memory.
"""


class PairPricing(Pricing):
    """Find all pairs of positive reduced cost in all unfinished trees at once.

    Parameters
    ----------
    reduced_cost
        ``both``, ``forward`` or ``split``, see :class:`~colgen.problems.chain_map.ChainMAP`.
    gap
        A tree is finished when its bound exceeds its value by at most this share of the value.

    Attributes
    ----------
    priced, computed
        Edges whose reduced costs were bounded, and pairs whose reduced costs were computed, over all calls.
    """

    def __init__(self, forest: Forest, reduced_cost: str = "both", gap: float = 0.0) -> None:
        self._forest = forest
        self._split = reduced_cost == "split"
        self._gap = gap
        self._pairs = allocate_pairs(_INITIAL_PAIRS)
        self._quiet: tuple[Model, Offsets] | None = None
        self.priced = 0
        self.computed = 0

    def price(self, duals: MessageDuals | None, context: PricingContext) -> PricingResult:  # type: ignore[override]
        if duals is None:  # the messages were not computed in time
            return PricingResult(cut_off=True)
        forest, active = self._forest, duals.active
        parts: list[PairList] = []
        call = self._by_maxima(duals) if duals.exchanges is None else self._by_exchanges(duals, duals.exchanges)

        def is_full() -> bool:
            return sum(len(part.nodes) for part in parts) > _MOST_PAIRS

        def look(position: Offsets, work: float) -> None:
            full = True
            while full:
                count, priced, computed, full = call(self._pairs, position, work)
                found = self._pairs.first(count)
                parts.append(_best_of_edges(found) if is_full() else found)
                self.priced += priced
                self.computed += computed
                if full:
                    self._pairs = allocate_pairs(2 * len(self._pairs.nodes))

        pieces = KernelCalls(context.expired)
        done = pieces.run_trees(look, len(active), is_full)
        finished = duals.finished and done == len(active)
        duals.waiting[active[:done]] = False
        duals.waiting[active[done:]] = True
        if done < len(active):  # an interrupted tree waits; its pairs, possibly very many, are dropped
            first = forest.starts[active[done]]
            ends = [int(np.searchsorted(part.nodes, first)) for part in parts]
            parts = [part.first(k) for part, k in zip(parts, ends, strict=True)]
        active = active[:done]
        nodes, lower, upper, found = (np.concatenate(some) for some in zip(*parts, strict=True)) if parts else _NO_PAIRS
        bounds, values = duals.bounds[active], duals.values[active]
        gaps = np.subtract(
            bounds, values, out=np.zeros(len(active)), where=bounds != values
        )  # both are -inf for a tree without a labelling
        bound = float(found.max(initial=0.0))
        pairs = LabelPairs(nodes, lower, upper)
        if self._gap > 0 and len(found):
            far = np.zeros(len(duals.bounds), dtype=bool)
            far[active] = gaps > self._gap * np.abs(duals.scores[active])
            wanted = far[forest.trees_of(nodes)]
            pairs, found = pairs.where(wanted), found[wanted]
        if not finished:
            return PricingResult(pairs, None, found, cut_off=True, together=True)
        return PricingResult(pairs, bound, found, float(gaps.sum()), together=True)

    def _by_exchanges(self, duals: MessageDuals, exchanges: Exchanges) -> PriceTrees:
        """Return a function that prices the unfinished trees with bounds by exchanges."""
        prices, gaps, scratch = self._prices(duals), np.zeros(1), allocate_edge_scratch(exchanges)
        if self._quiet is None or self._quiet[0] is not duals.model:
            self._quiet = duals.model, np.full(self._forest.num_nodes, -1, dtype=np.int64)
        quiet = self._quiet[1]
        return lambda pairs, position, work: price_by_exchanges(
            prices, exchanges, scratch, pairs, position, gaps, work, quiet
        )

    def _by_maxima(self, duals: MessageDuals) -> PriceTrees:
        """Return a function that prices the unfinished trees with maxima of the tables only."""
        prices, gaps = self._prices(duals), np.zeros(1)
        scratch = allocate_scratch(self._forest, duals.pairwise.num_labels)
        return lambda pairs, position, work: price(prices, self._split, scratch, pairs, position, gaps, work)

    def _prices(self, duals: MessageDuals) -> Prices:
        return Prices(
            self._forest,
            duals.model,
            duals.messages,
            duals.pairwise.row_maxima,
            duals.pairwise.column_maxima,
            duals.active,
            duals.values,
            duals.size,
            duals.shares,
            duals.beyond,
            duals.bounds,
        )


def _best_of_edges(pairs: PairList) -> PairList:
    """Return the first pair of largest reduced cost for each node; pairs are sorted by node."""
    first = np.flatnonzero(np.diff(pairs.nodes, prepend=-1))
    best = np.maximum.reduceat(pairs.reduced, first) if len(first) else pairs.reduced
    where = np.flatnonzero(pairs.reduced == np.repeat(best, np.diff(first, append=len(pairs.nodes))))
    where = where[np.diff(pairs.nodes[where], prepend=-1) != 0]
    return PairList(*(some[where] for some in pairs))


_NO_PAIRS = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32), np.empty(0))
