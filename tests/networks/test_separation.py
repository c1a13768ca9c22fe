"""Bounds of arc variables are generated; cuts over visits keep the optimum."""

import itertools

import pyomo.environ as pyo
import pytest

from colgen import Paths, Sense, decompose, solve
from colgen.core.activity import activity
from colgen.core.solution import Solution
from colgen.cuts.separation import SeparationContext
from colgen.networks import Elementary, Resource
from colgen.networks.separation import rounded_capacities
from tests.networks.programs import routing


def test_bounds_of_arcs_hold():
    m = pyo.ConcreteModel()
    arcs = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    m.x = pyo.Var(arcs, domain=pyo.NonNegativeIntegers, bounds=lambda m, i, j: (0, 2 if (i, j) == (1, 2) else 3))
    m.cost = pyo.Objective(expr=3 * m.x[0, 1] + 9 * m.x[0, 2] + 0 * m.x[1, 2] + 9 * m.x[1, 3] + m.x[2, 3])
    m.p = Paths(tuple(zip(*arcs, strict=True)), m.x, 0, 3, count=4)
    result = solve(decompose(m))
    assert result.is_optimal
    assert result.objective == 2 * 4 + 10 + 12  # arcs into and out of vertex 2 are full
    assert m.x[1, 2].value == 2


@pytest.mark.parametrize("seed", range(10, 16))
def test_cuts_over_visits_keep_the_optimum(seed):
    model, best = routing(seed, customers=6, fixed=0)
    result = solve(decompose(model))
    assert result.objective == pytest.approx(best)


@pytest.mark.parametrize(("fixed", "waits"), [(0, False), (1000, True)])
def test_cuts_wait_for_branching_on_the_number_of_expensive_paths(fixed, waits):
    """Three routes of two customers each, used half: 1.5 routes, and a violated subset row."""
    model, _ = routing(1, customers=6, fixed=fixed)
    problem = decompose(model)
    routes = [problem.path("type_0", (0, i, j, 0)) for i, j in ((1, 2), (2, 3), (1, 3))]
    solution = Solution(0.0, [(route, 0.5) for route in routes])
    context = SeparationContext(Sense.MINIMIZE, bound=1.5 * fixed + 100.0)
    separation = problem.separation()[-1]
    assert separation._waits(solution, context) == waits
    two = Solution(0.0, [(route, 2 / 3) for route in routes])
    assert not separation._waits(two, context)


CUSTOMER = {1: 1, 10: 1, 2: 2, 20: 2, 3: 3, 4: 4}


def alternatives(graphs=1, other=None):
    """Return a problem whose paths carry two of four customers, two of which have two places.

    ``other`` changes the customer of a place in the last graph.
    """
    arcs = [(i, j) for i in (0, *CUSTOMER) for j in (0, *CUSTOMER) if i != j and CUSTOMER.get(i) != CUSTOMER.get(j, -1)]
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(graphs), arcs, domain=pyo.Binary)
    of = [CUSTOMER | ((other or {}) if g == graphs - 1 else {}) for g in range(graphs)]
    m.visit = pyo.Constraint(
        range(1, 5), rule=lambda m, v: sum(m.x[index] for index in m.x if of[index[0]].get(index[2]) == v) == 1
    )
    m.cost = pyo.Objective(expr=sum(m.x[index] for index in m.x))
    for g in range(graphs):
        load = Resource({1: 5, 10: 4, 2: 4, 20: 4, 3: 4 + g, 4: 4}, 9 + g, name="load")
        flow = [m.x[g, i, j] for i, j in arcs]
        m.add_component(
            f"p{g}", Paths(tuple(zip(*arcs, strict=True)), flow, 0, 0, resources=[load], rules=[Elementary()])
        )
    return decompose(m)


def capacity_cuts(problem):
    return rounded_capacities(problem.blocks, problem._partitioned, problem._paths.between)


@pytest.mark.parametrize("graphs", [1, 2])
def test_capacity_cuts_count_all_places_of_a_customer(graphs):
    problem = alternatives(graphs)
    (cuts,) = capacity_cuts(problem)
    routes = [problem.path("p0", (0, *pair, 0)) for pair in ((1, 2), (20, 3), (10, 3), (4,), (4,))]
    solution = Solution(0.0, tuple((each, 0.5) for each in routes))
    context = SeparationContext(Sense.MINIMIZE)
    rows = cuts.separate(solution, context)
    (cut,) = (row for row in rows if {end for arc in row.term().members for end in arc} == {1, 10, 2, 20, 3})
    assert cut.upper == 1.0
    assert activity(cut, solution).value == 1.5
    assert cuts.restated(cut.key).key == cut.key
    places = ((1, 10), (2, 20), (3,), (4,))
    for order in itertools.permutations(range(4)):
        for a, b, c, d in itertools.product(*(places[k] for k in order)):
            for paths in (((a, b), (c, d)), ((a, b), (c,), (d,)), ((a,), (b,), (c,), (d,))):
                used = [problem.path(f"p{k % graphs}", (0, *path, 0)) for k, path in enumerate(paths)]
                assert all(activity(row, Solution(0.0, [(each, 1.0) for each in used])).excess <= 0 for row in rows)


def test_places_that_graphs_count_differently_are_in_no_capacity_cut():
    """Customers 2 and 3 share the name of a place, so arcs between names do not count their visits."""
    (cuts,) = capacity_cuts(alternatives(2, {20: 3}))
    assert cuts._places == [(1, 10), (4,)]
    assert not capacity_cuts(alternatives(2, {20: 3, 10: 4}))
    (cuts,) = capacity_cuts(alternatives(2, {3: 4, 4: 3}))  # each visited once, and yet both routes may visit one name
    assert cuts._places == [(1, 10), (2, 20)]
