"""The pricing problem of rolls with so many sums of widths that a network of them exceeds the memory."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from colgen import Duals, PricingContext, PricingResult
from colgen.branching.rules import Bound
from colgen.core.budget import OutOfBudget
from colgen.core.tolerances import TOLERANCES
from colgen.problems.cutting_stock.layout import as_arc
from colgen.problems.cutting_stock.pricing import ARC, PatternOracle
from colgen.solvers.packing.arc_values import NEVER
from colgen.solvers.packing.bounded import BoundedPackings, PaidArcs, bounded_packings


class WideRollOracle(PatternOracle):
    """Exact oracle for the patterns of one kind of roll, without a network.

    Patterns of widths that are rounded up to a grid are the columns of most rounds.  If they earn little, a dynamic
    program over all positions finds the best patterns (:mod:`colgen.solvers.packing.bounded`).  Dives use only patterns
    of rounded widths.
    """

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        layout = self.layout
        charge = self.kind.charge(duals, context)
        if math.isinf(charge):
            return PricingResult(bound=math.inf)
        demand = np.asarray(duals["demand"])[layout.item_of_rank]
        paid = {as_arc(arc): float(dual) for arc, dual in duals.items(ARC) if dual}
        try:
            # Rounding errors lift patterns of the master a little above the charge.
            found = self.packings(demand, paid, max(charge, 0.0) * (1.0 + TOLERANCES.pruning), context)
        except OutOfBudget:
            return PricingResult(cut_off=True)
        # A dive limits patterns to the demand that its fixed columns leave, so its bound proves nothing.
        bound = None if context.fixed else charge - max(found.bound, 0.0)
        best = np.argsort(-found.profits, kind="stable")[: self.columns]
        return PricingResult(self.batch(found.packings[best], duals), bound, (charge - found.profits[best]).tolist())

    def packings(
        self,
        profits: NDArray[np.float64],
        paid: dict[tuple[int, int], float],
        threshold: float,
        context: PricingContext,
    ) -> BoundedPackings:
        """Return packings above a threshold, under the decisions and the remaining demands.

        ``paid`` has what arcs earn besides the profit of their item.
        """
        layout = self.layout
        arcs = dict(paid)
        for decision in context.decisions:
            if isinstance(decision, Bound) and decision.upper <= 0 and decision.key[0] == ARC:
                arcs[as_arc(decision.key[1])] = NEVER
        demands = layout.demands.copy()
        for column, value in context.fixed:
            for item, copies in column.structure[1]:
                demands[layout.rank_of_item[item]] -= int(value) * copies
        return bounded_packings(
            profits,
            layout.widths,
            np.maximum(demands, 0),
            self.kind.width,
            threshold,
            PaidArcs([rank for rank, _ in arcs], [position for _, position in arcs], list(arcs.values())),
            rounded=bool(context.fixed),
            look=context.budget.require,
        )
