r"""Patterns on rolls of one width or several: each kind of roll is a pricing problem of its own.

    min Σ_k Σ_p c_k x_kp
    subject to  Σ_k Σ_p a_ip x_kp ≥ d_i   for each item i             [π_i ≥ 0]
                Σ_p x_kp ≤ s_k            for each limited kind k     [σ_k ≤ 0]
                x_kp ≥ 0 integer,

where the patterns p of kind k fit into its width C_k.  The reduced cost is c_k - σ_k - Σ_i π_i a_ip: a bounded knapsack
for each kind.  No column of kind k costs less than c_k, so that Farley's bound holds for any costs c_k > 0 with the
factor min_k c_k / (c_k - β_k); where a kind costs nothing its supply is its multiplicity.

Branching is on how many rolls of a kind are used, and then on the arc flows of all kinds together
(:class:`~colgen.problems.cutting_stock.branching.OnArcFlow`).

Where there is one kind, unlimited and of cost 1, more is known, and used: an exact bound, full rolls and rank-1 cuts
over them, and plans by best fit.

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
from colgen.solvers.packing.knapsack import best_from, packings_above

if TYPE_CHECKING:
    import pyomo.environ as pyo


class PatternModel(ColumnModel):
    """Columns are patterns on a kind of roll; their structure is ``(kind, pattern)``.

    Attributes
    ----------
    plain
        Whether there is one kind of roll, as wide as the instance's, unlimited and of cost 1.
    exchanges
        Dual-optimal inequalities.
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
        self.oracles = tuple(PatternOracle(self.layout, RollKind(k, stock, pieces)) for k in range(len(self.kinds)))

    def master(self) -> pyo.ConcreteModel | Rows:
        return master(self.instance, self.exchanges) if self.plain else super().master()

    def branching(self) -> Sequence[BranchingRule]:
        flows = OnArcFlow(self.layout, self.oracles)
        return (OnRollsUsed(), flows) if len(self.kinds) > 1 else (flows,)

    def separation(self) -> Sequence[Separation]:
        return (FullRollCuts(self.oracles[0]),) if self.plain else ()

    def method(self) -> Method:
        rounding, fixing = PlanRounding(self), PatternArcFixing(self.layout, self.oracles)
        dive = Diving(8, proper="demand", polish=rounding)
        general = Method(
            # Many patterns per round leave little to smooth, so lightly and by a constant; a little of the subgradient,
            # which is what the patterns lack of the demands, saves a third of the rounds.
            stabilization=Directional(0.3, beta=0.1),
            heuristics=(rounding, dive),
            reductions=(fixing,),
            enumeration=PatternEnumeration(self),
        )
        if not self.plain:
            return general
        return replace(
            general,
            heuristics=(rounding, DivingFirst(self.layout, 8, rounding), dive),
            reductions=(FullRolls(self.layout), fixing),
            rounding=partial(round_exactly, self.oracles[0]),
        )

    def warm_start(self, budget: Budget) -> WarmStart:
        # The network that pricing needs is laid out, or refused, before any other work.
        with contextlib.suppress(OutOfBudget):
            self.layout.lay_network(budget.require)
        # An item is worth about the share of a roll that it takes, or what a dual-feasible function makes of that:
        # priced, it proves the material bound or a better one.
        items, supplies = material_duals(self.instance, self.stock)
        duals: dict[Any, Any] = {"demand": items, **{(SUPPLY, kind): dual for kind, dual in supplies.items()}}
        plan = self._fill([], self.instance.demands)  # first fit decreasing, where there is one kind
        return WarmStart(duals, () if plan is None else (self.solution(plan),))

    def complete(self, uses: Sequence[Use], left: Sequence[int]) -> list[Use] | None:
        """A plan with the pieces that are left cut from further rolls; None where there are not enough of them."""
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

    def written(self, structure: Any) -> Any:
        kind, pattern = structure
        return self.kinds[kind], pattern

    def column_of(self, written: Any) -> Column | None:
        kind, pieces = written
        if kind not in self.kinds:
            return None
        instance, number = self.instance, self.kinds.index(kind)
        # No more copies than are demanded today.
        cut = [(int(i), min(int(copies), instance.demands[i])) for i, copies in pieces if 0 <= i < instance.num_items]
        taken = sum(instance.widths[i] * copies for i, copies in cut)
        if not cut or len(dict(cut)) < len(cut) or taken > self.stock.widths[number] or min(dict(cut).values()) < 1:
            return None
        return self.oracles[number].encode(tuple(cut))


class PlanRounding(Heuristic):
    """Round the patterns' values down, or up if nothing is cut in excess; complete the plan."""

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
    """Patterns of each kind of roll by their slack.

    Every item is cut exactly as often as demanded: some best plan does, so the rows become equations.  With rolls of
    one width, the narrowest items are left out where they earn nothing: they fit nearly anywhere and multiply the
    patterns.  That is a relaxation (if even the others do not fit, nothing does); the items that are left out are put
    into the waste of a plan afterwards.

    Parameters
    ----------
    limit
        At most so many patterns.  With several kinds of rolls, programs over more than 1,000 are slower than the tree.
    """

    def __init__(self, model: PatternModel, limit: int | None = None) -> None:
        self.model = model
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
                return None  # a bound that counts how often a kind is used leaves each of its columns more
            net = oracle.network(context.pricing)
            profits = oracle.profits(net, context.duals)
            priced.append((oracle, charge, net, profits))
            most = float(best_from(net, profits, look=look)[0, 0])
            # Patterns that pay for cuts earn less than the table says, by an unknown amount: all that earn a roll or
            # nearly are listed then.
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
        """The number of the widest items that are not left out."""
        layout = self.model.layout
        # Even a roll full of items that are left out must earn less than the tolerance of reduced costs.
        worth = np.asarray(context.duals["demand"])[layout.item_of_rank]
        earning = np.flatnonzero(worth > TOLERANCES.reduced_cost / layout.roll)
        # Items with a branching row stay: the row may demand their pieces, and its dual may pay for them.
        bounded = [as_arc(d.key[1])[0] for d in context.decisions if isinstance(d, Bound) and d.row() is not None]
        return max([int(earning.max(initial=-1)), *bounded]) + 1

    def complete(self, solution: Solution) -> Solution | None:
        """Put the items that were left out where they fit best, in new rolls if nowhere else."""
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
