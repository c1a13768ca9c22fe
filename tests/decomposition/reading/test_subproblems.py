"""Identical blocks are merged, and no others."""

import pyomo.environ as pyo

from colgen import decompose
from tests.decomposition import models


def test_blocks_that_differ_in_one_number_are_not_merged():
    model = models.packing(0)
    model.used[3].setub(0)
    subs = decompose(model, "bin").splitting.subproblems
    assert sorted(sub.count for sub in subs) == [1, 4]


def test_blocks_with_variables_in_another_order_are_merged():
    m = pyo.ConcreteModel()
    m.a, m.b = pyo.Var(range(3), domain=pyo.Binary), pyo.Var(range(2, -1, -1), domain=pyo.Binary)
    m.ra = pyo.Constraint(expr=sum((k + 2) * m.a[k] for k in range(3)) <= 5)
    m.rb = pyo.Constraint(expr=sum((k + 2) * m.b[k] for k in range(3)) <= 5)
    m.link = pyo.Constraint(range(3), rule=lambda m, k: m.a[k] + m.b[k] <= 1)
    m.o = pyo.Objective(expr=sum((k + 1) * (m.a[k] + m.b[k]) for k in range(3)), sense=pyo.maximize)
    blocks = {"ra": 0, "rb": 1}
    problem = decompose(m, lambda c: blocks.get(c.name))
    (sub,) = problem.splitting.subproblems
    names = problem.compact.names
    assert [[names[k] for k in row] for row in sub.columns] == [[f"{v}[{k}]" for k in range(3)] for v in "ab"]


def test_unbounded_blocks_are_not_merged():
    m = models.lots(0)
    assert not any(sub.unbounded for sub in decompose(m, "item").splitting.subproblems)
    m.empty.deactivate()
    m.setup.deactivate()
    assert all(sub.unbounded for sub in decompose(m, "item").splitting.subproblems)
    twins = pyo.ConcreteModel()
    twins.k = pyo.RangeSet(2)
    twins.x, twins.y = pyo.Var(twins.k, domain=pyo.NonNegativeReals), pyo.Var(twins.k, domain=pyo.Binary)
    twins.own = pyo.Constraint(twins.k, rule=lambda m, k: m.x[k] >= m.y[k])
    twins.link = pyo.Constraint(expr=twins.x[1] + twins.x[2] >= 3)
    twins.o = pyo.Objective(expr=twins.x[1] + twins.x[2])
    assert [sub.count for sub in decompose(twins, "k").splitting.subproblems] == [1, 1]


def test_a_ray_along_a_free_variable_is_found():
    m = pyo.ConcreteModel()
    m.k = pyo.Set(initialize=["u", "v"])
    m.x = pyo.Var(m.k, domain=pyo.Reals)
    m.y = pyo.Var(m.k, domain=pyo.Reals, bounds=(0, 1))
    m.own = pyo.Constraint(m.k, rule=lambda m, k: m.x[k] + m.y[k] <= 1)
    m.link = pyo.Constraint(expr=m.x["u"] + m.x["v"] == 0)
    m.o = pyo.Objective(expr=m.y["u"])
    assert all(sub.unbounded for sub in decompose(m, "k").splitting.subproblems)
