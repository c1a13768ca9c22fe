"""The oracle of a path block: reduced costs, columns and bounds."""

import math

import numpy as np
import pyomo.environ as pyo
import pytest

from benchmarks.networks import crews
from colgen import Method, NodeLimit, Paths, PricingContext, Sense, decompose, solve
from colgen.core.terms import Count, PricedTerms
from colgen.master.statement import restricted_master
from colgen.networks import Elementary, Resource
from colgen.testing import check_problem
from tests.networks.programs import routing


@pytest.mark.parametrize("graphs", [1, 2])
def test_the_oracle_keeps_its_contract(graphs):
    model, _ = routing(2, graphs=graphs)
    check_problem(decompose(model))


def test_parallel_arcs_are_columns_of_their_own():
    m = pyo.ConcreteModel()
    arcs = [(0, 1, "road"), (0, 1, "rail"), (1, 2, "road")]
    m.x = pyo.Var(arcs, domain=pyo.Integers, bounds=(0, 2))
    m.some = pyo.Constraint(expr=m.x[1, 2, "road"] >= 2)
    m.few = pyo.Constraint(expr=m.x[0, 1, "rail"] <= 1)
    m.cost = pyo.Objective(expr=3 * m.x[0, 1, "road"] + m.x[0, 1, "rail"])
    m.p = Paths(tuple(zip(*arcs, strict=True)), m.x, 0, 2)
    result = solve(decompose(m))
    assert result.objective == 4
    assert sorted(path.arcs for path in result.answer.paths) == [(0, 2), (1, 2)]


def test_continuous_flows_have_fractional_paths():
    m = pyo.ConcreteModel()
    arcs = [(0, 1), (0, 2), (1, 3), (2, 3)]
    m.x = pyo.Var(arcs, bounds=(0, 1.5))
    m.demand = pyo.Constraint(expr=m.x[0, 1] + m.x[0, 2] == 2.25)
    m.cost = pyo.Objective(expr=m.x[0, 1] + 2 * m.x[0, 2])
    load = Resource({1: 1, 2: 1}, upper=1, name="load")
    m.p = Paths(tuple(zip(*arcs, strict=True)), m.x, 0, 3, resources=[load], rules=[Elementary()])
    result = solve(decompose(m))
    assert result.objective == pytest.approx(1.5 + 2 * 0.75)
    assert {path.amount for path in result.answer.paths} == {1.5, 0.75}


def test_cuts_over_visits_that_a_graph_does_not_touch_are_no_error():
    """Two depots serve different customers: labels of one ignore rank-1 cuts over customers of the other."""
    m = pyo.ConcreteModel()
    places = {"a": (0, 0), "b": (9, 1), 1: (1, 4), 2: (3, 3), 3: (4, 4), 4: (5, 1), 5: (7, 3), 6: (8, 5)}
    reach = {"a": [1, 2, 3, 4], "b": [3, 4, 5, 6]}
    arcs = {d: [(i, j) for i in (d, *mine) for j in (d, *mine) if i != j] for d, mine in reach.items()}
    m.x = pyo.Var([(d, i, j) for d in arcs for i, j in arcs[d]], domain=pyo.Binary)
    m.visit = pyo.Constraint(range(1, 7), rule=lambda m, v: sum(m.x[k] for k in m.x if k[2] == v) == 1)
    distance = {(i, j): abs(places[i][0] - places[j][0]) + abs(places[i][1] - places[j][1]) for _, i, j in m.x}
    m.cost = pyo.Objective(expr=sum(distance[i, j] * m.x[d, i, j] for d, i, j in m.x))
    for d, mine in arcs.items():
        load = Resource(dict.fromkeys(reach[d], 1), upper=2, name="load")
        flow = [m.x[d, i, j] for i, j in mine]
        m.add_component(d, Paths(tuple(zip(*mine, strict=True)), flow, d, d, resources=[load], rules=[Elementary()]))
    problem = decompose(m)
    cut = Count("visit", (1, 2, 3), (1, 1, 1), 2)
    for oracle in problem.oracles:
        numerators, *_ = oracle._visits.rank_one_cuts(PricedTerms([cut], np.array([-1.0])))
        assert numerators.sum() == (3 if oracle.block_of_paths.name == "a" else 1)
    assert solve(problem).is_optimal


LARGE = crews.crews(crews.timetable(1, 210), ["B0", "B1", "B2"])


def without_cuts(monkeypatch):
    problem = decompose(LARGE)
    monkeypatch.setattr(type(problem), "separation", lambda self: ())
    return problem


def test_selected_columns_of_a_large_master_give_the_same_relaxation(monkeypatch):
    result = solve(without_cuts(monkeypatch), relaxation=True)
    problem = without_cuts(monkeypatch)
    for oracle in problem.oracles:
        assert oracle._selects
        oracle._selects, oracle.routes = False, 50
    plain = solve(problem, relaxation=True)
    assert result.objective == pytest.approx(plain.objective, rel=1e-9)
    assert result.root_bound == pytest.approx(plain.root_bound, rel=1e-9)


def test_few_columns_of_a_call_visit_the_same_vertex_and_the_best_one_is_among_them(monkeypatch):
    problem = without_cuts(monkeypatch)
    master = restricted_master(problem.master())
    solved = master.solve()
    context = PricingContext(Sense.MINIMIZE, price=master.price, find=master.find)
    for oracle in problem.oracles:
        results = [oracle.price(solved.duals, context) for _ in range(20)]  # heuristic ones, then exact ones
        assert results[0].bound is None
        result = results[-1]
        visits = np.bincount(result.columns.rows, minlength=211)[:210]
        assert visits.max() == 12
        assert result.bound == pytest.approx(master.price(result.columns, solved.duals).min())


def test_a_dear_exact_search_is_left_to_later_calls(monkeypatch):
    problem = without_cuts(monkeypatch)
    master = restricted_master(problem.master())
    solved = master.solve()
    context = PricingContext(Sense.MINIMIZE, price=master.price, find=master.find)
    oracle = problem.oracles[0]
    oracle.brief = 10.0
    assert all(oracle.price(solved.duals, context).bound is None for _ in range(20))


def test_paths_avoid_the_visits_of_fixed_ones_and_remain_the_best_of_the_others(monkeypatch):
    problem = without_cuts(monkeypatch)
    master = restricted_master(problem.master())
    solved = master.solve()
    context = PricingContext(Sense.MINIMIZE, price=master.price, find=master.find)
    oracle = problem.oracles[0].exactly()
    oracle._selects = False
    found = oracle.price(solved.duals, context).columns
    first = found[0]
    visited = {key for key in first.coefficients if key[0] == "cover"}
    assert visited
    result = oracle.price(solved.duals, context.replace(fixed=((first, 1.0),)))
    assert len(result.columns)
    assert not any(visited & column.coefficients.keys() for column in result.columns)
    others = [column for column in found if not visited & column.coefficients.keys()]
    assert result.bound <= master.price(others, solved.duals).min() + 1e-6
    assert result.bound == pytest.approx(master.price(result.columns, solved.duals).min())
    again = oracle.price(solved.duals, context)
    assert any(visited & column.coefficients.keys() for column in again.columns)


def test_a_dive_in_a_large_master_ends_in_an_answer(monkeypatch):
    problem = without_cuts(monkeypatch)
    first, *_ = problem.method().heuristics
    assert first.proper == "cover"
    result = solve(problem, method=Method(heuristics=(first,)), stop=NodeLimit(1))
    assert math.isfinite(result.objective)
    assert result.root_bound <= result.objective <= 1.02 * result.root_bound
