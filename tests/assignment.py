"""Generalized assignment, priced by enumeration, for tests of features around the engine."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyomo.environ as pyo

from colgen import (
    NO_STRUCTURE,
    Best,
    Column,
    Duals,
    OnOriginalVariable,
    OraclePricing,
    PricingContext,
    Problem,
    artificial,
)
from colgen.pricing.oracles import NoStructure


@dataclass
class Assignment(Problem):
    """min Σ c_js x_js  s.t.  Σ_js [t in s] x_js = 1 [π_t],  Σ_s x_js ≤ 1 [μ_j];  pricing: one knapsack per machine."""

    costs: np.ndarray  # (machines, tasks)
    sizes: np.ndarray
    capacities: np.ndarray
    objective_step: float | None = 1.0

    def master(self) -> pyo.ConcreteModel:
        m = pyo.ConcreteModel()
        machines, tasks = self.costs.shape
        m.task = pyo.RangeSet(0, tasks - 1)
        m.machine = pyo.RangeSet(0, machines - 1)
        m.undone = artificial(m.task)
        m.idle = pyo.Var(m.machine, domain=pyo.NonNegativeReals)
        m.assign = pyo.Constraint(m.task, rule=lambda m, t: m.undone[t] == 1)
        m.use = pyo.Constraint(m.machine, rule=lambda m, j: m.idle[j] == 1)
        m.cost = pyo.Objective(expr=0, sense=pyo.minimize)
        return m

    @cached_property
    def _oracles(self) -> list[OraclePricing]:
        return [Knapsack(self, machine) for machine in range(len(self.costs))]

    def pricing(self) -> Sequence[OraclePricing]:
        return self._oracles

    def branching(self) -> Sequence[OnOriginalVariable]:
        return [OnOriginalVariable(pairs)]


def pairs(column: Column) -> dict[tuple[int, int], float]:
    machine, tasks = column.structure
    return {(machine, task): 1.0 for task in tasks}


class Knapsack(OraclePricing):
    """Finds the best set of tasks for a machine, which may be empty."""

    multiplicity = 1.0

    def __init__(self, problem: Assignment, machine: int) -> None:
        super().__init__(problem)
        self.machine = machine

    @property
    def name(self) -> str:
        return f"Knapsack of machine {self.machine}"

    def sets(self) -> list[tuple[int, ...]]:
        return self._sets

    @cached_property
    def _sets(self) -> list[tuple[int, ...]]:
        sizes, capacity = self.problem.sizes[self.machine], self.problem.capacities[self.machine]
        tasks = range(len(sizes))
        every = itertools.chain.from_iterable(itertools.combinations(tasks, k) for k in range(len(sizes) + 1))
        return [s for s in every if sizes[list(s)].sum() <= capacity]

    def allowed(self, tasks: tuple[int, ...], context: PricingContext) -> bool:
        return context.allows(self.encode((self.machine, tasks)))

    def value(self, tasks: tuple[int, ...], duals: Duals, context: PricingContext) -> float:
        own = context.cost_weight * self.problem.costs[self.machine, list(tasks)].sum()
        rows = duals["assign"][list(tasks)].sum() + duals["use", self.machine]
        return float(own - rows - sum(duals.get(("branch", (self.machine, task))) for task in tasks))

    def best(self, duals: Duals, context: PricingContext) -> Best | NoStructure:
        found = [s for s in self.sets() if self.allowed(s, context)]
        if not found:
            return NO_STRUCTURE
        best = min(found, key=lambda s: self.value(s, duals, context))
        return Best((self.machine, best), self.value(best, duals, context))

    def encode(self, structure: tuple[int, tuple[int, ...]]) -> Column:
        machine, tasks = structure
        cost = float(self.problem.costs[machine, list(tasks)].sum())
        rows = {("assign", task): 1.0 for task in tasks}
        return Column(cost, {**rows, ("use", machine): 1.0}, structure)


def assignment(machines: int = 3, tasks: int = 6, seed: int = 1, kind: type[Assignment] = Assignment) -> Assignment:
    """Return a random instance with tight capacities."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 15, (machines, tasks))
    costs = rng.integers(10, 30, (machines, tasks)).astype(float)
    return kind(costs, sizes, np.full(machines, int(sizes.mean() * tasks / machines * 1.1)))
