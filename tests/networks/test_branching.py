"""Branching on numbers of paths, costs and arcs gives the optimum without cuts, fixing or enumeration."""

import dataclasses
import itertools

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Column, Method, NodeLimit, Paths, Solution, decompose, solve
from colgen.bounding import column_generation
from colgen.branching.rules import OnOriginalVariable, OnSumOfVariables
from colgen.core.terms import Count
from colgen.fixing import ReducedCostFixing
from colgen.networks import Elementary, Neighbourhoods, Resource
from colgen.networks.branching import ArcFixing, OnCosts, PathRules
from colgen.networks.pricing import ARC, EDGE
from tests.networks.programs import routing, scheduling


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("graphs", [1, 2])
@pytest.mark.parametrize("skew", [0, 6])
@pytest.mark.parametrize("rules", [(Elementary(),), (Neighbourhoods(2),)])
def test_the_tree_alone_is_complete(seed, graphs, skew, rules):
    model, best = routing(seed, graphs=graphs, skew=skew, rules=rules)
    problem = decompose(model)
    blocks = {row.block for row in problem.branching() if isinstance(row, OnOriginalVariable)}
    assert blocks & {ARC, EDGE} == {ARC if skew else EDGE}
    problem.separation = lambda: ()
    result = solve(problem, method=Method(heuristics=(), reductions=(), enumeration=()))
    assert result.is_optimal
    assert result.objective == pytest.approx(best)


@pytest.mark.parametrize("seed", range(4))
def test_fixing_of_arcs_loses_no_optimum(seed):
    model, best = routing(seed, graphs=2)
    result = solve(decompose(model), method=Method(enumeration=()))
    assert result.objective == pytest.approx(best)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("machines", [1, 2, 3])
def test_the_tree_over_times_is_complete(seed, machines):
    problem, _, best = scheduling(seed, jobs=5, machines=machines)
    result = solve(problem, method=Method(heuristics=(), reductions=(), enumeration=()))
    assert result.is_optimal
    assert result.objective == pytest.approx(best)
    fixed, _, _ = scheduling(seed, jobs=5, machines=machines)
    assert solve(fixed).objective == pytest.approx(best)


def test_a_path_and_its_reverse_share_a_column_if_they_cost_the_same():
    model, _ = routing(3, customers=6)
    problem = decompose(model)
    problem.separation = lambda: ()
    column = problem.path("type_0", (0, 1, 2, 0))
    assert column.key == problem.path("type_0", (0, 2, 1, 0)).key
    edges = PathRules(problem.blocks, problem._mirrors)
    assert edges.edges(column) == {(0, 1): 1.0, (1, 2): 1.0, (0, 2): 1.0}
    assert edges.edges(problem.path("type_0", (0, 3, 0))) == {(0, 3): 2.0}
    assert sum(edges.edges_of_graph(column).values()) == 3.0


def test_costs_split_a_job_between_its_early_and_its_late_completions():
    problem, states, _ = scheduling(0)
    rule = next(rule for rule in problem.branching() if isinstance(rule, OnCosts))
    columns = [problem.path("plans", states.path(jobs).tolist()) for jobs in ([0, 1, 7], [0, 2, 3, 4, 5, 6, 1, 7])]
    solution = Solution(0.0, tuple((column, 0.5) for column in columns))
    best = rule.candidates(solution)[0]
    assert best.score > 0
    for child in best.children:
        allowed = [all(decision.allows(column) for decision in child) for column in columns]
        assert sorted(allowed) == [False, True]
    assert not rule.candidates(Solution(0.0, ((columns[0], 1.0),)))
    assert not rule.candidates(Solution(0.0, ((Column(1.0, {}, structure="no path"), 0.5),)))


def staffing(seed, days=4, staff=3):
    """Return a model in which staff works at most two days, days lack staff at a cost, and its optimum."""
    rng = np.random.default_rng(seed)
    demand, dislike = rng.integers(1, 4, days), rng.integers(0, 7, (staff, days)).astype(float)
    arcs = [((day, a), (day + 1, b)) for day in range(-1, days) for a in (0, 1) for b in (0, 1)]
    arcs = [(t, h) for t, h in arcs if t != (-1, 1) and h != (days, 1)]
    model = pyo.ConcreteModel()
    model.under = pyo.Var(range(days), domain=pyo.NonNegativeIntegers)
    model.over = pyo.Var(range(days), domain=pyo.NonNegativeIntegers)
    work = [[] for _ in range(days)]
    costs = [10.0 * model.under[day] + 3.0 * model.over[day] for day in range(days)]
    for who in range(staff):
        flow = pyo.Var(range(len(arcs)), domain=pyo.Binary)
        model.add_component(f"flow_{who}", flow)
        for k, (_, (day, works)) in enumerate(arcs):
            if works:
                work[day].append(flow[k])
                costs.append(dislike[who, day] * flow[k])
        at_work = Resource([float(head[1]) for _, head in arcs], 2, name="days")
        graph = tuple(zip(*arcs, strict=True))
        paths = Paths(graph, list(flow.values()), (-1, 0), (days, 0), count=1, resources=[at_work])
        model.add_component(f"paths_{who}", paths)
    model.cover = pyo.Constraint(
        range(days), rule=lambda m, day: sum(work[day]) + m.under[day] - m.over[day] == int(demand[day])
    )
    model.cost = pyo.Objective(expr=pyo.quicksum(costs))
    plans = [np.array(plan) for plan in itertools.product((0, 1), repeat=days) if sum(plan) <= 2]
    lacking = [demand - np.sum(some, axis=0) for some in itertools.product(plans, repeat=staff)]
    disliked = [
        sum(float(dislike[who] @ plan) for who, plan in enumerate(some))
        for some in itertools.product(plans, repeat=staff)
    ]
    best = min(
        d + 10.0 * np.maximum(lack, 0).sum() + 3.0 * np.maximum(-lack, 0).sum()
        for d, lack in zip(disliked, lacking, strict=True)
    )
    return model, float(best)


@pytest.mark.parametrize("seed", range(12))
def test_variables_of_equal_cost_are_branched_on_by_their_sum(seed):
    model, best = staffing(seed)
    problem = decompose(model)
    (rule,) = (rule for rule in problem.branching() if isinstance(rule, OnSumOfVariables))
    assert {name: len(keys) for name, keys in rule.sums.items()} == {("sum of under", 10.0): 4, ("sum of over", 3.0): 4}
    result = solve(problem, method=Method(heuristics=(), reductions=(), enumeration=()))
    assert result.is_optimal
    assert result.objective == pytest.approx(best)


@pytest.mark.parametrize("seed", [0, 8])
def test_cuts_that_change_pricing_wait_for_fixing(seed, monkeypatch):
    """They make pricing harder, and fixing makes it easier."""
    model, best = routing(seed, customers=7, graphs=2)
    events, select = [], column_generation._select_rows

    def reduce(self, context):
        events.append("fixing")
        return ReducedCostFixing.reduce(self, context)

    def added(separator, rows, *others):
        events.extend("rank-1 cut" for row in rows if isinstance(row.key[1], Count))
        return select(separator, rows, *others)

    monkeypatch.setattr(ArcFixing, "reduce", reduce)
    monkeypatch.setattr(column_generation, "_select_rows", added)
    result = solve(decompose(model))
    assert result.objective == pytest.approx(best)
    assert "rank-1 cut" in events
    assert events[0] == "fixing"


def test_marginals_of_graphs_with_cycles_are_not_cut_off():
    """Joins compare many more pairs of labels than there are labels."""
    rng = np.random.default_rng(1)
    places = rng.uniform(0.0, 100.0, (26, 2))
    length = np.hypot(*(places[:, None] - places[None, :]).transpose(2, 0, 1))
    arcs = [(i, j) for i in range(26) for j in range(26) if i != j]
    m = pyo.ConcreteModel()
    m.x = pyo.Var(arcs, domain=pyo.Binary)
    m.visit = pyo.Constraint(range(1, 26), rule=lambda m, v: sum(m.x[i, j] for i, j in arcs if j == v) == 1)
    m.cost = pyo.Objective(expr=sum(length[arc] * m.x[arc] for arc in arcs))
    load = Resource({v: int(rng.integers(1, 10)) for v in range(1, 26)}, 30, name="load")
    m.p = Paths(tuple(zip(*arcs, strict=True)), m.x, 0, 0, resources=[load], rules=[Neighbourhoods(8)])
    problem = decompose(m)
    problem.separation = lambda: ()
    closed = []

    class Watched(ArcFixing):
        def reduce(self, context):
            found = super().reduce(context)
            closed.append(sum(int(each.closed.sum()) for each in found))
            return found

    method = problem.method()
    watched = Watched(problem._priced, widest=1.0)
    problem.method = lambda: dataclasses.replace(method, reductions=(watched,))
    solve(problem, stop=NodeLimit(1))
    assert closed
    assert closed[0] > len(arcs) // 4
