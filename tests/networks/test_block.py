"""Paths of a block: what it contains, and why it does not contain others."""

from itertools import pairwise

import pyomo.environ as pyo
import pytest

from colgen import InputError, Paths, decompose, solve
from colgen.networks import AtMostOne, Consecutive, Elementary, Neighbourhoods, NoCycles, Requests, Resource


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


@pytest.mark.parametrize("unit", [1.0, 1e-8, 1.0 / 3.0])
def test_a_limit_is_exact_at_any_scale(unit):
    """A tolerance of 1e-9 had accepted 1.4e-8 for 1.3e-8."""
    load = Resource({1: 2 * unit, 2: unit}, upper=2.9 * unit, name="load")
    (mine,) = decompose(block((NoCycles(2),), [load])).blocks
    assert mine.fault([0, 4]) is None
    assert mine.fault([0, 1, 3]).startswith("load is")
    load = Resource({1: 2 * unit, 2: unit}, upper=unit + 2 * unit, name="load")
    (mine,) = decompose(block((NoCycles(2),), [load])).blocks
    assert mine.fault([0, 1, 3]) is None


def test_walks_without_resources_are_as_long_as_the_graph_has_vertices():
    result = solve(decompose(block()))
    assert result.objective == 9  # 0 → 1 → 2 → 1 → 2 → 3 would be shorter in sum, but has 5 arcs
    assert result.is_optimal


@pytest.mark.parametrize(("rules", "expected"), [((Elementary(),), 9), ((NoCycles(2),), 9)])
def test_rules_about_cycles_count(rules, expected):
    assert solve(decompose(block(rules))).objective == expected


def test_at_most_one_vertex_of_a_set_is_visited():
    m = pyo.ConcreteModel()
    arcs = [(i, j) for i in range(5) for j in range(5) if i != j and i != 4 and j != 0]
    m.x = pyo.Var(arcs, domain=pyo.Binary)
    m.visit = pyo.Constraint([1, 2, 3], rule=lambda m, v: sum(m.x[i, j] for i, j in arcs if j == v) == 1)
    m.cost = pyo.Objective(expr=sum((1 + 10 * (i == 0)) * m.x[i, j] for i, j in arcs))
    m.p = Paths(tuple(zip(*arcs, strict=True)), m.x, 0, 4, rules=[Elementary(), AtMostOne([{1, 2}, {2, 3}])])
    problem = decompose(m)
    assert solve(problem).objective == (11 + 1 + 1) + (11 + 1)
    assert problem.blocks[0].fault([arcs.index(a) for a in [(0, 1), (1, 2), (2, 4)]]) == "it visits several of [1, 2]"


def test_a_delivery_follows_its_pickup():
    m = pyo.ConcreteModel()
    arcs = [(i, j) for i in range(6) for j in range(6) if i != j and i != 5 and j != 0]
    m.x = pyo.Var(arcs, domain=pyo.Binary)
    m.visit = pyo.Constraint([1, 2, 3, 4], rule=lambda m, v: sum(m.x[i, j] for i, j in arcs if j == v) == 1)
    m.cost = pyo.Objective(expr=sum((1 + (i > j) + 10 * (i == 0)) * m.x[i, j] for i, j in arcs))
    load = Resource({1: 0, 2: 1, 3: 1, 4: -1}, upper=1, name="load")
    m.p = Paths(tuple(zip(*arcs, strict=True)), m.x, 0, 5, resources=[load], rules=[Requests([(3, 1), (2, 4)])])
    problem = decompose(m)
    result = solve(problem)
    # One route: 3 before 1, 2 before 4, and 2 and 3 are not aboard together: 2 4 3 1 has two steps back.
    assert result.objective == 11 + 1 + 2 + 2 + 1
    route = [arcs.index(a) for a in [(0, 1), (1, 3), (3, 5)]]
    assert problem.blocks[0].fault(route) == "it does not visit 3 and later 1"


def test_neighbourhoods_remember_requests():
    m = pyo.ConcreteModel()
    arcs = [(i, j) for i in range(5) for j in range(5) if i != j and i != 4 and j != 0]
    m.x = pyo.Var(arcs, domain=pyo.NonNegativeIntegers, bounds=(0, 2))
    m.cost = pyo.Objective(expr=sum(m.x[arc] for arc in arcs))
    near = Neighbourhoods(remembered={1: [1, 3], 2: [2], 3: [3]})
    m.p = Paths(tuple(zip(*arcs, strict=True)), m.x, 0, 4, rules=[near])

    def fault(*vertices):
        return decompose(m).blocks[0].fault([arcs.index(arc) for arc in pairwise((0, *vertices, 4))])

    assert fault(1, 2, 1) is fault(3, 1, 2, 3) is None
    assert fault(3, 1, 3) == "it returns to 3, which all vertices since then remember"
    m.del_component("p")
    m.p = Paths(tuple(zip(*arcs, strict=True)), m.x, 0, 4, rules=[near, Requests([(1, 2)])])
    assert fault(1, 2) is fault(1, 3, 2) is fault(1, 2, 3, 1, 2) is None
    assert fault(3, 1, 2, 3) == "it returns to 3, which all vertices since then remember"


def test_places_of_one_customer_count_as_one():
    """A customer is served at one of two places; a path that visits both is not generated."""
    m = pyo.ConcreteModel()
    arcs = [(i, j) for i in range(5) for j in range(5) if i != j and i != 4 and j != 0]
    m.x = pyo.Var(arcs, domain=pyo.Binary)
    m.first = pyo.Constraint(expr=sum(m.x[i, j] for i, j in arcs if j in (1, 2)) == 1)
    m.second = pyo.Constraint(expr=sum(m.x[i, j] for i, j in arcs if j == 3) == 1)
    m.cost = pyo.Objective(expr=sum((j + 1) * m.x[i, j] for i, j in arcs))
    m.p = Paths(tuple(zip(*arcs, strict=True)), m.x, 0, 4, rules=[Elementary()])
    problem = decompose(m)
    solver = problem.oracles[0].solver
    assert solver.rules.classes.tolist() == [0, 1, 1, 3, 4]
    assert solve(problem).objective == 2 + 4 + 5


def test_cycles_over_copies_of_vertices_are_not_limited_by_their_arcs():
    with pytest.raises(InputError, match="NoCycles and Consecutive are not enforced together"):
        decompose(block((NoCycles(2), Consecutive([1, 2], 1, 4))))
    with pytest.raises(InputError, match="no path satisfies"):
        decompose(block((Elementary(), Requests([(2, 1)]))))
