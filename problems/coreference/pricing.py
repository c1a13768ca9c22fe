"""The pricing problem of clustering: the cluster of best reduced cost, found in three ways.

    max over S  Σ_{i<j in S} s_ij - Σ_{i in S} π_i

Its scores may have any sign, and so may π: the row of an item is an equation.
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

_ENOUGH = 1 << 18
"""Nodes after which a cluster in the hand is worth more than the best one."""

_FRACTION = 0.001
"""Of the tolerance of a column: clusters worth less are not looked for at first."""

_COLUMNS = 60
"""At most so many clusters of a heuristic a round."""


class ClusterPricing(Pricing):
    """What the oracles share: the items to choose from at the node, kept for the next call."""

    def __init__(self, items: Items) -> None:
        self.items = items
        self._situation: tuple[object, ...] = ((), ())
        self._contraction = Contraction(items)

    def contraction(self, context: PricingContext) -> Contraction:
        """The items at the node."""
        situation = (context.decisions, context.fixed)
        if situation != self._situation:
            absent = [key[1] for column, _ in context.fixed for key in column.coefficients if key[0] == COVER]
            self._contraction = Contraction(self.items, context.decisions, absent)
            self._situation = situation
        return self._contraction

    def priced(self, duals: Duals, context: PricingContext) -> tuple[Contraction, Floats, Floats]:
        """The items at the node, the scores of their pairs, and what each earns by itself."""
        contraction = self.contraction(context)
        # Where all mentions are settled the master has no row, and its dual values do not know the block.
        values = np.asarray(duals[COVER]) if len(self.items) else np.empty(0)
        if len(values) != len(self.items):
            raise InputError(
                f"the master has {len(values)} rows {COVER!r} for {len(self.items)} mentions: clusters have a "
                "coefficient in each; change the sides of a row rather than leave it out"
            )
        return contraction, *contraction.priced(values, context.cost_weight)

    def total(self, duals: Duals, context: PricingContext, priced: float | None) -> float | None:
        """What the reduced costs of the clusters of an answer sum to at most.

        Whatever has been decided before there were columns is priced as well, in the first round that asks: its
        clusters at the dual values that decided it, over all mentions (:mod:`colgen.solvers.clusters.steps`).

        Parameters
        ----------
        priced
            A bound for the clusters of the items; None if there is none at these dual values.
        """
        if context.fixed:
            return None
        if context.cost_weight != 1.0:  # what is settled costs nothing here, and is feasible
            return priced
        decided, known = self.items.proved(context.expired), self.items.constant
        rows = np.asarray(duals[COVER]) if len(self.items) else np.empty(0)
        most = decided.bound - known - float(rows.sum())
        return most if priced is None else min(priced + decided.worth - known, most)


class GrowingClusters(ClusterPricing):
    """Heuristic: clusters grown from every item that a good cluster could hold, by chains of single changes.

    Parameters
    ----------
    columns
        At most so many clusters a round.
    """

    def __init__(self, items: Items, columns: int = _COLUMNS) -> None:
        super().__init__(items)
        self.columns = columns

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        contraction, scores, profits = self.priced(duals, context)
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
        columns, values = improving(contraction, left, grown, self.columns, context)
        return PricingResult(columns, None, values, total)


def improving(
    contraction: Contraction, left: NDArray[np.intp], found: Subsets, most: int, context: PricingContext
) -> tuple[list[Column], list[float]]:
    """Columns of the best subsets of the items that are left, and their reduced costs: of a heuristic."""
    members = np.zeros((min(len(found.values), most), len(contraction.groups)), dtype=np.bool_)
    members[:, left] = found.members[:most]
    good = contraction.allowed(members)
    columns = zip(contraction.columns(members[good]), found.values[:most][good].tolist(), strict=True)
    # Rounding errors grow with the scores, and a cluster of the master may seem to improve by as much as they are.
    # A heuristic that returned such a cluster would keep the exact search from proving that there is nothing left.
    rounding = TOLERANCES.reduced_cost
    better = [(c, value) for c, value in columns if value > max(context.tolerance, rounding * abs(c.cost))]
    return [column for column, _ in better], [value for _, value in better]


class ClusterSearch(ClusterPricing):
    """Exact: the combinatorial search of :mod:`colgen.solvers.clusters.subset`, for scores of any sign.

    It returns the best cluster of each anchor, and proves how much the reduced costs of all clusters of a clustering
    can sum to.  Where it takes long and has found something, or may give up, it stops with a weaker proof.

    A search that lasts is preceded by a tabu search: what that finds saves the other one.
    """

    def __init__(self, items: Items) -> None:
        super().__init__(items)
        self._lasts = False

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        contraction, scores, profits = self.priced(duals, context)
        found = None if self._lasts else _in_short(scores, profits, context)
        if found is None:
            columns, values = self._by_tabu(contraction, scores, profits, context)
            if _any_new(columns, context):
                self._lasts = True
                return PricingResult(columns, None, values, self.total(duals, context, None))
            found = _to_the_end(scores, profits, context)
            self._lasts = found.nodes > SHORT
        columns, values = _columns_of(contraction, found, context)
        if not (found.complete or context.provisional or context.expired() or _any_new(columns, context)):
            # Clusters that the master holds improve it by rounding alone: they are no reason to end without a proof.
            found = _to_the_end(scores, profits, context, early=False)
            columns, values = _columns_of(contraction, found, context)
        cut_off = not found.complete and context.expired()
        # A packing may consist of one cluster, so that the bound on packings is one on clusters as well.  That of a
        # search that was cut off before it had found anything would only look like a proof.
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
        return improving(contraction, left, found, _COLUMNS, context)


def _in_short(scores: Floats, profits: Floats, context: PricingContext) -> Subsets | None:
    """What a short search finds and proves; None if it does not come to its end."""
    found = search(
        scores,
        profits,
        least=_FRACTION * context.tolerance,
        most=SHORT,
        expired=context.expired,
    )
    if not found.complete:
        return None
    if len(found.values) or context.provisional:
        return found
    # What any cluster may be worth without being looked for adds up over all items, to more than an objective's own
    # tolerance: where there is nothing to find, a second search looks at every rounding error.
    closer = search(
        scores,
        profits,
        least=0.0,
        most=_ENOUGH,
        expired=context.expired,
    )
    return found._replace(total=min(found.total, closer.total)) if closer.complete else found


def _columns_of(contraction: Contraction, found: Subsets, context: PricingContext) -> tuple[list[Column], list[float]]:
    """Columns of the clusters that an exact search has found, and their reduced costs."""
    good = contraction.allowed(found.members) & (found.values > _FRACTION * context.tolerance)
    return contraction.columns(found.members[good]), found.values[good].tolist()


def _any_new(columns: Sequence[Column], context: PricingContext) -> bool:
    """Whether the master lacks one of these columns."""
    return any(map(context.is_new, columns))


def _to_the_end(scores: Floats, profits: Floats, context: PricingContext, *, early: bool = True) -> Subsets:
    """What a search finds and proves that looks at every rounding error from the beginning.

    ``early``: once it lasts, it ends as soon as it has found a cluster that improves.
    """
    return search(
        scores,
        profits,
        least=0.0,
        enough=_ENOUGH if early else None,
        wanted=context.tolerance,  # what improves by less is no column, and a reason to search on
        most=_ENOUGH if context.provisional else None,
        expired=context.expired,
    )


class ClusterILP(ClusterPricing):
    """Exact, for comparison: the source's integer linear program (its equation 7) in HiGHS.

    In a clustering there are no more clusters than items, which is what turns its bound into one on the clustering.
    """

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        contraction, scores, profits = self.priced(duals, context)
        if not len(profits):
            return PricingResult(bound=0.0, total=self.total(duals, context, 0.0))
        scale = max(power_of_two(scores), power_of_two(profits))  # HiGHS has tolerances for numbers near one
        cluster, solution = ilp_pricing(CoreferenceInstance(scores / scale), -profits / scale, context.seconds_left())
        bound = None if context.fixed or solution.bound == np.inf else max(scale * solution.bound, 0.0)
        total = self.total(duals, context, None if bound is None else bound * len(profits))
        cut_off = solution.status is not LPStatus.OPTIMAL and context.budget.expired
        members = np.zeros((1, len(profits)), dtype=np.bool_)
        members[0, list(cluster)] = True
        if not cluster or not contraction.allowed(members)[0]:
            return PricingResult((), bound, (), total, cut_off=cut_off)
        return PricingResult(contraction.columns(members), bound, [scale * solution.objective], total, cut_off=cut_off)
