r"""Cutting stock by few patterns: as few rolls as possible with at most K different patterns, each a set-up.

A column is a pattern p together with how many rolls n it is cut from, so that one column is one set-up:

    min Σ_n Σ_p n λ_np
    subject to  Σ_n Σ_p min(n a_ip, d_i) λ_np ≥ d_i   for each item i    [π_i ≥ 0]
                Σ_n Σ_p λ_np ≤ K                                         [σ ≤ 0]
                λ_np ≥ 0 integer,

with n up to the largest demand, and a_ip up to ⌈d_i / n⌉ (more copies add nothing).  The reduced cost is
n - σ - Σ_i π_i min(n a_ip, d_i): for each n a bounded knapsack in which the last piece of an item may earn less than
the others do.  An answer has at most K columns, which is their multiplicity in the Lagrangian bound.

Demands are met *at least*, as elsewhere in this template: with few patterns it can pay to cut too much of an item, so
that n a_ip may exceed d_i.  (Vanderbeck meets them exactly, with ⌊d_i / n⌋, and minimises the patterns for a given
number of rolls; here the limit is given and the rolls are minimised.)  What is limited is the number of different
patterns, in whatever order they are cut: *not* how many stacks of items are open at a time, which some call open
patterns as well.

Branching is on how many patterns are cut from t rolls or more, for each t, and then on arc flows: for each n those of
the patterns that n rolls are cut by, as for one width.

Source: F. Vanderbeck, *Exact algorithm for minimising the number of setups in the one-dimensional cutting stock
problem*, Operations Research 48 (2000).
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pyomo.environ as pyo

from colgen import (
    BranchingRule,
    Column,
    Diving,
    Method,
    Pricing,
    Problem,
    RestrictedMIP,
    Solution,
    artificial,
)
from colgen.core.budget import Budget, OutOfBudget
from colgen.core.columns import Codec
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.tolerances import TOLERANCES
from colgen.core.warm_start import WarmStart
from colgen.enumeration import Enumerated, Enumeration
from colgen.fixing import ReductionContext
from colgen.problems.cutting_stock.instance import Pattern
from colgen.problems.cutting_stock.parts import Order
from colgen.problems.cutting_stock.run_pricing import OnLongRuns, OnRunArcs, RunArcFixing, RunOracle, Runs
from colgen.problems.cutting_stock.setups import improved
from colgen.solvers.packing.knapsack import packings_above

_ROUNDS, _BUILDING, _SHARE = 400, 5.0, 0.1
"""Of building plans to start from: how often, for how many seconds, and for what share of those that there are."""


class FewPatterns(Problem[list[tuple[Pattern, int]]]):
    """Cutting stock with a limit on the number of patterns; the answer is a list of ``(pattern, rolls)``."""

    objective_step = 1.0

    def __init__(self, order: Order) -> None:
        if order.patterns is None:
            raise ValueError("an order with a limit on patterns is expected")
        self.instance = order
        self.most = order.patterns.patterns
        self.runs = Runs(order.instance)
        self.oracle = RunOracle(self.runs, self.most)

    def master(self) -> pyo.ConcreteModel:
        demands = self.instance.instance.demands
        m = pyo.ConcreteModel()
        m.item = pyo.RangeSet(0, len(demands) - 1)
        m.unmet = artificial(m.item)
        m.beyond = artificial()
        m.demand = pyo.Constraint(m.item, rule=lambda m, i: m.unmet[i] >= demands[i])
        m.setups = pyo.Constraint(expr=m.beyond <= self.most)
        m.rolls = pyo.Objective(expr=0, sense=pyo.minimize)
        return m

    def pricing(self) -> Pricing:
        return self.oracle

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
        instance = self.instance.instance
        duals: dict[Any, Any] = {"demand": [width / instance.roll for width in instance.widths]}
        started, seconds = time.monotonic(), min(_BUILDING, _SHARE * budget.seconds_left)
        plans = improved(instance, self.most, _ROUNDS, lambda: budget.expired or time.monotonic() - started > seconds)
        answers = tuple(self.solution(plan) for plan in plans)
        return WarmStart(duals, answers)

    def solution(self, plan: Iterable[tuple[Pattern, int]]) -> Solution:
        """A plan as a solution of the master."""
        most = max(self.instance.instance.demands)
        columns = tuple((self.runs.encode(self.runs.packed(min(n, most), pattern)), 1.0) for pattern, n in plan)
        return Solution(sum(column.cost for column, _ in columns), columns)

    def answer(self, solution: Solution) -> list[tuple[Pattern, int]]:
        plan: Counter[Pattern] = Counter()
        for column, value in solution.columns:
            plan[tuple(sorted(self.runs.pattern(column.structure)))] += column.structure[0] * round(value)
        widths = self.instance.instance.widths
        return [(tuple(sorted(p, key=lambda piece: (-widths[piece[0]], piece[0]))), n) for p, n in plan.items()]

    def check(self, answer: list[tuple[Pattern, int]]) -> float:
        try:
            return self.instance.check(answer)
        except ValueError as error:
            raise InfeasibleAnswerError(str(error)) from None

    def codec(self) -> Codec:
        return Codec(self._read, self._write)

    def _write(self, structure: Any) -> Any:
        return structure[0], self.runs.pattern(structure)

    def _read(self, data: Any) -> Column | None:
        rolls, pieces = data
        instance = self.instance.instance
        cut = tuple((int(item), int(copies)) for item, copies in pieces if 0 <= item < instance.num_items)
        if not cut or len(dict(cut)) < len(cut) or min(dict(cut).values()) < 1 or rolls < 1:
            return None
        if sum(instance.widths[item] * copies for item, copies in cut) > instance.roll:
            return None
        return self.runs.encode(self.runs.packed(min(int(rolls), max(instance.demands)), cut))


class RunEnumeration(Enumeration):
    """Patterns with their numbers of rolls, by reduced cost.

    With at most K columns of reduced cost β or more, the bound counts K min(0, β) for them: a column that costs more
    than the slack beyond min(0, β) is in no better answer.

    Parameters
    ----------
    limit
        At most so many columns.
    """

    seconds = 30.0

    def __init__(self, problem: FewPatterns, limit: int = 10_000) -> None:
        self.problem = problem
        self.limit = limit

    def enumerate(self, context: ReductionContext) -> Enumerated | None:
        told, runs, columns = context.pricing, self.problem.runs, list[Column]()
        try:
            priced = self.problem.oracle.priced(context.duals, told)
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
