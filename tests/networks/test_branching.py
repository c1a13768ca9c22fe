"""Branching on numbers of paths, costs and arcs gives the optimum without cuts, fixing or enumeration."""

import pytest

from colgen import Column, Method, Solution, decompose, solve
from colgen.networks.branching import OnCosts
from tests.networks.programs import routing, scheduling


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("graphs", [1, 2])
def test_the_tree_alone_is_complete(seed, graphs):
    model, best = routing(seed, graphs=graphs)
    problem = decompose(model)
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
