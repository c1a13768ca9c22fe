"""Statements of path blocks: vertices, flows, and what bad input gets."""

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import InputError, Paths, decompose, solve
from colgen.networks import Elementary, Neighbourhoods, NoCycles, Resource


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": (3, 2)}, "count: expected 0 ≤ lower ≤ upper"),
        ({"count": (-1, 2)}, "count: expected 0 ≤ lower ≤ upper"),
        ({"resources": [Resource({1: 1}, upper={1: 2}, lower={1: 3}, name="time")]}, "'time': the limits of vertex 1"),
        ({"resources": [Resource({1: 1}, upper=-1.0, name="load")]}, "'load': the upper limit -1 of the source"),
        (
            {"resources": [Resource({1: 1}, upper={1: -2}, name="load")]},
            "'load': the upper limit -2 of vertex 1 is below",
        ),
        ({"resources": ["load"]}, "resources: expected a Resource or a CustomResource, not 'load'"),
        ({"rules": ["elementary"]}, "rules: expected rules of colgen.networks"),
        ({"rules": [NoCycles(1)]}, "NoCycles: expected an integer of at least 2"),
        ({"rules": [NoCycles(2), Neighbourhoods(2)]}, "at most one of Neighbourhoods and NoCycles"),
        ({"rules": [Neighbourhoods(3), Neighbourhoods(2)]}, "at most one of Neighbourhoods and NoCycles"),
        ({"resources": [Resource([1.0], upper=1.0, name="load")]}, "expected 2 numbers, one per arc"),
        ({"resources": [Resource({5: 1.0}, upper=1.0, name="load")]}, "5 is not a vertex"),
    ],
)
def test_contradictory_limits_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Paths(([0, 1], [1, 2]), np.arange(2), 0, 2, **options)


@pytest.mark.parametrize(
    ("resource", "what"),
    [
        (Resource({1: 1}, upper=np.inf, name="load"), "finite upper limit"),
        (Resource({}, 3, name="load"), "consumption"),
    ],
)
def test_a_resource_that_bounds_no_cycle_is_refused(resource, what):
    graph = ([0, 1, 2, 2], [1, 2, 1, 3])
    with pytest.raises(InputError, match=f"'load': it has no {what}, so it never bounds a cycle"):
        Paths(graph, np.arange(4), 0, 3, resources=[resource])
    Paths(graph, np.arange(4), 0, 3, resources=[resource], rules=[Elementary()])
    least = Resource({1: 1}, upper=np.inf, lower={3: 2}, waiting=False)
    Paths(graph, np.arange(4), 0, 3, resources=[least])


def test_flow_has_one_variable_per_arc():
    with pytest.raises(InputError, match="one variable per arc, got 3 for 2"):
        Paths(([0, 1], [1, 2]), np.arange(3), 0, 2)
    m = pyo.ConcreteModel()
    m.x = pyo.Var([(0, 1)])
    with pytest.raises(InputError, match="'x' has no variable of the arc \\(1, 2\\)"):
        Paths(([0, 1], [1, 2]), m.x, 0, 2)


def model(domain=pyo.Binary):
    m = pyo.ConcreteModel()
    m.x = pyo.Var([(0, 1), (1, 2), (0, 2)], domain=domain)
    m.some = pyo.Constraint(expr=m.x[0, 1] + m.x[0, 2] >= 1)
    m.cost = pyo.Objective(expr=m.x[0, 1] + m.x[1, 2] + 3 * m.x[0, 2])
    m.routes = Paths(([0, 1, 0], [1, 2, 2]), m.x, 0, 2)
    return m


def test_fixed_variables_close_arcs():
    m = model()
    assert solve(decompose(m)).objective == 2
    m.x[1, 2].fix(0)
    assert solve(decompose(m)).objective == 3
    m.x[0, 2].fix(1)
    with pytest.raises(InputError, match="is fixed to 1"):
        decompose(m)


def test_a_lower_bound_is_refused_with_advice():
    m = model(pyo.NonNegativeIntegers)
    m.x[0, 2].setlb(1)
    with pytest.raises(InputError, match="has the lower bound 1, expected 0: state it as a constraint"):
        decompose(m)


def test_flows_are_not_negative_whatever_the_bounds():
    m = model(pyo.Reals)
    m.cost.set_value(m.x[0, 1] + m.x[1, 2] + 3 * m.x[0, 2])
    m.x[0, 1].setlb(-4)
    assert solve(decompose(m)).objective == 2
    m.routes.compact()
    assert len(m.routes.sign) == 3


def test_a_clone_has_paths_of_its_own():
    m = model()
    other = m.clone()
    other.x[1, 2].fix(0)
    assert solve(decompose(other)).objective == 3
    assert solve(decompose(m)).objective == 2


def test_columns_of_arrays_are_the_same_statement():
    from colgen import CompactModel

    m = model()
    m.del_component("routes")
    compact = CompactModel.from_pyomo(m)
    paths = Paths(([0, 1, 0], [1, 2, 2]), np.arange(3), 0, 2)
    assert solve(decompose(compact, [paths])).objective == 2
