"""Several roll widths: patterns on each of them, laid out in one network of arcs, and decisions on arcs."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Columns, Decision, Duals, Pricing, PricingContext, PricingResult, Solution
from colgen.branching.rules import Bound
from colgen.core.budget import OutOfBudget
from colgen.fixing import ReducedCostFixing
from colgen.pricing.oracles import PricedMarginals
from colgen.problems.cutting_stock.branching import OnArcFlow
from colgen.problems.cutting_stock.instance import Pattern
from colgen.problems.cutting_stock.layout import PatternArcsForbidden, PatternLayout, as_arc
from colgen.problems.cutting_stock.parts import Stock
from colgen.problems.cutting_stock.pricing import ARC
from colgen.problems.cutting_stock.stock import RollKind, assigned
from colgen.solvers.packing.arc_values import arc_values, arc_work
from colgen.solvers.packing.knapsack import NEVER, PackingNetwork, best_from, packings_by_first_item, restricted

Rolled: TypeAlias = tuple[int, Pattern]
"""What a column stands for: a kind of roll, and the pattern that is cut from it."""

_WORK = 1e9
"""Elementary steps above which fixing arcs costs more than it saves: some seconds."""


class RollLayout(PatternLayout):
    """Patterns laid out from position 0 of whatever roll they are cut from: the arcs are those of the widest one."""

    def arcs(self, column: Column) -> Mapping[Hashable, float]:
        return self.arcs_of(column.structure[1])

    def _number(self, patterns: Sequence[Rolled]) -> None:  # type: ignore[override]
        fresh = dict.fromkeys(pattern for _, pattern in patterns if pattern not in self._numbers)
        super()._number(list(fresh))
        for rolled in patterns:
            self._numbers[rolled] = self._numbers[rolled[1]]  # type: ignore[index]


@dataclass(frozen=True, eq=False)
class RollArcsForbidden(PatternArcsForbidden):
    """The same as :class:`PatternArcsForbidden`, of patterns on one kind of roll."""

    kind: int = 0

    def allows(self, column: Column) -> bool:
        return column.structure[0] != self.kind or super().allows(column)

    def allows_each(self, columns: Columns) -> NDArray[np.bool_]:
        others = np.array([kind != self.kind for kind, _ in columns.structures], dtype=np.bool_)
        return others | super().allows_each(columns)


class RollOracle(Pricing):
    """Bounded knapsack on one kind of roll: exact, and the best pattern of each widest item.

    Patterns hold a piece: a roll from which nothing is cut is none.
    """

    def __init__(self, layout: RollLayout, stock: Stock, kind: int) -> None:
        self.layout = layout
        self.kind = RollKind(kind, stock, int(layout.demands.sum()))
        self.cost_bound = self.kind.cost
        self.multiplicity = self.kind.multiplicity
        self._network: PackingNetwork | None = None
        self._situation: tuple[object, ...] | None = None

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
        optimum = float(values[0, 0])
        # Where nothing is worth a piece the table does not say which piece is worth most.
        threshold = min(charge, (1.0 - 1e-12) * optimum) if optimum > 0.0 else NEVER
        earned, packings = packings_by_first_item(net, values, profits, threshold)
        best = float(earned.max(initial=NEVER))
        proved = not context.fixed  # while a dive has fixed columns, patterns are limited to what is still demanded
        if best <= 0.5 * NEVER:
            return PricingResult(bound=math.inf if proved else None)
        order = np.argsort(-earned, kind="stable")
        improving = order[earned[order] > charge]
        chosen = improving if len(improving) else order[:1]
        columns = self.batch(packings[chosen], duals)

        def marginals() -> PricedMarginals | None:
            if arc_work(net) > _WORK:
                return None
            through = arc_values(net, values, profits, look=context.budget.require)
            arcs = np.arange(net.num_arcs) if net.origin is None else net.origin
            return PricedMarginals(np.where(through > NEVER, charge - through, math.inf), arcs)

        return PricingResult(
            columns, charge - best if proved else None, (charge - earned[chosen]).tolist(), marginals=marginals
        )

    def batch(self, packings: NDArray[np.int64], duals: Duals) -> Columns:
        """The columns of packings, one a row, by rank."""
        patterns, besides = self.layout.patterns(packings), self.kind.rows(duals)
        rows, values = duals.rows("demand")[patterns.items], patterns.copies.astype(np.float64)
        starts = patterns.starts
        if len(besides):
            rows = np.insert(rows, starts[1:], besides[0])
            values, starts = np.insert(values, starts[1:], 1.0), starts + np.arange(len(starts))
        kind = self.kind.number
        return Columns(np.full(len(patterns), self.kind.cost), starts, rows, values, lambda k: (kind, patterns[int(k)]))

    def encode(self, pattern: Pattern) -> Column:
        """The column of a pattern on this kind of roll."""
        entries = {("demand", item): float(copies) for item, copies in pattern}
        return Column(self.kind.cost, {**entries, **self.kind.coefficients()}, (self.kind.number, pattern))

    def network(self, context: PricingContext) -> PackingNetwork:
        """The arcs that fit onto the roll and that the decisions leave, for the copies still demanded; kept."""
        situation = (context.decisions, context.fixed)
        if self._network is None or situation != self._situation:
            layout = self.layout
            net = layout.lay_network(context.budget.require)
            allowed = net.states[net.heads] <= self.kind.width
            for decision in context.decisions:
                if isinstance(decision, PatternArcsForbidden):
                    if not isinstance(decision, RollArcsForbidden) or decision.kind == self.kind.number:
                        allowed &= decision.open_arcs
                elif isinstance(decision, Bound) and decision.upper <= 0 and decision.key[0] == ARC:
                    arc = net.arc(*as_arc(decision.key[1]))
                    if arc >= 0:
                        allowed[arc] = False
            demands = layout.demands.copy()
            for column, value in context.fixed:
                for item, copies in column.structure[1]:
                    demands[layout.rank_of_item[item]] -= int(value) * copies
            self._network, self._situation = restricted(net, np.maximum(demands, 0), allowed), situation
        return self._network

    def profits(self, net: PackingNetwork, duals: Duals) -> NDArray[np.float64]:
        """What each arc earns: the dual of its item's row, and of its own branching row if it has one."""
        profits = net.spread(np.asarray(duals["demand"])[self.layout.item_of_rank])
        for arc, dual in duals.items(ARC):
            whole = self.layout.network.arc(*as_arc(arc))
            k = whole if net.origin is None else int(np.searchsorted(net.origin, whole))
            if 0 <= k < net.num_arcs and (net.origin is None or net.origin[k] == whole):
                profits[k] += dual
        return profits


class OnRollArcs(OnArcFlow):
    """Branch on arc flows of all kinds of rolls together.

    The arcs of a plan make paths from position 0, and so do whole arc flows, each of which ends where patterns of the
    relaxation do.  As many rolls as these use, whole numbers of each kind, hold the paths if they hold the patterns: a
    transportation problem with whole supplies and demands has a whole solution if it has any.
    """

    def __init__(self, layout: RollLayout, oracles: Sequence[RollOracle], stock: Stock) -> None:
        super().__init__(layout, oracles[0])  # type: ignore[arg-type]
        self._oracles, self._stock = oracles, stock

    def recover(self, solution: Solution) -> Solution | None:
        widths = dict(zip(self.layout.item_of_rank.tolist(), self.layout.widths.tolist(), strict=True))
        lengths = [
            (sum(widths[item] * copies for item, copies in pattern), pattern, rolls)
            for pattern, rolls in self.decomposed(solution).items()
        ]
        uses = assigned(lengths, solution, self._stock)
        if uses is None:
            return None
        columns = tuple((self._oracles[kind].encode(pattern), float(rolls)) for pattern, rolls, kind in uses)
        return Solution(sum(column.cost * rolls for column, rolls in columns), columns)


class RollArcFixing(ReducedCostFixing):
    """Forbids the arcs of each kind of roll that no better answer can use."""

    makes: Sequence[type[Decision]] = (RollArcsForbidden,)

    def __init__(self, layout: RollLayout, oracles: Sequence[RollOracle], share: float = 0.02) -> None:
        super().__init__(oracles, share=share, decide=self._arcs)
        self.layout = layout

    def _arcs(self, number: int, marginals: PricedMarginals, worse: NDArray[np.bool_]) -> Sequence[Decision]:
        allowed = np.zeros(self.layout.network.num_arcs, dtype=np.bool_)
        allowed[np.asarray(marginals.names)[~worse]] = True
        return (RollArcsForbidden(self.layout, allowed, exhaustive=False, kind=number),)
