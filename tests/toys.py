"""Small test problems with explicit lists of columns, so that the complete program can be solved for comparison."""

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyomo.environ as pyo
from scipy import optimize, sparse

from colgen import (
    Best,
    Column,
    Method,
    OnOriginalVariable,
    OnTemplateVariable,
    OraclePricing,
    Pricing,
    PricingResult,
    Problem,
    RestrictedMIP,
    RyanFoster,
    Sense,
    artificial,
)
from colgen.branching.rules import Bound


class Pool(Pricing):
    """Prices a list of columns exactly by enumeration, with branching and phase 1."""

    def __init__(self, columns, multiplicity=math.inf, cost_bound=None, many=1, states=True):
        self.columns = tuple(columns)
        self.multiplicity = multiplicity
        self.cost_bound = cost_bound
        self.many = many
        self.states = states
        self.calls = 0

    def price(self, duals, context):
        self.calls += 1
        allowed = [c for c in self.columns if context.allows(c)]
        if not allowed:
            return PricingResult(bound=context.sense.hopeless)
        reduced = {}
        for k, column in enumerate(allowed):
            # Computed independently of the engine, which compares it with its own value.
            value = context.cost_weight * column.cost
            value -= sum(a * duals.get(key) for key, a in column.coefficients.items())
            for decision in context.decisions:
                if isinstance(decision, Bound) and decision.row() is not None:
                    first = next(d for d in context.decisions if d.key == decision.key and d.row() is not None)
                    if first is decision:  # two decisions on one quantity share a row
                        value -= duals.get(decision.key) * decision.value(column)
            reduced[k] = value
        order = sorted(reduced, key=lambda k: context.sense.sign * reduced[k])[: self.many]
        returned = [reduced[k] for k in order] if self.states else None
        return PricingResult([allowed[k] for k in order], reduced[order[0]], returned)


@dataclass(frozen=True)
class Program:
    """A complete program: template variables, then the columns of several pricing problems, over shared rows.

    ``groups[k]`` lists the columns of pricing problem k as ``(cost, coefficients)``.  ``limits[k]`` is its
    multiplicity, which an additional row enforces.
    """

    maximize: bool
    row_lower: tuple[float, ...]
    row_upper: tuple[float, ...]
    groups: tuple[tuple[tuple[float, tuple[float, ...]], ...], ...]
    limits: tuple[float, ...]
    variables: tuple[tuple[float, tuple[float, ...], float, float, bool], ...] = ()
    """Cost, coefficients, lower, upper, integer of each template variable."""
    offset: float = 0.0

    @property
    def sense(self):
        return Sense.MAXIMIZE if self.maximize else Sense.MINIMIZE

    def negated(self):
        """Return the equivalent program with negated costs and the opposite sense."""
        return Program(
            not self.maximize,
            self.row_lower,
            self.row_upper,
            tuple(tuple((-c, a) for c, a in group) for group in self.groups),
            self.limits,
            tuple((-c, a, low, high, integer) for c, a, low, high, integer in self.variables),
            -self.offset,
        )

    def arrays(self):
        """Return costs, matrix, sides, bounds and integrality of the complete program, for scipy."""
        m = len(self.row_lower)
        costs, entries, lower, upper, is_integer = [], [], [], [], []
        for cost, coefficients, low, high, integer in self.variables:
            costs.append(cost)
            entries.append([*coefficients, *(0.0 for _ in self.groups)])
            lower.append(low)
            upper.append(high)
            is_integer.append(integer)
        for k, group in enumerate(self.groups):
            for cost, coefficients in group:
                costs.append(cost)
                entries.append([*coefficients, *(float(j == k) for j in range(len(self.groups)))])
                lower.append(0.0)
                upper.append(math.inf)
                is_integer.append(True)
        matrix = np.array(entries, dtype=float).reshape(-1, m + len(self.groups)).T
        rows = (
            np.array([*self.row_lower, *(-math.inf for _ in self.limits)]),
            np.array([*self.row_upper, *self.limits]),
        )
        return np.array(costs, dtype=float), matrix, rows, np.array(lower), np.array(upper), np.array(is_integer)

    def solve(self, integer):
        """Return status ("optimal", "infeasible", "unbounded") and objective of the complete program by scipy."""
        costs, matrix, (low, high), lower, upper, is_integer = self.arrays()
        sign = -1.0 if self.maximize else 1.0
        answer = optimize.milp(
            sign * costs,
            constraints=optimize.LinearConstraint(sparse.csr_array(matrix), low, high),
            bounds=optimize.Bounds(lower, upper),
            integrality=is_integer.astype(int) if integer else np.zeros(len(costs), dtype=int),
            options={"mip_rel_gap": 0.0},
        )
        if answer.status == 0:
            return "optimal", sign * answer.fun + self.offset
        return {2: "infeasible", 3: "unbounded", 4: "infeasible or unbounded"}[answer.status], math.nan


class Enumerated(Problem):
    """A :class:`Program` as a problem; it branches on the columns."""

    def __init__(self, program, *, many=1, farley=False, states=True):
        self.program = program
        self.many = many
        self.farley = farley
        self.states = states

    def master(self):
        p = self.program
        m = pyo.ConcreteModel()
        rows = range(len(p.row_lower))
        m.y = pyo.Var(range(len(p.variables)))
        for j, (_, _, low, high, integer) in enumerate(p.variables):
            m.y[j].domain = pyo.Integers if integer else pyo.Reals
            m.y[j].setlb(None if math.isinf(low) else low)
            m.y[j].setub(None if math.isinf(high) else high)
        m.missing = artificial(rows)
        m.excess = artificial(rows)
        m.slack = pyo.Var(range(len(p.groups)), domain=pyo.NonNegativeReals)

        def body(i):
            return sum(v[1][i] * m.y[j] for j, v in enumerate(p.variables)) + m.missing[i] - m.excess[i]

        m.row = pyo.Constraint(
            rows,
            rule=lambda m, i: (
                None if math.isinf(p.row_lower[i]) else p.row_lower[i],
                body(i),
                None if math.isinf(p.row_upper[i]) else p.row_upper[i],
            ),
        )
        m.limit = pyo.Constraint(
            [k for k, limit in enumerate(p.limits) if math.isfinite(limit)], rule=lambda m, k: m.slack[k] == p.limits[k]
        )
        cost = sum(v[0] * m.y[j] for j, v in enumerate(p.variables)) + p.offset
        m.total = pyo.Objective(expr=cost, sense=pyo.maximize if p.maximize else pyo.minimize)
        return m

    @cached_property
    def columns(self):
        p = self.program
        return [
            [
                Column(
                    cost,
                    {
                        **{("row", i): a for i, a in enumerate(coefficients) if a},
                        **({("limit", k): 1.0} if math.isfinite(p.limits[k]) else {}),
                    },
                    structure=(k, j),
                    key=("x", (k, j)),
                )
                for j, (cost, coefficients) in enumerate(group)
            ]
            for k, group in enumerate(p.groups)
        ]

    def pricing(self):
        pools = []
        for columns, limit in zip(self.columns, self.program.limits, strict=True):
            costs = [c.cost for c in columns]
            bound = None
            if self.farley and costs:
                bound = max(costs) if self.program.maximize else min(costs)
            pools.append(Pool(columns, limit, bound, self.many, self.states))
        return pools

    def branching(self):
        return (OnOriginalVariable(lambda column: {column.key: 1.0}), OnTemplateVariable())

    def method(self):
        return Method(heuristics=(RestrictedMIP(seconds=5.0),))


# --- cutting stock ---------------------------------------------------------------------------------------------------

# Gilmore and Gomory's problem with textbook numbers: the relaxation is 452.25, the optimum 453.
ROLL, WIDTHS, DEMANDS = 100, (45, 36, 31, 14), (97, 610, 395, 211)


def patterns(roll=ROLL, widths=WIDTHS):
    """Return all non-empty patterns."""
    counts = itertools.product(*(range(roll // w + 1) for w in widths))
    return [p for p in counts if 0 < sum(n * w for n, w in zip(p, widths, strict=True)) <= roll]


def cutting_column(pattern, cost=1.0):
    return Column(cost, {("demand", i): float(n) for i, n in enumerate(pattern) if n}, structure=pattern)


class Knapsack(OraclePricing):
    """Pricing problem of cutting stock by enumeration of patterns."""

    cost_bound = 1.0

    def best(self, duals, context):
        pi = duals["demand"]
        value = {p: sum(n * pi[i] for i, n in enumerate(p)) for p in self.problem.patterns}
        pattern = max(value, key=lambda p: context.sense.sign * value[p])
        return Best(pattern, context.cost_weight * self.problem.cost - value[pattern])

    def encode(self, pattern):
        return cutting_column(pattern, self.problem.cost)


class CuttingStock(Problem):
    """min Σ_p x_p subject to Σ_p a_ip x_p ≥ d_i; with ``cost=-1`` the equivalent maximisation."""

    objective_step = 1.0

    def __init__(self, demands=DEMANDS, oracle=Knapsack, cost=1.0, branching=False):
        self.demands = demands
        self.oracle = oracle
        self.cost = cost
        self.patterns = patterns()
        self._branching = branching

    def master(self):
        m = pyo.ConcreteModel()
        m.item = pyo.RangeSet(0, len(self.demands) - 1)
        m.unmet = artificial(m.item)
        m.demand = pyo.Constraint(m.item, rule=lambda m, i: m.unmet[i] >= self.demands[i])
        m.rolls = pyo.Objective(expr=0, sense=pyo.minimize if self.cost > 0 else pyo.maximize)
        return m

    def pricing(self):
        return self.oracle(self)

    def branching(self):
        if not self._branching:
            return ()
        # Branch on the number of each pattern: Pool respects such decisions, Knapsack does not.
        return (OnOriginalVariable(lambda column: {column.structure: 1.0}),)


# --- set partitioning ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Partition:
    """Cheapest partition of ``range(size)`` into given subsets."""

    size: int
    subsets: tuple[tuple[float, frozenset[int]], ...]
    maximize: bool = False

    def optimum(self):
        """Return the optimum by enumeration of partitions, or None if infeasible."""
        sign = -1 if self.maximize else 1
        best = {frozenset(): 0.0}
        for cost, members in self.subsets:
            for covered, value in list(best.items()):
                if not covered & members:
                    key = covered | members
                    best[key] = min(best.get(key, math.inf), value + sign * cost)
        value = best.get(frozenset(range(self.size)))
        return None if value is None else sign * value


class SetPartitioning(Problem):
    """Set partitioning with Ryan and Foster branching."""

    def __init__(self, partition, rule=None):
        self.partition = partition
        self.rule = rule

    def master(self):
        m = pyo.ConcreteModel()
        m.element = pyo.RangeSet(0, self.partition.size - 1)
        m.alone = artificial(m.element)
        m.cover = pyo.Constraint(m.element, rule=lambda m, i: m.alone[i] == 1)
        m.cost = pyo.Objective(expr=0, sense=pyo.maximize if self.partition.maximize else pyo.minimize)
        return m

    @cached_property
    def columns(self):
        return [Column(c, {("cover", i): 1.0 for i in sorted(s)}, structure=s) for c, s in self.partition.subsets]

    def pricing(self):
        return Pool(self.columns, multiplicity=self.partition.size)

    def branching(self):
        return (RyanFoster("cover") if self.rule is None else self.rule,)
