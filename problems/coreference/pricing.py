"""The pricing problem of clustering: three ways to find the cluster of best reduced cost.

    max over S  Σ_{i<j in S} s_ij - Σ_{i in S} π_i

Scores and π may have any sign, because the row of an item is an equation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from colgen import Column, InputError, Pricing, PricingContext, PricingResult
from colgen.core.duals import Duals
from colgen.core.tolerances import TOLERANCES
from colgen.problems.coreference.baseline import ilp_pricing
from colgen.problems.coreference.instance import CoreferenceInstance, Floats
from colgen.problems.coreference.items import COVER, Contraction, Items
from colgen.solvers.clusters.subset import SHORT, Subsets, ascend, promising, search, tabu
from colgen.solvers.linear.lp import LPStatus
from colgen.solvers.scaling import power_of_two

_MAX_NODES = 1 << 18
"""Nodes after which the search returns any improving cluster instead of the best one."""

_THRESHOLD_SHARE = 0.001
"""The first search ignores clusters worth less than this share of the tolerance of a column."""

_MAX_COLUMNS = 60
"""Largest number of clusters that a heuristic returns per round."""


class ClusterPricing(Pricing):
    """Base class of the oracles, which caches the items of the node."""

    def __init__(self, items: Items) -> None:
        self.items = items
        self._situation: tuple[object, ...] = ((), ())
        self._contraction = Contraction(items)

    def contraction(self, context: PricingContext) -> Contraction:
        """Return the items at the node."""
        situation = (context.decisions, context.fixed)
        if situation != self._situation:
            absent = [key[1] for column, _ in context.fixed for key in column.coefficients if key[0] == COVER]
            self._contraction = Contraction(self.items, context.decisions, absent)
            self._situation = situation
        return self._contraction

    def price_items(self, duals: Duals, context: PricingContext) -> tuple[Contraction, Floats, Floats]:
        """Return the items at the node, the scores of their pairs, and their profits."""
        contraction = self.contraction(context)
        # If all mentions are settled, the master has no rows of this block.
        values = np.asarray(duals[COVER]) if len(self.items) else np.empty(0)
        if len(values) != len(self.items):
            raise InputError(
                f"the master has {len(values)} rows {COVER!r}, expected {len(self.items)}, one per item; change "
                "the bounds of a row instead of removing it"
            )
        return contraction, *contraction.price_items(values, context.cost_weight)

    def total(self, duals: Duals, context: PricingContext, priced: float | None) -> float | None:
        """Return an upper bound on the sum of the reduced costs of the clusters of a solution.

        ``priced`` bounds the clusters of the items, if there is a bound at these dual values. The reductions are priced
        too: the first call verifies the settled clusters at the dual values that proved them, over all mentions
        (:mod:`colgen.solvers.clusters.steps`).
        """
        if context.fixed:
            return None
        if context.cost_weight != 1.0:  # settled clusters cost nothing here, and are feasible
            return priced
        decided, known = self.items.verify(context.expired), self.items.constant
        rows = np.asarray(duals[COVER]) if len(self.items) else np.empty(0)
        most = decided.bound - known - float(rows.sum())
        return most if priced is None else min(priced + decided.worth - known, most)


class GrowingClusters(ClusterPricing):
    """Heuristic oracle: grow clusters from every promising item by single changes, at most ``columns`` per round."""

    def __init__(self, items: Items, columns: int = _MAX_COLUMNS) -> None:
        super().__init__(items)
        self.columns = columns

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        contraction, scores, profits = self.price_items(duals, context)
        total = self.total(duals, context, None)
        left = np.flatnonzero(promising(scores, profits))
        if not len(left):
            return PricingResult(total=total)
        grown = ascend(
            scores[np.ix_(left, left)],
            profits[left],
            np.arange(len(left)),
            least=context.tolerance,
            expired=context.expired,
        )
        columns, values = improving_columns(contraction, left, grown, self.columns, context)
        return PricingResult(columns, None, values, total)


def improving_columns(
    contraction: Contraction, left: NDArray[np.intp], found: Subsets, most: int, context: PricingContext
) -> tuple[list[Column], list[float]]:
    """Return the columns of the best subsets of the remaining items and their reduced costs, for a heuristic."""
    members = np.zeros((min(len(found.values), most), len(contraction.groups)), dtype=np.bool_)
    members[:, left] = found.members[:most]
    good = contraction.are_allowed(members)
    columns = zip(contraction.columns(members[good]), found.values[:most][good].tolist(), strict=True)
    # Rounding errors grow with the scores, so a cluster of the master may seem to improve by that much. Returning it
    # would prevent the exact search from proving optimality.
    rounding = TOLERANCES.reduced_cost
    better = [(c, value) for c, value in columns if value > max(context.tolerance, rounding * abs(c.cost))]
    return [column for column, _ in better], [value for _, value in better]


class ClusterSearch(ClusterPricing):
    """Exact oracle by the combinatorial search of :mod:`colgen.solvers.clusters.subset`, for scores of any sign.

    It returns the best cluster of each anchor, and a bound on the total reduced cost of the clusters of a clustering. A
    long search stops with a weaker bound once it has found a cluster, or if the call is provisional. A tabu search
    precedes long searches and often makes them unnecessary.
    """

    def __init__(self, items: Items) -> None:
        super().__init__(items)
        self._lasts = False

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        contraction, scores, profits = self.price_items(duals, context)
        found = None if self._lasts else _search_briefly(scores, profits, context)
        if found is None:
            columns, values = self._by_tabu(contraction, scores, profits, context)
            if _any_new(columns, context):
                self._lasts = True
                return PricingResult(columns, None, values, self.total(duals, context, None))
            found = _search_fully(scores, profits, context)
            self._lasts = found.nodes > SHORT
        columns, values = _columns_of(contraction, found, context)
        if not (found.complete or context.provisional or context.expired() or _any_new(columns, context)):
            # Clusters that are in the master improve by rounding errors only and must not end the search without a
            # proof.
            found = _search_fully(scores, profits, context, early=False)
            columns, values = _columns_of(contraction, found, context)
        cut_off = not found.complete and context.expired()
        # A packing may be a single cluster, so the bound on packings bounds clusters too. The bound of a search that
        # was cut off before finding anything is not used, because it would only look like a proof.
        bound = None if context.fixed or (cut_off and not columns) else found.total
        return PricingResult(columns, bound, values, self.total(duals, context, bound), cut_off=cut_off)

    @staticmethod
    def _by_tabu(
        contraction: Contraction, scores: Floats, profits: Floats, context: PricingContext
    ) -> tuple[list[Column], list[float]]:
        left = np.flatnonzero(promising(scores, profits))
        found = tabu(
            scores[np.ix_(left, left)],
            profits[left],
            np.arange(len(left)),
            least=context.tolerance,
            expired=context.expired,
        )
        return improving_columns(contraction, left, found, _MAX_COLUMNS, context)


def _search_briefly(scores: Floats, profits: Floats, context: PricingContext) -> Subsets | None:
    """Return the result of a short search; None if it did not finish."""
    found = search(
        scores,
        profits,
        least=_THRESHOLD_SHARE * context.tolerance,
        most=SHORT,
        expired=context.expired,
    )
    if not found.complete:
        return None
    if len(found.values) or context.provisional:
        return found
    # Clusters below the threshold of the first search may sum over all items to more than the objective's tolerance. So
    # if there is no cluster to return, a second search uses the threshold 0.
    closer = search(
        scores,
        profits,
        least=0.0,
        most=_MAX_NODES,
        expired=context.expired,
    )
    return found._replace(total=min(found.total, closer.total)) if closer.complete else found


def _columns_of(contraction: Contraction, found: Subsets, context: PricingContext) -> tuple[list[Column], list[float]]:
    """Return the columns of the clusters from an exact search, and their reduced costs."""
    good = contraction.are_allowed(found.members) & (found.values > _THRESHOLD_SHARE * context.tolerance)
    return contraction.columns(found.members[good]), found.values[good].tolist()


def _any_new(columns: Sequence[Column], context: PricingContext) -> bool:
    """Return whether the master lacks at least one of these columns."""
    return any(map(context.is_new, columns))


def _search_fully(scores: Floats, profits: Floats, context: PricingContext, *, early: bool = True) -> Subsets:
    """Return the result of a search with threshold 0.

    If ``early``, a long search ends as soon as it has found an improving cluster.
    """
    return search(
        scores,
        profits,
        least=0.0,
        enough=_MAX_NODES if early else None,
        wanted=context.tolerance,  # smaller improvements give no column, and the search continues
        most=_MAX_NODES if context.provisional else None,
        expired=context.expired,
    )


class ClusterILP(ClusterPricing):
    """Exact oracle for comparison: the integer linear program of De Belder and Moens (2012, equation 7) in HiGHS.

    A clustering has at most as many clusters as items, which turns the bound per cluster into a bound per clustering.
    """

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        contraction, scores, profits = self.price_items(duals, context)
        if not len(profits):
            return PricingResult(bound=0.0, total=self.total(duals, context, 0.0))
        scale = max(power_of_two(scores), power_of_two(profits))  # the tolerances of HiGHS suit numbers near one
        cluster, solution = ilp_pricing(CoreferenceInstance(scores / scale), -profits / scale, context.seconds_left())
        bound = None if context.fixed or solution.bound == np.inf else max(scale * solution.bound, 0.0)
        total = self.total(duals, context, None if bound is None else bound * len(profits))
        cut_off = solution.status is not LPStatus.OPTIMAL and context.budget.expired
        members = np.zeros((1, len(profits)), dtype=np.bool_)
        members[0, list(cluster)] = True
        if not cluster or not contraction.are_allowed(members)[0]:
            return PricingResult((), bound, (), total, cut_off=cut_off)
        return PricingResult(contraction.columns(members), bound, [scale * solution.objective], total, cut_off=cut_off)
