"""Compact models of path blocks: exact ones have the optimum of all paths, others name what is missing."""

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import CompactModel, InputError, Paths, Termination, decompose, solve
from colgen.decomposition.undecomposed import Undecomposed
from colgen.networks import (
    AtMostOne,
    Commodities,
    Consecutive,
    Elementary,
    Neighbourhoods,
    NoCycles,
    Requests,
    Resource,
    Unsplittable,
)
from tests.networks.flow_programs import network
from tests.networks.programs import routing

ARCS = [(0, 1), (0, 2), (1, 2), (2, 1), (1, 3), (2, 3)]


def model(visits=1, domain=pyo.NonNegativeIntegers, arcs=ARCS, **options):
    """Return a model in which vertices 1 and 2 are visited a number of times, and arcs 1 → 2 and 2 → 1 are cheap."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(arcs, domain=domain)
    m.visit = pyo.Constraint([1, 2], rule=lambda m, v: sum(m.x[a] for a in arcs if a[1] == v) == visits)
    m.cost = pyo.Objective(expr=sum((5 if 0 in a else 1) * m.x[a] for a in arcs))
    m.p = Paths(tuple(zip(*arcs, strict=True)), m.x, 0, 3, **options)
    return m


def optimum(m):
    """Return the optimum of the model in HiGHS."""
    return solve(Undecomposed(CompactModel.from_pyomo(m))).objective


@pytest.mark.parametrize("graphs", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_levels_of_vertices_that_are_visited_once_are_exact(seed, graphs):
    m, best = routing(seed, customers=4, graphs=graphs)
    for g in range(graphs):
        assert m.component(f"type_{g}").compact() == ()
    assert optimum(m) == pytest.approx(best)


def test_a_filled_model_is_an_ordinary_one():
    m, best = routing(1, customers=4)
    m.type_0.compact()
    assert m.type_0.is_filled
    pyo.SolverFactory("appsi_highs").solve(m)
    assert pyo.value(m.cost) == pytest.approx(best)
    assert not hasattr(decompose(m), "visits")
    assert solve(decompose(m)).objective == pytest.approx(best)
    with pytest.raises(InputError, match="conservation already"):
        m.type_0.compact()


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e6])
def test_paths_that_share_vertices_have_levels_of_their_own(unit):
    load = Resource({1: unit, 2: 2 * unit}, upper=2 * unit, name="load")
    options = {"visits": 2, "rules": [Elementary()], "resources": [load]}
    m = model(count=(0, 4), **options)
    assert m.p.compact() == ()
    assert optimum(m) == solve(decompose(model(count=(0, 4), **options))).objective == 4 * 6
    m = model(count=(0, 100), **options)
    assert m.p.compact() == ("load", "Elementary")


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"visits": 2}, ("cycles",)),
        ({"visits": 2, "rules": [NoCycles(2)]}, ("NoCycles",)),
        ({"visits": 2, "rules": [Neighbourhoods(2)]}, ("Neighbourhoods",)),
        ({"domain": pyo.NonNegativeReals, "rules": [Elementary()]}, ("Elementary",)),
        ({"domain": pyo.NonNegativeReals, "arcs": ARCS[:3] + ARCS[4:]}, ()),
        ({"visits": 3, "arcs": ARCS[:3] + ARCS[4:], "rules": [Requests([(1, 2)])]}, ("Requests",)),
        ({"rules": [NoCycles(2)]}, ()),
    ],
)
def test_what_has_no_linear_form_is_named(options, names):
    m = model(**options)
    assert m.p.compact() == names
    if not names:
        assert optimum(m) == pytest.approx(solve(decompose(model(**options))).objective)


@pytest.mark.parametrize(
    ("row", "names"),
    [
        (lambda m: m.x[0, 1] >= 2, ()),
        (lambda m: m.x[0, 1] - m.x[1, 2] >= 1, ()),
        (lambda m: m.x[1, 2] <= 3, ()),
        (lambda m: m.x[1, 2] >= 2, ("cycles",)),
        (lambda m: m.x[1, 2] + m.x[0, 2] == 2, ("cycles",)),
    ],
)
def test_cycles_that_no_solution_needs_have_no_rows(row, names):
    m = model()
    m.del_component("visit")
    m.visit = pyo.Constraint(rule=row)
    assert m.p.compact() == names


@pytest.mark.parametrize("count", [(0, np.inf), (0, 2)])
@pytest.mark.parametrize("visits", [1, 2])
@pytest.mark.parametrize(
    "rule", [AtMostOne([[1, 2]]), Requests([(2, 1)]), Consecutive([1], 2), Consecutive([1, 2], 1, 1), None]
)
def test_rules_have_a_linear_form(rule, visits, count):
    if visits == 2 and count[1] > 2:
        pytest.skip("no linear form")
    rules = [Elementary(), *([rule] if rule else [])]
    m = model(visits, rules=rules, count=count)
    assert m.p.compact() == ()
    found, expected = (
        solve(Undecomposed(CompactModel.from_pyomo(m))),
        solve(decompose(model(visits, rules=rules, count=count))),
    )
    assert found.termination is expected.termination
    assert found.objective == pytest.approx(expected.objective)


@pytest.mark.parametrize(("least", "waiting", "expected"), [(0, True, 7), (3, False, 12), (4, True, 7)])
def test_a_minimum_at_the_sink(least, waiting, expected):
    work = Resource([2, 2, -1, -1, 1, 1], upper=np.inf, lower={3: least}, waiting=waiting, name="work")
    m = model(resources=[work], rules=[Elementary()])
    assert m.p.compact() == ()
    assert optimum(m) == solve(decompose(model(resources=[work], rules=[Elementary()]))).objective == expected


def test_closed_windows_close_arcs():
    time = Resource([3, 1, 1, 1, 1, 1], upper={0: 9, 1: 2, 2: 9, 3: 9}, name="time")
    m = model(resources=[time])
    assert m.p.compact() == ()
    assert list(m.p.resource[0].closed)
    assert optimum(m) == solve(decompose(model(resources=[time]))).objective == 7


def test_arrays_of_columns_are_refused():
    paths = Paths(([0, 1], [1, 2]), np.arange(2), 0, 2)
    with pytest.raises(InputError, match="component of a Pyomo model"):
        paths.compact()


@pytest.mark.parametrize("unsplittable", [False, True])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_commodities_have_a_flow_each(seed, own, unsplittable):
    given = network(seed, vertices=6, arcs=12, commodities=4, own=own)
    given.unsplittable = unsplittable
    m = pyo.ConcreteModel()
    upper = [None if np.isinf(u) else float(u) for u in given.capacities]
    m.x = pyo.Var(range(len(upper)), bounds=lambda m, a: (0, upper[a]))
    m.cost = pyo.Objective(expr=sum(cost * m.x[a] for a, cost in enumerate(given.costs.tolist())))
    commodities = Commodities(
        given.origins, given.destinations, given.demands, costs=given.own_costs, limits=given.limits
    )
    rules = [Unsplittable()] if unsplittable else []
    m.p = Paths((given.tails, given.heads), list(m.x.values()), commodities=commodities, rules=rules)
    assert m.p.compact() == ()
    best = given.optimum()
    if np.isinf(best):
        assert solve(Undecomposed(CompactModel.from_pyomo(m))).termination is Termination.INFEASIBLE
    else:
        assert optimum(m) == pytest.approx(best)
