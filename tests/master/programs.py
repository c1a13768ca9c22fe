"""A covering master, its columns, and what oracles state of it."""

import math

import pyomo.environ as pyo

from colgen import (
    Column,
    LinearMaster,
    artificial,
    compile_model,
)
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
