"""Rays of blocks are found."""

import pyomo.environ as pyo

from colgen import decompose


def test_a_ray_along_a_free_variable_is_found():
    m = pyo.ConcreteModel()
    m.k = pyo.Set(initialize=["u", "v"])
    m.x = pyo.Var(m.k, domain=pyo.Reals)
    m.y = pyo.Var(m.k, domain=pyo.Reals, bounds=(0, 1))
    m.own = pyo.Constraint(m.k, rule=lambda m, k: m.x[k] + m.y[k] <= 1)
    m.link = pyo.Constraint(expr=m.x["u"] + m.x["v"] == 0)
    m.o = pyo.Objective(expr=m.y["u"])
    assert all(sub.unbounded for sub in decompose(m, "k").splitting.subproblems)
