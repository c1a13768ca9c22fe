r"""Cutting stock from rolls of several widths: each kind of roll is a pricing problem of its own.

    min Σ_k Σ_p c_k x_kp
    subject to  Σ_k Σ_p a_ip x_kp ≥ d_i   for each item i             [π_i ≥ 0]
                Σ_p x_kp ≤ s_k            for each limited kind k     [σ_k ≤ 0]
                x_kp ≥ 0 integer,

where the patterns p of kind k fit into its width C_k.  The reduced cost is c_k - σ_k - Σ_i π_i a_ip: a bounded knapsack
for each kind.  No column of kind k costs less than c_k, so that Farley's bound holds for any costs c_k > 0 with the
factor min_k c_k / (c_k - β_k); where a kind costs nothing its supply is its multiplicity.

Branching is on how many rolls of a kind are used, and then on the arc flows of all kinds together, as for one width:
see :class:`~colgen.problems.cutting_stock.roll_pricing.OnRollArcs` for why that is complete.

Sources: M. Monaci, *Algorithms for packing and scheduling problems*, Ph.D. thesis, Bologna (2002); G. Belov,
G. Scheithauer, *A cutting plane algorithm for the one-dimensional cutting stock problem with multiple stock lengths*,
European Journal of Operational Research 141 (2002); J. M. Valério de Carvalho, *LP models for bin packing and cutting
stock problems*, European Journal of Operational Research 141 (2002).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Sequence
from typing import Any

import pyomo.environ as pyo

from colgen import (
    BranchingRule,
    Column,
    Directional,
    Diving,
    Heuristic,
    HeuristicContext,
    Method,
    Pricing,
    Problem,
    Solution,
)
from colgen.core.budget import Budget, OutOfBudget
from colgen.core.columns import Codec
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.tolerances import TOLERANCES
from colgen.core.warm_start import WarmStart
from colgen.enumeration import Enumerated, Enumeration
from colgen.fixing import ReductionContext
from colgen.problems.cutting_stock import stock as kinds_of_rolls
from colgen.problems.cutting_stock.parts import Order, Use
from colgen.problems.cutting_stock.roll_pricing import OnRollArcs, RollArcFixing, RollLayout, RollOracle
from colgen.problems.cutting_stock.stock import OnRollsUsed, cheaper, greedy, material
from colgen.solvers.packing.knapsack import best_from, packings_above


class SeveralRolls(Problem[list[Use]]):
    """Cutting stock from several kinds of rolls; the answer is a list of ``(pattern, rolls, kind)``."""

    def __init__(self, order: Order) -> None:
        self.instance = order
        self.kinds = order.rolls.useful
        self.stock = order.rolls.only(self.kinds)
        self.objective_step = self.stock.step
        self.layout = RollLayout(order.instance)
        self.oracles = tuple(RollOracle(self.layout, self.stock, k) for k in range(len(self.kinds)))

    def master(self) -> pyo.ConcreteModel:
        return kinds_of_rolls.master(self.instance.instance.demands, self.stock)

    def pricing(self) -> Sequence[Pricing]:
        return self.oracles

    def method(self) -> Method:
        rounding = RollRounding(self)
        return Method(
            stabilization=Directional(0.3, beta=0.1),
            heuristics=(rounding, Diving(8, proper="demand", polish=rounding)),
            reductions=(RollArcFixing(self.layout, self.oracles),),
            enumeration=RollEnumeration(self),
        )

    def branching(self) -> Sequence[BranchingRule]:
        return (OnRollsUsed(), OnRollArcs(self.layout, self.oracles, self.stock))

    def warm_start(self, budget: Budget) -> WarmStart:
        with contextlib.suppress(OutOfBudget):
            self.layout.lay_network(budget.require)
        plan = self.completed([])
        return WarmStart(material(self.instance.instance, self.stock), () if plan is None else (self.solution(plan),))

    def completed(self, uses: Sequence[Use]) -> list[Use] | None:
        """A plan with what is still demanded filled into rolls greedily; None where there are not enough of them."""
        instance, left, used = self.instance.instance, list(self.instance.instance.demands), dict[int, int]()
        for pattern, rolls, kind in uses:
            used[kind] = used.get(kind, 0) + rolls
            for item, copies in pattern:
                left[item] -= copies * rolls
        rest = greedy(instance.widths, [max(n, 0) for n in left], self.stock, used=used)
        return None if rest is None else cheaper(instance.widths, [*uses, *rest], self.stock)

    def solution(self, uses: Iterable[Use]) -> Solution:
        """A plan as a solution of the master."""
        merged: dict[tuple[int, Any], int] = {}
        for pattern, rolls, kind in uses:
            merged[kind, pattern] = merged.get((kind, pattern), 0) + rolls
        columns = tuple((self.oracles[kind].encode(pattern), float(n)) for (kind, pattern), n in merged.items())
        return Solution(math.fsum(column.cost * n for column, n in columns), columns)

    def answer(self, solution: Solution) -> list[Use]:
        return [(column.structure[1], round(n), self.kinds[column.structure[0]]) for column, n in solution.columns]

    def check(self, answer: list[Use]) -> float:
        try:
            return self.instance.check(answer)
        except ValueError as error:
            raise InfeasibleAnswerError(str(error)) from None

    def codec(self) -> Codec:
        return Codec(self._read, self._write)

    def _write(self, structure: Any) -> Any:
        return self.kinds[structure[0]], structure[1]

    def _read(self, data: Any) -> Column | None:
        kind, pieces = data
        if kind not in self.kinds:
            return None
        instance, number = self.instance.instance, self.kinds.index(kind)
        cut = [(int(i), min(int(copies), instance.demands[i])) for i, copies in pieces if 0 <= i < instance.num_items]
        taken = sum(instance.widths[i] * copies for i, copies in cut)
        if not cut or len(dict(cut)) < len(cut) or taken > self.stock.widths[number] or min(dict(cut).values()) < 1:
            return None
        return self.oracles[number].encode(tuple(cut))


class RollRounding(Heuristic):
    """Round the patterns' values down, or up if nothing is cut in excess; fill rolls greedily with what is left."""

    quick = True
    every = 1

    def __init__(self, problem: SeveralRolls) -> None:
        self.problem = problem

    def search(self, context: HeuristicContext) -> Solution | None:
        used = sorted(context.relaxation.columns, key=lambda pair: -pair[1])
        plans = [plan for plan in (self._plan(used, up) for up in (False, True)) if plan is not None]
        if not plans:
            return None
        best = min(plans, key=lambda plan: kinds_of_rolls.cost(plan, self.problem.stock))
        return self.problem.solution(best)

    def _plan(self, used: Sequence[tuple[Column, float]], up: bool) -> list[Use] | None:
        left, rolls_left = list(self.problem.instance.instance.demands), list(self.problem.stock.limits)
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
        return self.problem.completed(uses)


class RollEnumeration(Enumeration):
    """Patterns of each kind by their reduced cost; each item is cut exactly as often as demanded.

    Parameters
    ----------
    limit
        At most so many patterns in all: programs over more of them are slower than the tree.
    """

    seconds = 5.0

    def __init__(self, problem: SeveralRolls, limit: int = 1_000) -> None:
        self.problem = problem
        self.limit = limit

    def enumerate(self, context: ReductionContext) -> Enumerated | None:
        try:
            return self._enumerate(context)
        except OutOfBudget:
            return None

    def _enumerate(self, context: ReductionContext) -> Enumerated | None:
        told, look = context.pricing, context.budget.require
        priced, theta = [], 1.0
        for oracle in self.problem.oracles:
            charge = oracle.kind.charge(context.duals, told)
            if math.isinf(charge):
                continue
            if not math.isinf(oracle.multiplicity):
                return None  # a bound that counts how often a kind is used leaves each of its columns more
            net = oracle.network(told)
            profits = oracle.profits(net, context.duals)
            values = best_from(net, profits, look=look)
            priced.append((oracle, charge, net, profits, values))
            beta = charge - float(values[0, 0])
            if beta < 0.0:  # Farley's factor, by which the bound has multiplied the dual values
                theta = min(theta, oracle.kind.cost / (oracle.kind.cost - beta))
        columns: list[Column] = []
        for oracle, charge, net, profits, values in priced:
            # θ (charge - earned) + (1 - θ) c_k ≤ slack for every pattern that a better plan can use.
            spare = context.slack + TOLERANCES.optimality * max(oracle.kind.cost, context.scale)
            least = charge + (1.0 - theta) / theta * oracle.kind.cost - spare / theta
            packings = packings_above(net, values, profits, least, self.limit - len(columns), look=look)
            if packings is None:
                return None
            columns += [oracle.encode(self.problem.layout.pattern(packing)) for packing in packings]
        demands = self.problem.instance.instance.demands
        return Enumerated(columns, {("demand", i): (float(d), float(d)) for i, d in enumerate(demands)})
