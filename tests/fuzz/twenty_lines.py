"""Fuzz the README's program of twenty lines on random widths, compared with the template."""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np
import pyomo.environ as pyo

from colgen import Column, Duals, OraclePricing, PricingContext, Problem, TimeLimit, artificial, solve
from colgen.problems.cutting_stock import CuttingStock as Template
from colgen.problems.cutting_stock import CuttingStockInstance
from colgen.solvers.knapsack import bounded_knapsack
from tests.fuzz.judging import Outcome

SECONDS = 30.0
"""Time limit per instance."""

_ROLL, _WIDTHS, _LEAST, _MOST = 1000, range(60, 400), 2, 60
_DEMANDS = (3, 10, 100)


class CuttingStock(Problem):
    """As in the README."""

    objective_step = 1

    def __init__(self, roll: int, widths: list[int], demands: list[int]) -> None:
        self.roll, self.widths, self.demands = roll, widths, demands

    def master(self) -> pyo.ConcreteModel:
        m = pyo.ConcreteModel()
        m.item = pyo.RangeSet(0, len(self.widths) - 1)
        m.unmet = artificial(m.item)
        m.demand = pyo.Constraint(m.item, rule=lambda m, i: m.unmet[i] >= self.demands[i])
        m.rolls = pyo.Objective(expr=0, sense=pyo.minimize)
        return m

    def pricing(self) -> Knapsack:
        return Knapsack(self)


class Knapsack(OraclePricing):
    """As in the README."""

    cost_bound = 1.0

    def best(self, duals: Duals, context: PricingContext) -> np.ndarray:
        p = self.problem
        return bounded_knapsack(duals["demand"], p.widths, p.demands, p.roll)[1]

    def encode(self, pattern: np.ndarray) -> Column:
        return Column(1.0, {("demand", i): n for i, n in enumerate(pattern.tolist()) if n}, pattern)


def run_programs(numbers: Iterable[int], seed: int, seconds: float) -> Outcome:
    """Solve the instances of these numbers; start none after ``seconds``."""
    outcome, ends = Outcome(), time.monotonic() + seconds
    for number in numbers:
        if time.monotonic() >= ends:
            break
        widths, demands = draw_instance(number, seed)
        program = solve(CuttingStock(_ROLL, widths, demands), stop=TimeLimit(SECONDS))
        template = solve(Template(CuttingStockInstance(_ROLL, tuple(widths), tuple(demands))), stop=TimeLimit(SECONDS))
        outcome.tried += 1
        outcome.proved += program.is_optimal
        if program.dual_bound > template.objective or program.objective < template.dual_bound:
            outcome.wrong.append(
                f"twenty lines, seed {seed}, instance {number}: objective {program.objective:g} and bound "
                f"{program.dual_bound:g}, by the template {template.objective:g} and {template.dual_bound:g}"
            )
    return outcome


def draw_instance(number: int, seed: int) -> tuple[list[int], list[int]]:
    """Draw widths and demands: 2 to 60 widths, and demands up to 3, 10 or 100."""
    rng = np.random.default_rng([seed, 20, number])
    count = int(rng.integers(_LEAST, _MOST + 1))
    widths = rng.choice(np.array(_WIDTHS), count, replace=False)
    demands = rng.integers(1, _DEMANDS[number % len(_DEMANDS)] + 1, count)
    return widths.tolist(), demands.tolist()
