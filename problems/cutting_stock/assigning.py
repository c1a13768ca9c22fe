"""Generalized assignment, a knapsack for each machine: what is measured of bounds over many pricing problems.

    min Σ_j Σ_s c_js x_js    subject to    Σ_j Σ_{s holds t} x_js = 1  [π_t],    Σ_s x_js ≤ 1  [μ_j],

where s runs over the sets of tasks that machine j can take.  The pricing problem of machine j is a knapsack,
min Σ_{t in s} (c_jt - π_t) - μ_j: the kernels of cutting stock solve it, and say what forcing a task in costs.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from colgen import (
    BranchingRule,
    Column,
    Duals,
    Marginals,
    OnOriginalVariable,
    Pricing,
    PricingContext,
    PricingResult,
    Problem,
    ReducedCostFixing,
    Reduction,
    artificial,
)
from solvers.packing.arc_values import arc_values
from solvers.packing.knapsack import best_from, best_packing, network

BLOCK = "takes"
"""Of the branching rows, whose index is ``(machine, task)``."""


@dataclass(frozen=True)
class Machines:
    """Costs and sizes of each task on each machine, shape (machines, tasks), and what each machine has room for."""

    costs: NDArray[np.float64]
    sizes: NDArray[np.int64]
    capacities: NDArray[np.int64]


def machines(num_machines: int, num_tasks: int, seed: int) -> Machines:
    """Random numbers in which large tasks are cheap: instances of type D of the literature (Chu and Beasley, 1997)."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 101, (num_machines, num_tasks))
    costs = (111 - sizes + random.integers(-10, 11, sizes.shape)).astype(np.float64)
    return Machines(costs, sizes, np.full(num_machines, round(0.8 * sizes.sum() / num_machines**2)))


class MachineOracle(Pricing):
    """The best set of tasks for one machine: a knapsack without copies."""

    multiplicity = 1.0

    def __init__(self, instance: Machines, machine: int) -> None:
        self.machine, self.costs = machine, instance.costs[machine]
        tasks = np.ones(len(self.costs), dtype=np.int64)
        self._network = network(instance.sizes[machine], tasks, int(instance.capacities[machine]))

    @property
    def name(self) -> str:
        return f"{type(self).__name__} {self.machine}"

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        gains = np.asarray(duals["assign"]) - context.cost_weight * self.costs
        for pair, dual in duals.items(BLOCK):
            machine, task = _as_pair(pair)
            if machine == self.machine:
                gains[task] += dual
        pairs = map(_as_pair, context.forbidden(BLOCK))
        barred = [task for machine, task in pairs if machine == self.machine]
        gains[barred] = -np.abs(gains).sum() - 1.0  # less than nothing, whatever else a set holds
        net, look = self._network, context.budget.require
        profits = net.spread(gains)
        values = best_from(net, profits, look=look)
        best, own = float(values[0, 0]), float(duals["use", self.machine])

        def marginals() -> Marginals:
            through = arc_values(net, values, profits, look=look)
            items = np.repeat(np.arange(net.num_items), np.diff(net.first_arc))
            worth = np.full(net.num_items, -math.inf)
            np.maximum.at(worth, items, through)
            worth[barred] = -math.inf
            return Marginals(-worth - own, [(self.machine, task) for task in range(net.num_items)])

        tasks = np.flatnonzero(best_packing(net, values, profits))
        columns = [self.encode(tasks)] if best > 0.0 else []
        return PricingResult(columns, -best - own, [-best - own] * len(columns), marginals=marginals)

    def encode(self, tasks: NDArray[np.int64]) -> Column:
        """The column of a set of tasks on this machine."""
        rows = {("assign", task): 1.0 for task in tasks.tolist()}
        rows["use", self.machine] = 1.0
        return Column(float(self.costs[tasks].sum()), rows, (self.machine, tuple(tasks.tolist())))


def _as_pair(variable: Hashable) -> tuple[int, int]:
    """An original variable as machine and task (to the engine it is a hashable)."""
    return cast(tuple[int, int], variable)


def takes(column: Column) -> Mapping[Hashable, float]:
    """Which machine takes which tasks in a column: the original variables."""
    machine, tasks = column.structure
    return {(machine, task): 1.0 for task in tasks}


class Assigning(Problem):
    """Generalized assignment; the answer is a list of ``((machine, tasks), 1.0)``."""

    objective_step = 1.0

    def __init__(self, instance: Machines) -> None:
        self.instance = instance
        self._oracles = [MachineOracle(instance, machine) for machine in range(len(instance.costs))]

    def master(self) -> pyo.ConcreteModel:
        m = pyo.ConcreteModel()
        num_machines, num_tasks = self.instance.costs.shape
        m.task = pyo.RangeSet(0, num_tasks - 1)
        m.machine = pyo.RangeSet(0, num_machines - 1)
        m.undone = artificial(m.task)
        m.idle = pyo.Var(m.machine, bounds=(0, 1))
        m.assign = pyo.Constraint(m.task, rule=lambda m, t: m.undone[t] == 1)
        m.use = pyo.Constraint(m.machine, rule=lambda m, j: m.idle[j] == 1)
        m.cost = pyo.Objective(expr=0, sense=pyo.minimize)
        return m

    def pricing(self) -> Sequence[MachineOracle]:
        return self._oracles

    def branching(self) -> Sequence[BranchingRule]:
        return (OnOriginalVariable(takes, block=BLOCK),)

    def reductions(self) -> Sequence[Reduction]:
        return (ReducedCostFixing(self._oracles, takes, BLOCK),)

    def check(self, answer: Sequence[tuple[tuple[int, tuple[int, ...]], float]]) -> float:
        done = sorted(task for (_, tasks), _ in answer for task in tasks)
        if done != list(range(self.instance.costs.shape[1])):
            raise ValueError("some task is not done exactly once")
        loads = np.zeros(len(self.instance.costs))
        for (machine, tasks), _ in answer:
            loads[machine] += self.instance.sizes[machine, list(tasks)].sum()
        if (loads > self.instance.capacities).any():
            raise ValueError(f"machine {int(np.argmax(loads - self.instance.capacities))} has not room for its tasks")
        return float(sum(self.instance.costs[machine, list(tasks)].sum() for (machine, tasks), _ in answer))
