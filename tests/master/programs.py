"""A covering master, its columns, and what oracles state of it."""

import math

import numpy as np
import pyomo.environ as pyo
from scipy import optimize

from colgen import Column, LinearMaster, Row, artificial
from colgen.model.rows import compile_model
from colgen.pricing.oracles import Pricing, PricingResult


def covering(demands=(3.0, 2.0), sense=pyo.minimize):
    """``demand[i]: unmet[i] + Σ_j a_ij x_j ≥ d_i`` with a template variable y in the first row at cost 5."""
    m = pyo.ConcreteModel()
    m.item = pyo.RangeSet(0, len(demands) - 1)
    m.unmet = artificial(m.item)
    m.y = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(0, 4))
    m.demand = pyo.Constraint(m.item, rule=lambda m, i: m.unmet[i] + (m.y if i == 0 else 0) >= demands[i])
    m.cost = pyo.Objective(expr=(5 if sense == pyo.minimize else -5) * m.y + 1, sense=sense)
    return LinearMaster(compile_model(m))


def col(a, cost=1.0, **more):
    return Column(cost, {("demand", i): float(v) for i, v in enumerate(a) if v}, tuple(a), **more)


def used(master, solved):
    return {c.structure: round(x, 9) for c, x in master.solution(solved).columns}


class Priced(Pricing):
    def __init__(self, multiplicity=math.inf, cost_bound=None):
        self.multiplicity, self.cost_bound = multiplicity, cost_bound

    def price(self, duals, context):
        raise NotImplementedError


def stating(*bounds):
    return [PricingResult(bound=bound) for bound in bounds]


def random_master(rng):
    """A master that has grown in many steps, and the arrays that it should hold."""
    master = covering(tuple(float(d) for d in rng.integers(1, 6, size=3)))
    master.add([col(row, float(c)) for row, c in zip(np.eye(3), rng.integers(1, 9, 3), strict=True)])
    for step in range(4):
        master.add([col(rng.integers(0, 4, 3), float(rng.integers(1, 9))) for _ in range(3)], origins=0)
        weights = rng.integers(0, 3, 3)
        master.add((), [Row(("extra", step), upper=60.0, coefficient=lambda c, w=weights: float(w @ c.structure))])
        master.solve()
    return master


def as_linprog(master):
    """The master's linear program in phase 2, solved by scipy."""
    table = master.table
    columns, rows, values = table.entry_lists()
    matrix = np.zeros((master.num_rows, len(table)))
    np.add.at(matrix, (rows, columns), values)
    sign = master.sense.sign
    answer = optimize.milp(
        sign * table.costs,
        constraints=optimize.LinearConstraint(matrix, master.rows.lower, master.rows.upper),
        bounds=optimize.Bounds(table.lower_now, table.upper_now),
    )
    return sign * answer.fun + master.formulation.offset
