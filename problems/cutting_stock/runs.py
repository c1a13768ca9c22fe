r"""Patterns with their numbers of rolls: as few rolls as possible with at most K different patterns, each a set-up.

A column is a pattern p with the number n of rolls cut by it, so one column is one set-up:

    min Σ_n Σ_p n λ_np
    subject to  Σ_n Σ_p min(n a_ip, d_i) λ_np ≥ d_i   for each item i    [π_i ≥ 0]
                Σ_n Σ_p λ_np ≤ K                                         [σ ≤ 0]
                λ_np ≥ 0 integer,

with n up to the largest demand and a_ip up to ⌈d_i / n⌉ (more copies add nothing).  The reduced cost is
n - σ - Σ_i π_i min(n a_ip, d_i): for each n a bounded knapsack in which the last piece of an item may earn less than
the others.  A feasible solution has at most K columns, which is their multiplicity in the Lagrangian bound.

Demands are met *at least*, as everywhere in this template.  With few patterns overproduction can pay, so n a_ip may
exceed d_i.  (Vanderbeck meets demands exactly, with ⌊d_i / n⌋, and minimises the patterns for a given number of rolls.
Here the number of patterns is limited and the rolls are minimised.)  The limit is on different patterns in any order.
It is *not* a limit on stacks of items that are open at a time, which are also called open patterns.

Branching is on the number of patterns cut from at least t rolls, for each t, and then on the arc flows of the patterns
cut from n rolls, for each n.

Source: F. Vanderbeck, *Exact algorithm for minimising the number of setups in the one-dimensional cutting stock
problem*, Operations Research 48 (2000).
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from colgen import BranchingRule, Column, Diving, Method, RestrictedMIP, Solution
from colgen.core.budget import Budget, OutOfBudget
from colgen.core.tolerances import TOLERANCES
from colgen.core.warm_start import WarmStart
from colgen.enumeration import Enumerated, Enumeration
from colgen.fixing import ReductionContext
from colgen.problems.cutting_stock.columns import ColumnModel
from colgen.problems.cutting_stock.instance import CuttingStockInstance, Pattern, Use
from colgen.problems.cutting_stock.run_pricing import OnLongRuns, OnRunArcs, RunArcFixing, RunOracle, Runs
from colgen.problems.cutting_stock.setups import improve_plans
from colgen.solvers.packing.knapsack import packings_above

_ROUNDS, _BUILDING, _SHARE = 400, 5.0, 0.1
"""Limits for building first plans: rounds, seconds, and the share of the remaining seconds."""


class RunModel(ColumnModel):
    """Columns are patterns with a number of rolls; their structure is ``(rolls, places)``."""

    def __init__(self, instance: CuttingStockInstance) -> None:
        super().__init__(instance)
        if instance.patterns is None:
            raise ValueError("the instance has no limit on patterns; use PatternModel or PieceModel instead")
        self.demands = instance.demands
        self.most = instance.patterns
        self.runs = Runs(instance)
        self.oracle = RunOracle(self.runs, self.most)
        self.oracles = (self.oracle,)

    def branching(self) -> Sequence[BranchingRule]:
        return (OnLongRuns(), OnRunArcs(self.runs))

    def method(self) -> Method:
        return Method(
            heuristics=(Diving(2, seconds=5.0), RestrictedMIP(10.0)),
            reductions=(RunArcFixing(self.runs, self.oracle),),
            enumeration=RunEnumeration(self),
        )

    def warm_start(self, budget: Budget) -> WarmStart:
        with contextlib.suppress(OutOfBudget):
            self.runs.networks(budget.require)
        instance = self.instance
        duals: dict[Any, Any] = {"demand": [width / instance.roll for width in instance.widths]}
        building = budget.cap(min(_BUILDING, _SHARE * budget.seconds_left))
        plans = improve_plans(instance, self.most, _ROUNDS, lambda: building.expired)
        return WarmStart(duals, tuple(self.solution((pattern, n, 0) for pattern, n in plan) for plan in plans))

    def solution(self, uses: Iterable[Use]) -> Solution:
        most = max(self.instance.demands)
        columns = tuple((self.runs.encode(self.runs.pack(min(n, most), pattern)), 1.0) for pattern, n, _ in uses)
        return Solution(sum(column.cost for column, _ in columns), columns)

    def uses(self, solution: Solution) -> list[Use]:
        plan: Counter[Pattern] = Counter()
        for column, value in solution.columns:
            plan[tuple(sorted(self.runs.pattern(column.structure)))] += column.structure[0] * round(value)
        widths = self.instance.widths
        return [(tuple(sorted(p, key=lambda piece: (-widths[piece[0]], piece[0]))), n, 0) for p, n in plan.items()]

    def as_data(self, structure: Any) -> Any:
        return structure[0], self.runs.pattern(structure)

    def column_of(self, written: Any) -> Column | None:
        rolls, pieces = written
        instance = self.instance
        cut = tuple((int(item), int(copies)) for item, copies in pieces if 0 <= item < instance.num_items)
        if not cut or len(dict(cut)) < len(cut) or min(dict(cut).values()) < 1 or rolls < 1:
            return None
        if sum(instance.widths[item] * copies for item, copies in cut) > instance.roll:
            return None
        return self.runs.encode(self.runs.pack(min(int(rolls), max(instance.demands)), cut))


class RunEnumeration(Enumeration):
    """Enumerate patterns with their numbers of rolls by reduced cost.

    For at most K columns of reduced cost ≥ β the bound counts K min(0, β).  A column whose reduced cost exceeds the
    slack plus min(0, β) is in no better solution.
    """

    seconds = 30.0

    def __init__(self, model: RunModel, limit: int = 10_000) -> None:
        self.model = model
        self.limit = limit

    def enumerate(self, context: ReductionContext) -> Enumerated | None:
        runs, columns = self.model.runs, list[Column]()
        try:
            priced = self.model.oracle.price_networks(context.duals, context.pricing)
            best = min((each.charge - float(each.values[0, 0]) for each in priced), default=0.0)
            spare = context.slack + min(best, 0.0) + TOLERANCES.optimality * max(1.0, context.scale)
            for each in priced:
                packings = packings_above(
                    each.net,
                    each.values,
                    each.profits,
                    each.charge - spare,
                    self.limit - len(columns),
                    look=context.budget.require,
                )
                if packings is None:
                    return None
                for packing in packings:
                    places = packing.nonzero()[0]
                    pieces = tuple(zip(places.tolist(), packing[places].tolist(), strict=True))
                    columns.append(runs.encode((each.run.rolls, pieces)))
        except OutOfBudget:
            return None
        return Enumerated(columns)
