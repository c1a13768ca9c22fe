import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen import IterationLimit, Method, Termination, WarmStart, solve
from colgen.model.rows import compile_model
from colgen.problems.coreference.baseline import all_link_in_highs, greedy_joining
from colgen.problems.coreference.instance import CoreferenceInstance, communities, random, random_signs
from colgen.problems.coreference.lazy import LazyAllLink, as_solution, improve
from colgen.problems.coreference.model import full
from colgen.solvers.linear.lp import LinearProgram
from colgen.solvers.linear.program import Program
from colgen.tree.queues import BestBound, Plunging
from tests.problems.coreference.strategies import instances
from tests.twins.coreference import optimum, partitions, symmetric


class Bare(LazyAllLink):
    plain = True

    """Rows and the tree only."""

    def warm_start(self, budget):
        return WarmStart()

    def method(self):
        return dataclasses.replace(super().method(), heuristics=())


@pytest.mark.parametrize("kind", [LazyAllLink, Bare])
@given(instance=instances(), strengthen=st.booleans(), queue=st.sampled_from([Plunging, BestBound]))
def test_optimum_equals_enumeration(instance, kind, strengthen, queue):
    result = solve(kind(instance, strengthen=strengthen), method=Method(queue=queue))
    assert result.termination is Termination.OPTIMAL
    assert result.objective == pytest.approx(optimum(instance), abs=1e-6)
    assert result.dual_bound == pytest.approx(result.objective, abs=1e-6)
    assert instance.check(result.answer) == pytest.approx(result.objective, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_seven_mentions(seed):
    instance = random(7, seed, positive=0.5)
    assert solve(Bare(instance)).objective == pytest.approx(optimum(instance))


@pytest.mark.parametrize("strengthen", [False, True])
@pytest.mark.parametrize("instance", [random(13, 0, positive=0.4), random_signs(11, 1), communities(16, 0, noise=0.3)])
def test_optimum_equals_the_complete_model(instance, strengthen):
    result = solve(Bare(instance, strengthen=strengthen))
    assert result.is_optimal
    assert instance.check(result.answer) == pytest.approx(all_link_in_highs(instance).objective)
    if not strengthen:
        assert len(result.nodes) > 1  # the tree was necessary


def test_two_partition_inequalities_strengthen_the_bound():
    instance = random_signs(14, 0)
    weak = solve(Bare(instance, strengthen=False), relaxation=True)
    strong = solve(Bare(instance), relaxation=True)
    best = all_link_in_highs(instance).objective
    assert best - 1e-6 <= strong.objective < weak.objective - 1.0


def test_relaxation_equals_the_complete_model():
    instance = random(9, 3, positive=0.5)
    f = compile_model(full(instance))
    complete = LinearProgram(Program(True, f.matrix, f.costs, f.lower, f.upper, f.row_lower, f.row_upper)).solve()
    result = solve(Bare(instance, strengthen=False), relaxation=True)
    assert result.objective == pytest.approx(complete.objective)


@pytest.mark.parametrize(
    ("entries", "step"),
    [
        ([1.0, -1.0, 1.0], 1.0),
        ([2.0, -4.0, 6.0], 2.0),
        ([0.5, 1.0, 1.0], 0.5),
        ([0.0, 0.0, 0.0], None),
        ([1e300, 1.0, 1.0], None),  # floats do not distinguish its multiples
        ([1.0, 1.0 / 3.0, 1.0], None),
    ],
)
def test_objective_step(entries, step):
    assert LazyAllLink(CoreferenceInstance(symmetric(3, entries))).objective_step == step


def test_objective_of_one_mention():
    result = solve(LazyAllLink(CoreferenceInstance([[0.0]])))
    assert result.is_optimal
    assert result.objective == 0.0
    assert result.answer == [(0,)]


def test_clusterings_are_solutions_and_back():
    instance = random(6, 0)
    problem = LazyAllLink(instance)
    for clusters in partitions(6):
        solution = as_solution(instance, clusters)
        assert solution.objective == pytest.approx(instance.objective(clusters))
        assert problem.answer(solution) == sorted(tuple(sorted(cluster)) for cluster in clusters)


@pytest.mark.parametrize("seed", range(5))
def test_local_search_never_worsens(seed):
    instance = random(30, seed)
    clusters = greedy_joining(instance)
    solution = improve(instance, clusters, kicks=5)
    assert solution.objective >= instance.objective(clusters) - 1e-9
    assert instance.check(LazyAllLink(instance).answer(solution)) == pytest.approx(solution.objective)


def test_a_limit_keeps_an_answer_and_a_bound():
    instance = random_signs(40, 0)
    result = solve(LazyAllLink(instance), stop=IterationLimit(3))
    assert result.termination is Termination.ITERATION_LIMIT
    assert instance.check(result.answer) == result.objective < result.dual_bound < np.inf
