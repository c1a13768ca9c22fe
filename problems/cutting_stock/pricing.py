"""The pricing problem of cutting stock: patterns of least reduced cost."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Columns, Duals, Pricing, PricingContext, PricingResult
from colgen.branching.rules import Bound
from colgen.core.budget import OutOfBudget
from colgen.core.terms import Count, PricedTerms
from colgen.core.tolerances import TOLERANCES
from colgen.pricing.oracles import PricedMarginals
from colgen.problems.cutting_stock.instance import Pattern, Stock
from colgen.problems.cutting_stock.layout import Full, PatternArcsForbidden, PatternLayout, as_arc
from colgen.problems.cutting_stock.rolls import RollKind
from colgen.solvers.packing.arc_values import arc_values, arc_work
from colgen.solvers.packing.counted_network import ChargedCounts, best_counted_packings
from colgen.solvers.packing.knapsack import NEVER, PackingNetwork, best_from, filled, packings_by_first_item, restricted

Floats = NDArray[np.float64]

_MUCH = 0.4
"""First threshold with cuts: this share of the most that packings earn beyond a roll without cuts."""

_WORK = 1e9
"""Elementary steps above which fixing arcs costs more than it saves; they take some seconds."""

ARC = "arc"
"""Block of the branching rows; their index is an arc ``(rank, position)``."""


class PatternOracle(Pricing):
    """Exact oracle for the patterns of one kind of roll: a bounded knapsack with many columns per call.

    For each item, the dynamic program yields the best pattern in which this item is the widest.  The improving ones
    among these patterns are the columns of the round, best first.  They all differ and together cover many rows, which
    saves rounds: a bin packing instance of 402 items takes 65 rounds instead of 300, and 1/3 of the time.

    Under rank-1 cuts, a labelling algorithm finds the best pattern and other improving ones
    (:mod:`colgen.solvers.packing.counted_network`).

    Parameters
    ----------
    kind
        The kind of roll; by default an unlimited one of the layout's width and cost 1.
    columns
        Maximum number of patterns per round.

    Attributes
    ----------
    fills
        Whether the node priced last allows only full rolls.
    overflowed
        Whether the number of labels ever exceeded its limit.  Further cuts would increase it.
    """

    prices = frozenset({Count})

    def __init__(self, layout: PatternLayout, kind: RollKind | None = None, columns: int | None = None) -> None:
        self.layout = layout
        self.kind = RollKind(0, Stock((layout.roll,), (1.0,)), int(layout.demands.sum())) if kind is None else kind
        self.cost_bound = self.kind.cost  # every pattern costs a roll, so Farley's bound holds
        self.multiplicity = self.kind.multiplicity
        self.columns = columns
        self._network: PackingNetwork | None = None
        self._situation: tuple[object, ...] | None = None
        self.fills = self.overflowed = False

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        charge = self.kind.charge(duals, context)
        if math.isinf(charge):
            return PricingResult(bound=math.inf)
        try:
            net = self.network(context)
            profits = self.profits(net, duals)
            values = best_from(net, profits, look=context.budget.require)
        except OutOfBudget:
            return PricingResult(cut_off=True)
        # A dive limits patterns to the demand that its fixed columns leave, so its bound proves nothing.
        proved = not context.fixed
        most = float(values[0, 0])
        if cuts := duals.terms(Count):
            try:
                earned, packings, most = self._counted(net, values, profits, cuts, charge, context)
            except OutOfBudget:
                return PricingResult(cut_off=True)
            if not len(earned):
                return PricingResult(bound=charge - most if proved else None)
        else:
            # A roll has at least one piece; the table does not contain the best pattern if all earn less than zero.
            threshold = min(charge, (1.0 - 1e-12) * most) if most > 0.0 else NEVER
            earned, packings = packings_by_first_item(net, values, profits, threshold)
            most = most if most > 0.0 else float(earned.max(initial=NEVER))
            if most <= 0.5 * NEVER:
                return PricingResult(bound=math.inf if proved else None)
        best = np.argsort(-earned, kind="stable")[: self.columns]
        improving = best[earned[best] > charge]
        chosen = improving if len(improving) else best[:1]

        def marginals() -> PricedMarginals | None:
            if arc_work(net) > _WORK:
                return None
            through = arc_values(net, values, profits, look=context.budget.require)
            arcs = np.arange(net.num_arcs) if net.origin is None else net.origin
            return PricedMarginals(np.where(through > NEVER, charge - through, math.inf), arcs)

        return PricingResult(
            self.batch(packings[chosen], duals),
            charge - most if proved else None,
            (charge - earned[chosen]).tolist(),
            marginals=marginals,
        )

    def _counted(
        self,
        net: PackingNetwork,
        values: Floats,
        profits: Floats,
        cuts: PricedTerms[Count],
        charge: float,
        context: PricingContext,
    ) -> tuple[Floats, NDArray[np.int64], float]:
        """Return the earnings of the best packings that pay for cuts, the packings, and an upper bound."""
        layout, most = self.layout, float(values[0, 0])
        terms = cuts.arrays(layout.rank_of_name)
        counts = ChargedCounts(*terms[:4], np.maximum(-terms.values, 0.0))
        # The threshold exceeds the charge: there may be very many full rolls that earn exactly the charge.
        enough = charge * (1.0 + TOLERANCES.pruning)
        # The search is fast with a high threshold if some packing exceeds it, so a high one is tried first.
        for asked in (charge + _MUCH * (most - charge), enough) if most > enough else (enough,):
            found = best_counted_packings(net, values, profits, counts, asked, look=context.budget.require)
            self.overflowed = self.overflowed or found.overflowed
            if len(found.profits):
                break
        return found.profits, found.packings, found.bound

    def batch(self, packings: NDArray[np.int64], duals: Duals) -> Columns:
        """Return the columns of packings.  Each row is a packing, with the number of pieces of each rank."""
        patterns, supply = self.layout.patterns(packings, self.kind.number), self.kind.rows(duals)
        rows, values, starts = duals.rows("demand")[patterns.items], patterns.copies, patterns.starts
        if len(supply):
            rows = np.insert(rows, starts[1:], supply[0])
            values, starts = np.insert(values, starts[1:], 1), starts + np.arange(len(starts))
        return Columns(np.full(len(patterns), self.kind.cost), starts, rows, values, patterns)

    def encode(self, pattern: Pattern) -> Column:
        """Return the column of a pattern."""
        entries = {("demand", item): float(copies) for item, copies in pattern}
        return Column(self.kind.cost, {**entries, **self.kind.coefficients()}, (self.kind.number, pattern))

    def network(self, context: PricingContext) -> PackingNetwork:
        """Return the network under the branching decisions and remaining demands; cached until these change."""
        situation = (context.decisions, context.fixed)
        if self._network is None or situation != self._situation:
            layout = self.layout
            net = layout.lay_network(context.budget.require)
            allowed = self._allowed_arcs(net, context)
            self.fills = any(isinstance(decision, Full) for decision in context.decisions)
            if allowed is not None or context.fixed:
                demands = layout.demands.copy()
                for column, value in context.fixed:
                    for item, copies in column.structure[1]:
                        demands[layout.rank_of_item[item]] -= int(value) * copies
                net = restricted(net, np.maximum(demands, 0), allowed)
            if self.fills:
                origin = net.origin
                net = filled(net, layout.roll)
                net = net if origin is None else net._replace(origin=origin[net.origin])
            self._network, self._situation = net, situation
        return self._network

    def _allowed_arcs(self, net: PackingNetwork, context: PricingContext) -> NDArray[np.bool_] | None:
        """Return a mask of the arcs that fit onto the roll and are allowed by the decisions; None if all are."""
        masks = [net.states[net.heads] <= self.kind.width] if self.kind.width < self.layout.roll else []
        closed = list[int]()
        for decision in context.decisions:
            if isinstance(decision, PatternArcsForbidden) and decision.kind in (None, self.kind.number):
                masks.append(decision.open_arcs)
            elif isinstance(decision, Bound) and decision.upper <= 0 and decision.key[0] == ARC:
                closed.append(net.arc(*as_arc(decision.key[1])))
        if not masks and not closed:
            return None
        allowed = np.ones(net.num_arcs, dtype=np.bool_)
        for mask in masks:
            allowed &= mask
        allowed[[arc for arc in closed if arc >= 0]] = False
        return allowed

    def profits(self, net: PackingNetwork, duals: Duals) -> NDArray[np.float64]:
        """Return the earnings of each arc: the dual values of its item's row and of its branching row."""
        demand = np.asarray(duals["demand"])[self.layout.item_of_rank]
        profits = net.spread(demand)
        for arc, dual in duals.items(ARC):
            k = net.arc(*as_arc(arc))
            if k >= 0:
                profits[k] += dual
        return profits
