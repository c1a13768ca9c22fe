"""Problems for tests of the conformance kit, and assertions about its report."""

import dataclasses
import itertools
import re

import numpy as np
import pyomo.environ as pyo

from colgen import (
    NO_STRUCTURE,
    Column,
    OraclePricing,
    Problem,
    Wentges,
    artificial,
)
from colgen.testing.conformance import Report, check_problem
from tests.assignment import Assignment, Knapsack, assignment

GENEROUS = 60.0
"""Seconds: the checks end by themselves long before, and find the same on a busy machine."""


def check(oracle: type[Knapsack] = Knapsack, kind: type[Assignment] = Assignment, seed: int = 1) -> Report:
    """Check an instance whose oracles are of this class."""

    class Checked(kind):
        def pricing(self):
            return [oracle(self, machine) for machine in range(len(self.costs))]

        def method(self):
            return dataclasses.replace(super().method(), stabilization=Wentges())

    return check_problem(assignment(2, 4, seed, Checked), seconds=GENEROUS)


def findings(report: Report, kind: str) -> list[str]:
    return [str(finding) for finding in report.findings if finding.kind == kind]


def assert_found(report: Report, kind: str, pattern: str) -> None:
    found = findings(report, kind)
    assert found, report
    assert any(re.search(pattern, message) for message in found), report


class Silent(Knapsack):
    """States no reduced costs, so only other columns can contradict it."""

    def best(self, duals, context):
        found = super().best(duals, context)
        return found if found is NO_STRUCTURE else found.structure


class CuttingStock(Problem):
    """As the design's first example: maximising the value of patterns would be another problem; here rolls count."""

    objective_step = 1.0

    def __init__(self, roll: int, widths: list[int], demands: list[int]) -> None:
        self.roll, self.widths, self.demands = roll, widths, demands

    def master(self):
        m = pyo.ConcreteModel()
        m.item = pyo.RangeSet(0, len(self.widths) - 1)
        m.unmet = artificial(m.item)
        m.demand = pyo.Constraint(m.item, rule=lambda m, i: m.unmet[i] >= self.demands[i])
        m.rolls = pyo.Objective(expr=0, sense=pyo.minimize)
        return m

    def pricing(self):
        return Patterns(self)


class Patterns(OraclePricing):
    cost_bound = 1.0

    def best(self, duals, context):
        problem = self.problem
        ranges = [range(problem.roll // width + 1) for width in problem.widths]
        fitting = [p for p in itertools.product(*ranges) if np.dot(p, problem.widths) <= problem.roll]
        return max(fitting, key=lambda p: self.value(p, duals))

    def value(self, pattern, duals):
        return float(np.dot(pattern, duals["demand"]))

    def encode(self, pattern):
        return Column(1.0, {("demand", i): float(n) for i, n in enumerate(pattern) if n}, pattern)


@dataclasses.dataclass
class Packing(Problem):
    """max Σ value(s) x_s  subject to  Σ_s [i in s] x_s ≤ 1 [π_i]: sets of at most two of n items, one oracle."""

    values: dict[tuple[int, ...], float]
    items: int

    def master(self):
        m = pyo.ConcreteModel()
        m.item = pyo.RangeSet(0, self.items - 1)
        m.unused = pyo.Var(m.item, domain=pyo.NonNegativeReals)
        m.once = pyo.Constraint(m.item, rule=lambda m, i: m.unused[i] == 1)
        m.value = pyo.Objective(expr=0, sense=pyo.maximize)
        return m

    def pricing(self):
        return Sets(self)


class Sets(OraclePricing):
    sign = -1.0

    def best(self, duals, context):
        return max(self.problem.values, key=lambda s: self.value(s, duals, context))

    def value(self, items, duals, context):
        return context.cost_weight * self.problem.values[items] + self.sign * duals["once"][list(items)].sum()

    def encode(self, items):
        return Column(self.problem.values[items], {("once", i): 1.0 for i in items}, items)


def packing(oracle: type[Sets] = Sets) -> Packing:
    rng = np.random.default_rng(5)
    sets = [s for k in (1, 2) for s in itertools.combinations(range(5), k)]

    class Checked(Packing):
        def pricing(self):
            return oracle(self)

    return Checked({s: float(rng.integers(1, 20)) for s in sets}, 5)
