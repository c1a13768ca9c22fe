"""Blocks whose rows describe the hull of their points."""

import pyomo.environ as pyo
import pytest

from colgen import decompose
from colgen.decomposition.paying import is_hull


def block(rule, domain=pyo.Binary):
    m = pyo.ConcreteModel()
    m.k = pyo.Set(initialize=["only"])
    m.x = pyo.Var(m.k, range(4), domain=domain, bounds=(0, 1))
    m.own = pyo.Constraint(range(3), rule=lambda m, r: rule(m.x, r))
    m.o = pyo.Objective(expr=m.x["only", 0] - m.x["only", 1])
    return decompose(m, "k").splitting.subproblems[0]


@pytest.mark.parametrize(
    ("rule", "domain", "expected"),
    [
        (lambda x, r: x["only", r] - x["only", r + 1] <= 0, pyo.Binary, True),
        (lambda x, r: 3 * x["only", r] + 3 * x["only", (r + 2) % 4] <= 3, pyo.Binary, True),
        (lambda x, r: x["only", r] + x["only", (r + 1) % 3] <= 1, pyo.Binary, False),
        (lambda x, r: x["only", min(r, 1)] + x["only", min(r, 1) + 1] + x["only", 3] <= 1, pyo.Binary, True),
        (lambda x, r: 2 * x["only", r] + 3 * x["only", r + 1] <= 4, pyo.Binary, False),
        (lambda x, r: 2 * x["only", r] + 3 * x["only", r + 1] <= 4, pyo.Reals, True),
        (lambda x, r: x["only", r] - x["only", r + 1] <= 0.5, pyo.Binary, False),
    ],
)
def test_networks_and_continuous_blocks_are_hulls(rule, domain, expected):
    assert is_hull(block(rule, domain)) is expected
