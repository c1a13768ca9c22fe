import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen import InputError
from colgen.model.rows import compile_model
from colgen.problems.coreference.baseline import (
    all_link_in_highs,
    closure,
    clusters_of,
    greedy_joining,
    ilp_pricing,
    link_best,
    link_first,
    pricing_matrix,
    transitivity_matrix,
)
from colgen.problems.coreference.instance import CoreferenceInstance, communities, random, random_signs
from colgen.problems.coreference.model import full, pricing
from colgen.solvers.linear.lp import LinearProgram, LPStatus
from colgen.solvers.linear.program import Program
from tests.amounts import examples
from tests.problems.coreference.strategies import instances
from tests.twins.coreference import optimum, subsets, symmetric

HEURISTICS = [link_first, link_best, closure, greedy_joining]


# --- heuristics ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("heuristic", HEURISTICS)
@given(instance=instances())
def test_heuristics_return_clusterings(instance, heuristic):
    clusters = heuristic(instance)
    assert instance.check(clusters) <= optimum(instance) + 1e-9
    assert clusters == sorted(clusters)
    assert all(list(cluster) == sorted(cluster) for cluster in clusters)


# Mentions 0 and 1 are two entities; mention 2 has the best score with 0, but is closer to 1.
PRONOUN = CoreferenceInstance(symmetric(3, [-1.0, 0.9, 0.1]))


def test_link_first_uses_the_closest_and_link_best_the_best():
    assert link_first(PRONOUN) == [(0,), (1, 2)]
    assert link_best(PRONOUN) == [(0, 2), (1,)]
    assert closure(PRONOUN) == [(0, 1, 2)]
    assert greedy_joining(PRONOUN) == [(0, 2), (1,)]


def test_link_first_and_link_best_depend_on_the_order():
    backwards = PRONOUN.restricted_to([2, 1, 0])  # the pronoun comes first: both entities join it
    assert link_first(backwards) == link_best(backwards) == [(0, 1, 2)]
    assert greedy_joining(backwards) == [(0, 2), (1,)]


def test_link_best_takes_the_closest_of_equals():
    assert link_best(CoreferenceInstance(symmetric(3, [-1.0, 0.5, 0.5]))) == [(0,), (1, 2)]


def test_a_score_of_zero_links_nothing():
    nothing = CoreferenceInstance(np.zeros((4, 4)))
    for heuristic in HEURISTICS:
        assert heuristic(nothing) == [(0,), (1,), (2,), (3,)]


@given(instance=instances())
def test_closure_is_the_transitive_closure_of_positive_pairs(instance):
    clusters = closure(instance)
    cluster_of = {i: cluster for cluster in clusters for i in cluster}
    n = instance.num_mentions
    assert all(cluster_of[i] is cluster_of[j] for i, j in np.argwhere(instance.scores > 0))
    for cluster in clusters:
        for part in subsets(len(cluster)):
            if len(part) < len(cluster):
                inside = [cluster[k] for k in part]
                outside = [i for i in cluster if i not in inside]
                assert (instance.scores[np.ix_(inside, outside)] > 0).any()
    assert len(cluster_of) == n


def one_by_one(instance):
    """Greedy joining according to its definition; None if two pairs of clusters tie."""
    clusters = [[i] for i in range(instance.num_mentions)]
    while True:
        totals = {
            (a, b): instance.scores[np.ix_(clusters[a], clusters[b])].sum()
            for a in range(len(clusters))
            for b in range(a + 1, len(clusters))
        }
        if not totals or max(totals.values()) <= 0:
            return sorted(tuple(sorted(cluster)) for cluster in clusters)
        a, b = max(totals, key=totals.get)
        clusters[a] += clusters.pop(b)


@pytest.mark.parametrize("seed", range(examples(10, 20)))
@pytest.mark.parametrize("positive", [0.2, 0.4, 0.6])
def test_greedy_joining_agrees_with_its_definition(seed, positive):
    instance = random(3 * seed + 1, seed, positive=positive)  # no two totals are equal
    assert greedy_joining(instance) == one_by_one(instance)


def test_greedy_joining_finds_clear_communities():
    instance = communities(100, 0, noise=0.0, spread=0.5)
    clusters = greedy_joining(instance)
    assert sorted(map(len, clusters)) == [20] * 5


# --- the all-link model in HiGHS -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_arrays_of_all_link_equal_the_pyomo_model(n):
    instance = random(n, 0)
    f = compile_model(full(instance))
    matrix = transitivity_matrix(instance)
    assert matrix.shape == f.matrix.shape
    assert (matrix.toarray() == f.matrix.toarray()).all()
    assert (instance.scores[np.triu_indices(n, 1)] == f.costs).all()
    assert (f.row_upper == 1.0).all()
    assert np.isneginf(f.row_lower).all()
    needed = transitivity_matrix(instance, needed_rows_alone=True).toarray()
    scores = instance.scores
    kept = [bool(scores[i, k] >= 0 or scores[k, j] >= 0) for _, (i, j, k) in f.row_keys]
    assert (needed == f.matrix.toarray()[kept]).all()


@pytest.mark.parametrize("needed", [False, True])
@given(instance=instances())
def test_all_link_in_highs_has_the_optimum_of_enumeration(instance, needed):
    solution = all_link_in_highs(instance, needed_rows_alone=needed)
    assert solution.status is LPStatus.OPTIMAL
    assert solution.objective == pytest.approx(optimum(instance), abs=1e-6)
    assert solution.bound == pytest.approx(optimum(instance), abs=1e-6)
    clusters = clusters_of(solution.values, instance.num_mentions)
    assert instance.check(clusters) == pytest.approx(optimum(instance), abs=1e-6)


@given(instance=instances(least=3, most=9))
def test_omitted_rows_do_not_change_the_relaxation(instance):
    pairs = math.comb(instance.num_mentions, 2)
    costs = instance.scores[np.triu_indices(instance.num_mentions, 1)]
    objectives = []
    for needed in (False, True):
        matrix = transitivity_matrix(instance, needed)
        rows = matrix.shape[0]
        bounds = (np.zeros(pairs), np.ones(pairs), np.full(rows, -np.inf), np.ones(rows))
        objectives.append(LinearProgram(Program(True, matrix, costs, *bounds)).solve().objective)
    assert objectives[0] == pytest.approx(objectives[1], abs=1e-7)


def test_time_limit():
    solution = all_link_in_highs(random_signs(40, 0), time_limit=0.2)
    assert solution.status is LPStatus.LIMIT
    assert solution.bound >= solution.objective


# --- the pricing problem in HiGHS ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_arrays_of_pricing_are_those_of_the_pyomo_model(n):
    instance = random(n, 0)
    duals = np.arange(1.0, n + 1)
    f = compile_model(pricing(instance, duals))
    assert (pricing_matrix(n).toarray() == f.matrix.toarray()).all()
    assert f.costs.tolist() == [*-duals, *instance.scores[np.triu_indices(n, 1)]]
    pairs = math.comb(n, 2)
    assert f.row_lower.tolist() == [0.0] * 2 * pairs + [-1.0] * pairs
    assert np.isposinf(f.row_upper).all()
    assert f.integer.all()


@given(instance=instances(), data=st.data())
def test_ilp_pricing_finds_the_best_cluster(instance, data):
    n = instance.num_mentions
    duals = np.array(data.draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n)), dtype=float)
    cluster, solution = ilp_pricing(instance, duals)
    best = max(instance.objective([s]) - duals[list(s)].sum() for s in subsets(n))
    assert solution.objective == solution.bound == pytest.approx(max(best, 0.0), abs=1e-6)
    value = instance.objective([cluster]) - duals[list(cluster)].sum()
    assert value == pytest.approx(max(best, 0.0), abs=1e-6)


def test_ilp_pricing_without_time():
    cluster, solution = ilp_pricing(random(60, 0), np.full(60, 0.5), time_limit=0.0)
    assert solution.status is LPStatus.LIMIT
    assert random(60, 0).objective([cluster]) >= 0.0


def test_ilp_pricing_checks_duals():
    with pytest.raises(InputError, match="each of 3 mentions"):
        ilp_pricing(random(3, 0), [0.0])
