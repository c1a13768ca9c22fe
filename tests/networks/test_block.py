"""Paths of a block: what it contains, and why it does not contain others."""

import pyomo.environ as pyo
import pytest

from colgen import Paths, decompose, solve
from colgen.networks import Elementary, NoCycles, Resource


def block(rules=(), resources=(), domain=pyo.NonNegativeIntegers):
    m = pyo.ConcreteModel()
    arcs = [(0, 1), (1, 2), (2, 1), (2, 3), (1, 3)]
    m.x = pyo.Var(arcs, domain=domain)
    m.three = pyo.Constraint(expr=m.x[1, 2] >= 3)
    m.cost = pyo.Objective(expr=sum(m.x[arc] for arc in arcs))
    m.walk = Paths(tuple(zip(*arcs, strict=True)), m.x, 0, 3, resources=resources, rules=rules)
    return m


def test_faults_name_the_reason():
    load = Resource({1: 2, 2: 1}, upper=4, name="load")
    (mine,) = decompose(block((NoCycles(2),), [load])).blocks
    assert mine.fault([0, 4]) is None
    assert mine.fault([0, 1, 3]) is None
    assert "not a path" in mine.fault([0, 3])
    assert mine.fault([0, 1, 2, 4]) == "load is 5 at 1, expected -inf to 4"
    (mine,) = decompose(block((NoCycles(2),))).blocks
    assert mine.fault([0, 1, 2, 4]) == "it returns to 1 within 2 arcs"
    (mine,) = decompose(block((Elementary(),))).blocks
    assert mine.fault([0, 1, 2, 4]) == "it visits a vertex twice"


def test_walks_without_resources_are_as_long_as_the_graph_has_vertices():
    result = solve(decompose(block()))
    assert result.objective == 9  # 0 → 1 → 2 → 1 → 2 → 3 would be shorter in sum, but has 5 arcs
    assert result.is_optimal


@pytest.mark.parametrize(("rules", "expected"), [((Elementary(),), 9), ((NoCycles(2),), 9)])
def test_rules_about_cycles_count(rules, expected):
    assert solve(decompose(block(rules))).objective == expected
