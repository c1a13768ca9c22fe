"""The README's first program on random widths: how often it ends with a proof, and that the proof is right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from colgen import Column, Duals, OraclePricing, PricingContext, Problem, Termination, TimeLimit, artificial, solve
from problems.cutting_stock import CuttingStock, Instance
from solvers.knapsack import bounded_knapsack

INSTANCES = 200
"""At full size."""

_SECONDS = 30.0
"""Of each run."""

_ROLL, _MOST = 1000, 60

Pattern = NDArray[np.int64]


class Rolls(Problem[Any]):
    """Cutting stock as the README states it, with nothing but rows and an oracle."""

    objective_step = 1.0

    def __init__(self, roll: int, widths: Sequence[int], demands: Sequence[int]) -> None:
        self.roll, self.widths, self.demands = roll, widths, demands

    def master(self) -> pyo.ConcreteModel:
        m = pyo.ConcreteModel()
        m.item = pyo.RangeSet(0, len(self.widths) - 1)
        m.unmet = artificial(m.item)
        m.demand = pyo.Constraint(m.item, rule=lambda m, i: m.unmet[i] >= self.demands[i])
        m.rolls = pyo.Objective(expr=0, sense=pyo.minimize)
        return m

    def pricing(self) -> OraclePricing[Pattern]:
        return Knapsack(self)


class Knapsack(OraclePricing[Pattern]):
    """The pattern of largest dual value."""

    cost_bound = 1.0

    def best(self, duals: Duals, context: PricingContext) -> Pattern:
        p = self.problem
        return bounded_knapsack(duals["demand"], p.widths, p.demands, p.roll)[1]

    def encode(self, pattern: Pattern) -> Column:
        return Column(1.0, {("demand", i): n for i, n in enumerate(pattern.tolist()) if n}, pattern)


def draw(seed: int, number: int) -> Instance:
    """Return up to 60 widths from 60 to 399, and demands up to 3, 10 or 100."""
    rng = np.random.default_rng([seed, 20, number])
    count = int(rng.integers(5, _MOST + 1))
    widths = rng.choice(np.arange(60, 400), count, replace=False)
    demands = rng.integers(1, int(rng.choice([3, 10, 100])), count, endpoint=True)
    return Instance(_ROLL, widths.tolist(), demands.tolist())


def prove(seed: int, first: int, last: int) -> tuple[int, list[str]]:
    """Run the program on some instances.

    Returns
    -------
    solved
        How many runs ended with a proof.
    wrong
        A sentence for each proof that the template contradicts.
    """
    solved, wrong = 0, []
    for number in range(first, last):
        instance = draw(seed, number)
        result = solve(Rolls(instance.roll, instance.widths, instance.demands), stop=TimeLimit(_SECONDS))
        if result.termination is not Termination.OPTIMAL:
            continue
        solved += 1
        right = solve(CuttingStock(instance), stop=TimeLimit(_SECONDS))
        if right.is_optimal and right.objective != result.objective:
            wrong.append(f"twenty lines, seed {seed}, number {number}: {result.objective:g} for {right.objective:g}")
    return solved, wrong
