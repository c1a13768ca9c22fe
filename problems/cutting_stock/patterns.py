r"""Patterns on rolls of one width or several: each kind of roll is a pricing problem of its own.

    min Σ_k Σ_p c_k x_kp
    subject to  Σ_k Σ_p a_ip x_kp ≥ d_i   for each item i             [π_i ≥ 0]
                Σ_p x_kp ≤ s_k            for each limited kind k     [σ_k ≤ 0]
                x_kp ≥ 0 integer,

where the patterns p of kind k fit into its width C_k.  The reduced cost is c_k - σ_k - Σ_i π_i a_ip: a bounded knapsack
for each kind.  A column of kind k costs at least c_k, so Farley's bound holds with the factor min_k c_k / (c_k - β_k)
if all c_k > 0.  The multiplicity of a kind that costs nothing is its supply.

Branching is on the number of rolls of each kind, and then on the arc flows of all kinds together
(:class:`~colgen.problems.cutting_stock.branching.OnArcFlow`).

With one unlimited kind of cost 1 the model also uses an exact bound, full rolls with rank-1 cuts, and best-fit plans.

Sources: M. Monaci, *Algorithms for packing and scheduling problems*, Ph.D. thesis, Bologna (2002); G. Belov,
G. Scheithauer, *A cutting plane algorithm for the one-dimensional cutting stock problem with multiple stock lengths*,
European Journal of Operational Research 141 (2002); J. M. Valério de Carvalho, *LP models for bin packing and cutting
stock problems*, European Journal of Operational Research 141 (2002).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from colgen import (
    BranchingRule,
    Column,
    Directional,
    Diving,
    Heuristic,
    HeuristicContext,
    Method,
    Rows,
    Separation,
    Solution,
)
from colgen.branching.rules import Bound
from colgen.core.budget import Budget, OutOfBudget
from colgen.core.columns import Key
from colgen.core.terms import Count
from colgen.core.tolerances import TOLERANCES
from colgen.core.warm_start import WarmStart
from colgen.enumeration import Enumerated, Enumeration
from colgen.fixing import ReductionContext
from colgen.problems.cutting_stock.bound import round_exactly
from colgen.problems.cutting_stock.branching import OnArcFlow, PatternArcFixing
from colgen.problems.cutting_stock.columns import ColumnModel
from colgen.problems.cutting_stock.dual_feasible import material_duals
from colgen.problems.cutting_stock.exchanges import Exchange
from colgen.problems.cutting_stock.instance import CuttingStockInstance, Use
from colgen.problems.cutting_stock.layout import PatternLayout, as_arc
from colgen.problems.cutting_stock.model import master
from colgen.problems.cutting_stock.plans import (
    PartialPlan,
    best_fit_decreasing,
    cost,
    fill_greedily,
    move_to_cheapest,
)
from colgen.problems.cutting_stock.pricing import PatternOracle
from colgen.problems.cutting_stock.rolls import SUPPLY, OnRollsUsed, RollKind
from colgen.problems.cutting_stock.waste import DivingFirst, FullRollCuts, FullRolls
from colgen.problems.cutting_stock.wide_pricing import WideRollOracle
from colgen.solvers.packing.knapsack import best_from, packings_above

if TYPE_CHECKING:
    import pyomo.environ as pyo


class PatternModel(ColumnModel):
    """Columns are patterns on a kind of roll; their structure is ``(kind, pattern)``.

    ``plain`` is true for one unlimited kind of roll, of the instance's width and cost 1.
    """

    oracles: tuple[PatternOracle, ...]

    def __init__(self, instance: CuttingStockInstance, exchanges: tuple[Exchange, ...] = ()) -> None:
        super().__init__(instance)
        self.exchanges = exchanges
        self.demands = instance.demands
        stock = self.stock
        self.plain = (stock.widths, stock.costs, stock.limits) == ((instance.roll,), (1.0,), (math.inf,))
        self.layout = PatternLayout(instance)
        pieces = sum(instance.demands)
        oracle = PatternOracle if self.layout.tabulated else WideRollOracle
        self.oracles = tuple(oracle(self.layout, RollKind(k, stock, pieces)) for k in range(len(self.kinds)))

    def master(self) -> pyo.ConcreteModel | Rows:
        return master(self.instance, self.exchanges) if self.plain else super().master()

    def branching(self) -> Sequence[BranchingRule]:
        flows = OnArcFlow(self.layout, self.oracles)
        return (OnRollsUsed(), flows) if len(self.kinds) > 1 else (flows,)

    def separation(self) -> Sequence[Separation]:
        return (FullRollCuts(self.oracles[0]),) if self.plain and self.layout.tabulated else ()

    def method(self) -> Method:
        rounding, fixing = PlanRounding(self), PatternArcFixing(self.layout, self.oracles)
        dive = Diving(8, proper="demand", polish=rounding)
        general = Method(
            # Rounds with many patterns need little smoothing, so it is light and constant.  A small subgradient term
            # (demands minus production) saves 1/3 of the rounds.
            stabilization=Directional(0.3, beta=0.1),
            heuristics=(rounding, dive),
            reductions=(fixing,),
            enumeration=PatternEnumeration(self),
        )
        exact = partial(round_exactly, self.oracles[0]) if self.plain else None
        if not self.layout.tabulated:
            return replace(general, reductions=(), enumeration=(), rounding=exact)
        if not self.plain:
            return general
        return replace(
            general,
            heuristics=(rounding, DivingFirst(self.layout, 8, rounding), dive),
            reductions=(FullRolls(self.layout), fixing),
            rounding=exact,
        )

    def warm_start(self, budget: Budget) -> WarmStart:
        with contextlib.suppress(OutOfBudget):
            if self.layout.tabulated:
                self.layout.lay_network(budget.require)
        # The duals are the share of a roll that an item takes, or a dual-feasible function of it.  Pricing them proves
        # at least the material bound.
        items, supplies = material_duals(self.instance, self.stock)
        duals: dict[Any, Any] = {"demand": items, **{(SUPPLY, kind): dual for kind, dual in supplies.items()}}
        plan = self._fill([], self.instance.demands)  # first-fit decreasing if there is one kind
        return WarmStart(duals, () if plan is None else (self.solution(plan),))

    def complete(self, uses: Sequence[Use], left: Sequence[int]) -> list[Use] | None:
        """Return the plan with the remaining pieces cut from further rolls; None if the supplies do not suffice."""
        if not self.plain:
            return self._fill(uses, left)
        return [*uses, *((pattern, rolls, 0) for pattern, rolls in best_fit_decreasing(self.instance, left))]

    def _fill(self, uses: Sequence[Use], left: Sequence[int]) -> list[Use] | None:
        widths, used = self.instance.widths, dict[int, int]()
        for _, rolls, kind in uses:
            used[kind] = used.get(kind, 0) + rolls
        rest = fill_greedily(widths, left, self.stock, used=used)
        return None if rest is None else move_to_cheapest(widths, [*uses, *rest], self.stock)

    def solution(self, uses: Iterable[Use]) -> Solution:
        merged: dict[tuple[int, Any], int] = {}
        for pattern, rolls, kind in uses:
            merged[kind, pattern] = merged.get((kind, pattern), 0) + rolls
        columns = tuple((self.oracles[kind].encode(pattern), float(n)) for (kind, pattern), n in merged.items())
        return Solution(math.fsum(column.cost * n for column, n in columns), columns)

    def uses(self, solution: Solution) -> list[Use]:
        return [(column.structure[1], round(n), self.kinds[column.structure[0]]) for column, n in solution.columns]

    def as_data(self, structure: Any) -> Any:
        kind, pattern = structure
        return self.kinds[kind], pattern

    def column_of(self, written: Any) -> Column | None:
        kind, pieces = written
        if kind not in self.kinds:
            return None
        instance, number = self.instance, self.kinds.index(kind)
        # The column may come from an instance with larger demands.
        cut = [(int(i), min(int(copies), instance.demands[i])) for i, copies in pieces if 0 <= i < instance.num_items]
        taken = sum(instance.widths[i] * copies for i, copies in cut)
        if not cut or len(dict(cut)) < len(cut) or taken > self.stock.widths[number] or min(dict(cut).values()) < 1:
            return None
        return self.oracles[number].encode(tuple(cut))


class PlanRounding(Heuristic):
    """Round the values of patterns down, or up without overproduction; then complete the plan."""

    quick = True
    every = 1

    def __init__(self, model: PatternModel) -> None:
        self.model = model

    def search(self, context: HeuristicContext) -> Solution | None:
        used = sorted(context.relaxation.columns, key=lambda pair: -pair[1])
        plans = [plan for plan in (self._plan(used, up) for up in (False, True)) if plan is not None]
        best = min(plans, key=lambda plan: cost(plan, self.model.stock), default=None)
        return None if best is None else self.model.solution(best)

    def _plan(self, used: Sequence[tuple[Column, float]], up: bool) -> list[Use] | None:
        left, rolls_left = list(self.model.instance.demands), list(self.model.stock.limits)
        uses: list[Use] = []
        for column, value in used:
            kind, pattern = column.structure
            wanted = math.ceil(value - TOLERANCES.integrality) if up else math.floor(value + TOLERANCES.integrality)
            rolls = int(min([wanted, rolls_left[kind], *(left[item] // copies for item, copies in pattern)]))
            if rolls > 0:
                uses.append((pattern, rolls, kind))
                rolls_left[kind] -= rolls
                for item, copies in pattern:
                    left[item] -= copies * rolls
        return self.model.complete(uses, left)


class PatternEnumeration(Enumeration):
    """Enumerate the patterns of each kind of roll by reduced cost.

    Some optimal plan cuts every item exactly as often as demanded, so the rows become equations.  With rolls of one
    width, the narrowest items are left out if they earn nothing: they fit nearly anywhere and multiply the patterns.
    This is a relaxation, because a plan remains one without them.  :meth:`complete` adds them to the waste of a plan.
    """

    def __init__(self, model: PatternModel, limit: int | None = None) -> None:
        self.model = model
        # With several kinds of rolls, programs with more than 1,000 patterns are slower than the tree.
        self.limit = limit if limit is not None else 10_000 if model.plain else 1_000
        self.seconds = 30.0 if model.plain else 5.0

    def enumerate(self, context: ReductionContext) -> Enumerated | None:
        try:
            return self._enumerate(context)
        except OutOfBudget:
            return None

    def _enumerate(self, context: ReductionContext) -> Enumerated | None:
        layout, look = self.model.layout, context.budget.require
        priced, theta = [], 1.0
        for oracle in self.model.oracles:
            charge = oracle.kind.charge(context.duals, context.pricing)
            if math.isinf(charge):
                continue
            if not math.isinf(oracle.multiplicity):
                return None  # if a bound uses the multiplicity of a kind, too many of its columns remain
            net = oracle.network(context.pricing)
            profits = oracle.profits(net, context.duals)
            priced.append((oracle, charge, net, profits))
            most = float(best_from(net, profits, look=look)[0, 0])
            # Patterns that pay for cuts earn less than the table states, by an unknown amount.  Then θ stays 1, and all
            # patterns that earn nearly their charge are listed.
            if most > charge and not context.duals.terms(Count):
                theta = min(theta, oracle.kind.cost / (oracle.kind.cost + most - charge))
        core = self._core(context) if self.model.plain else len(layout.widths)
        columns: list[Column] = []
        for oracle, charge, net, profits in priced:
            least = oracle.kind.least_earnings(charge, theta, context)
            narrowed = net.first_items(core)
            earning = profits[: narrowed.num_arcs]
            values = best_from(narrowed, earning, look=look)
            packings = packings_above(narrowed, values, earning, least, self.limit - len(columns), look=look)
            if packings is None:
                return None
            columns += [oracle.encode(layout.pattern(packing)) for packing in packings]
        sides: dict[Key, tuple[float, float]] = {}
        for rank, item in enumerate(layout.item_of_rank.tolist()):
            demand = float(layout.demands[rank])
            sides["demand", item] = (demand, demand) if rank < core else (-math.inf, math.inf)
        return Enumerated(columns, sides)

    def _core(self, context: ReductionContext) -> int:
        """Return the number of items, widest first, that the enumeration keeps; the narrower ones are omitted."""
        layout = self.model.layout
        # Even a roll full of omitted items must earn less than the tolerance of reduced costs.
        worth = np.asarray(context.duals["demand"])[layout.item_of_rank]
        earning = np.flatnonzero(worth > TOLERANCES.reduced_cost / layout.roll)
        # Items with a branching row are kept: the row may demand their pieces, and its dual value may pay for them.
        bounded = [as_arc(d.key[1])[0] for d in context.decisions if isinstance(d, Bound) and d.row() is not None]
        return max([int(earning.max(initial=-1)), *bounded]) + 1

    def complete(self, solution: Solution) -> Solution | None:
        """Add omitted items where they fit best, or in new rolls."""
        instance = self.model.instance
        left = list(instance.demands)
        plan = PartialPlan(instance)
        for column, value in solution.columns:
            _, pattern = column.structure
            plan.put(dict(pattern), round(value))
            for item, copies in pattern:
                left[item] -= copies * round(value)
        if not any(left):
            return solution
        for item in sorted(range(len(left)), key=lambda i: -instance.widths[i]):
            plan.fit(item, left[item])
        return self.model.solution((pattern, rolls, 0) for pattern, rolls in plan.patterns())
