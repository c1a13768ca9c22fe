"""Clustering on the engine, compared with enumeration and the all-link model, with and without limits."""

import dataclasses
import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colgen import (
    IterationLimit,
    Method,
    NoStabilization,
    PricingContext,
    Sense,
    Termination,
    TimeLimit,
    WarmStart,
    solve,
)
from colgen.core.budget import Budget
from colgen.problems.coreference import (
    ClusterILP,
    ClusterSearch,
    Coreference,
    CoreferenceInstance,
    GrowingClusters,
    Items,
    communities,
    random,
    random_signs,
)
from colgen.problems.coreference.baseline import all_link_in_highs
from colgen.problems.coreference.items import COVER
from colgen.solvers.clusters.steps import Bounded, UnprovedError
from colgen.testing.conformance import check_problem
from tests.amounts import examples
from tests.problems.coreference.strategies import instances
from tests.twins.coreference import optimum, symmetric

every_way = pytest.mark.parametrize(
    "how", [{}, {"settled": False}, {"contracted": False}], ids=["settled", "contracted", "by mentions"]
)


class Bare(Coreference):
    """Column generation without initial solutions, columns and dual values."""

    plain = True

    def __init__(self, instance, *, settled=False, **how):
        super().__init__(instance, settled=settled, **how)

    def warm_start(self, budget):
        super().warm_start(budget)  # computes the items
        return WarmStart()

    def method(self):
        return Method(heuristics=())


class Simplex(Bare):
    """Dual values at vertices from the simplex method, which are harder to price at."""

    plain = True

    def master(self):
        rows = super().master()
        rows.solved_by = None
        return rows


class BySearch(Bare):
    plain = True

    def pricing(self):
        return ClusterSearch(self.items)


class ByProgram(Bare):
    plain = True

    def pricing(self):
        return ClusterILP(self.items)


class ByGrowing(Coreference):
    plain = True

    def pricing(self):
        return GrowingClusters(self.items)


def proved(instance, kind=Coreference, value=None, **how):
    """Solve, check all claims, and return the result."""
    result = solve(kind(instance, **how))
    assert result.termination is Termination.OPTIMAL
    assert instance.check(result.answer) == pytest.approx(result.objective)
    assert result.dual_bound == pytest.approx(result.objective)
    if value is not None:
        assert result.objective == pytest.approx(value)
    return result


@every_way
@pytest.mark.parametrize("kind", [Coreference, Bare, Simplex, BySearch, ByProgram], ids=lambda kind: kind.__name__)
@settings(max_examples=10)  # of each of fifteen
@given(instance=instances())
def test_optimum_equals_enumeration(kind, how, instance):
    proved(instance, kind, optimum(instance), **how)


@given(instances())
def test_growing_alone_proves_nothing_by_pricing(instance):
    result = solve(ByGrowing(instance, contracted=False))
    assert result.termination in (Termination.OPTIMAL, Termination.NO_BOUND)
    assert result.dual_bound >= optimum(instance) - 1e-6
    assert instance.check(result.answer) == pytest.approx(result.objective)


@cache
def all_link_optimum(draw, *arguments, **keywords):
    """Return the optimum by HiGHS, computed once per instance."""
    return all_link_in_highs(draw(*arguments, **keywords), needed_rows_alone=draw is random).objective


@every_way
@pytest.mark.parametrize("seed", range(4))
def test_dense_signs_against_the_all_link_model(seed, how):
    instance = random_signs(12 + seed % 3, seed)
    proved(instance, value=all_link_optimum(random_signs, 12 + seed % 3, seed), **how)


@pytest.mark.parametrize("kind", [Coreference, Bare], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("seed", range(4))
def test_random_scores_against_the_all_link_model(seed, kind):
    instance = random(16, seed, positive=0.5)
    proved(instance, kind, all_link_optimum(random, 16, seed, positive=0.5))


def pentagon(factor=1.0):
    """Score 1 on the sides, -1 on the diagonals: the relaxation gives 5/2, the best clustering 2."""
    near = [(j - i) % 5 in (1, 4) for i in range(5) for j in range(i + 1, 5)]
    return CoreferenceInstance(factor * symmetric(5, np.where(near, 1.0, -1.0)))


@every_way
@pytest.mark.parametrize("kind", [Coreference, Bare, Simplex, BySearch, ByProgram], ids=lambda kind: kind.__name__)
def test_a_fractional_relaxation_is_branched(kind, how):
    relaxed = solve(kind(pentagon(0.37), **how), relaxation=True)
    assert relaxed.objective == pytest.approx(0.37 * 2.5)
    proved(pentagon(), kind, 2.0, **how)
    # Without a common divisor of the scores, rounding does not close the gap, so branching is necessary.
    result = proved(pentagon(0.37), kind, 0.74, **how)
    assert result.root_bound == pytest.approx(0.37 * 2.5)
    assert len(result.nodes) > 1


def test_two_pentagons_branch_twice():
    both = np.full((10, 10), -0.1)
    both[:5, :5] = both[5:, 5:] = 0.37 * pentagon().scores
    proved(CoreferenceInstance(both), Bare, 1.48)


@pytest.mark.parametrize("seed", range(3))
def test_branching_with_odd_scores(seed):
    """Scores without a step, so that dense signs need branching."""
    rng = np.random.default_rng(seed)
    scores = random_signs(11, seed).scores * rng.uniform(0.9, 1.1)
    instance = CoreferenceInstance(scores)
    proved(instance, Bare, all_link_in_highs(instance).objective)


@pytest.mark.parametrize("age", [1, 2])
def test_deleted_columns_do_not_return_repeatedly(age):
    """Central dual values change while the objective does not, so two sets of columns can replace each other
    repeatedly.
    """
    upper = [0.72, 1.0, -0.74, -0.88, 0.63, 0.95, -0.77, -0.68, 0.58, -0.66, 0.21, 0.22, -0.35, 0.79, -0.06]
    instance = CoreferenceInstance(symmetric(6, upper))
    stop = IterationLimit(200)
    result = solve(
        Bare(instance, contracted=False), method=Method(clean_up_after=age, stabilization=NoStabilization()), stop=stop
    )
    assert result.termination is Termination.OPTIMAL
    assert result.objective == pytest.approx(optimum(instance))


# --- limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Coreference, Bare], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("stop", [TimeLimit(0), IterationLimit(1), IterationLimit(2)], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_a_limit_leaves_a_valid_bound(seed, stop, kind):
    instance = random_signs(12, seed)
    best = all_link_in_highs(instance).objective
    result = solve(kind(instance), stop=stop)
    assert result.termination in (Termination.OPTIMAL, Termination.TIME_LIMIT, Termination.ITERATION_LIMIT)
    assert result.dual_bound >= best - 1e-6
    if kind is Coreference:
        assert result.answer is not None
    if result.answer is not None:
        assert instance.check(result.answer) == pytest.approx(result.objective)
        assert result.objective <= best + 1e-6


# --- instances of every kind -----------------------------------------------------------------------------------------


@every_way
@pytest.mark.parametrize(
    ("scores", "value", "clusters"),
    [
        ([], 0.0, 1),
        ([2.5], 2.5, 1),
        ([-2.5], 0.0, 2),
        ([0.0], 0.0, None),
        ([0.0] * 15, 0.0, None),
        ([1.0] * 15, 15.0, 1),
        ([0.3] * 15, 4.5, 1),
        ([-1.0] * 15, 0.0, 6),
        ([2.0, 2.0, -4.0], 2.0, None),  # ties
        ([1e-7, 1e-7, -1.0], 1e-7, None),
        ([1e7, 1e7, -1.0], 2e7 - 1, 1),
    ],
    ids=str,
)
def test_simple_instances(scores, value, clusters, how):
    n = next(n for n in range(1, 8) if n * (n - 1) // 2 == len(scores))
    result = proved(CoreferenceInstance(symmetric(n, scores)), value=value, **how)
    assert clusters is None or len(result.answer) == clusters


@every_way
def test_mentions_that_are_the_same(how):
    """Copies of a few mentions, close to each other: many clusterings are equally good."""
    kinds = np.repeat(np.arange(4), 4)
    between = symmetric(4, [1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    np.fill_diagonal(between, 1.0)
    instance = CoreferenceInstance(between[np.ix_(kinds, kinds)])
    proved(instance, value=all_link_in_highs(instance).objective, **how)


@given(instances(), st.sampled_from([1e-6, 1e-3, 1e3, 1e6, 1e9]))
def test_scale_of_scores(instance, scale):
    scaled = CoreferenceInstance(instance.scores * scale)
    assert scaled.check(proved(scaled).answer) / scale == pytest.approx(optimum(instance), abs=1e-5)


@given(st.integers(0, 10**6))
def test_large_scores_are_proved(seed):
    """Normal scores times 1e6: the rounding error of reduced costs exceeds the tolerance."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    instance = CoreferenceInstance(symmetric(n, 1e6 * rng.normal(size=n * (n - 1) // 2)))
    proved(instance, Bare, optimum(instance), contracted=False)


def test_large_scores_of_equal_size_are_proved():
    """A heuristic that accepted rounding errors of 1e-7 as improvements once prevented a bound here."""
    instance = random_signs(10, 2)
    result = proved(CoreferenceInstance(instance.scores * 0.37e6))
    assert result.objective == pytest.approx(0.37e6 * proved(instance).objective)


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_communities_are_proved(noise):
    instance = communities(100, 3, num_communities=5, noise=noise, spread=0.1)
    result = proved(instance)
    if not noise:
        assert len(result.answer) == 5
        of_mentions = Coreference(instance, settled=False, smallest=101).items
        assert len(Coreference(instance, settled=False, smallest=2).items) < len(of_mentions) == 100
        items = Coreference(instance).items
        assert not len(items)
        assert items.constant == pytest.approx(result.objective)


def test_settled_clusters_are_in_the_answer_and_the_objective():
    """A settled pair next to a pentagon that needs branching."""
    scores = np.full((7, 7), -1.0)
    scores[:5, :5] = pentagon(0.37).scores
    scores[5, 6] = scores[6, 5] = 2.0
    problem = Coreference(CoreferenceInstance(scores))
    assert problem.items.settled == ((5, 6),)
    assert problem.items.constant == 2.0
    assert problem.master().offset == 2.0
    result = proved(CoreferenceInstance(scores), value=2.74)
    assert (5, 6) in result.answer
    assert result.root_bound == pytest.approx(2.0 + 0.37 * 2.5)


@every_way
def test_answer_is_a_sorted_list_of_clusters(how):
    answer = proved(communities(12, 1, num_communities=3, noise=0.0), **how).answer
    assert answer == sorted(answer)
    assert all(list(cluster) == sorted(cluster) for cluster in answer)
    assert all(type(i) is int for cluster in answer for i in cluster)


@every_way
@pytest.mark.parametrize("kind", [Coreference, BySearch], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("instance", [random_signs(6, 1), random(7, 2), pentagon(0.37)], ids=["signs", "random", "5"])
def test_conformance(instance, kind, how):
    report = check_problem(kind(instance, **how), seconds=examples(0.4, 2.0))
    assert report.ok, report


def test_the_result_names_the_bounding_oracle():
    result = proved(random_signs(12, 1), Bare)
    assert math.isfinite(result.root_bound)
    for record in result.iterations:
        assert record.global_bound >= result.objective - 1e-6


# --- proofs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1e-8, 1.0, 3e7])
@pytest.mark.parametrize(
    "instance",
    [communities(60, 1, num_communities=5, noise=0.05, spread=0.1), random(28, 3), random_signs(18, 2), random(6, 1)],
    ids=lambda instance: instance.name,
)
def test_the_bound_comes_from_an_oracle(instance, factor, monkeypatch):
    """The bound comes from an oracle's call in this run, even for reductions before the first column."""
    priced = []
    price = ClusterSearch.price
    monkeypatch.setattr(ClusterSearch, "price", lambda *given: priced.append(price(*given)) or priced[-1])
    result = proved(CoreferenceInstance(factor * instance.scores))
    assert result.iterations
    assert result.iterations[-1].pricing_seconds > 0.0
    assert any(one.total is not None for one in priced)
    assert min(i.dual_bound for i in result.iterations if i.node == 0) >= result.objective * (1.0 - 1e-9)


def test_partial_verification_bounds_a_dense_clustering():
    """Triangles come first: they alone halve the bound of the positive scores."""
    instance = random_signs(40, 0)
    items = Items.of(instance)
    assert isinstance(items.steps[0], Bounded)
    looks = iter([False])
    cut_short = dataclasses.replace(items, steps=(items.steps[0], *items.steps)).verify(lambda: next(looks, True))
    without = items.verify(lambda: True)
    least = instance.check([np.flatnonzero(items.start == c).tolist() for c in range(items.start.max() + 1)])
    assert math.isinf(cut_short.worth)
    assert math.isinf(without.worth)
    assert least <= cut_short.bound <= 0.5 * without.bound
    late = PricingContext(Sense.MAXIMIZE, budget=Budget(seconds=0.0))
    found = GrowingClusters(items).price({COVER: np.zeros(len(items))}, late)
    assert least <= found.total == without.bound


def test_too_small_dual_values_do_not_prove_optimality():
    """A pair worth 2 gets dual values of 0.9 and 1: the oracle finds the rest."""
    instance = CoreferenceInstance(symmetric(2, [2.0]))
    items = Items.of(instance)
    (step,) = items.steps
    wrong = dataclasses.replace(items, steps=(step._replace(duals=np.array([0.9, 1.0])),))
    assert items.verify() == (2.0, 2.0)
    assert wrong.verify().worth == pytest.approx(2.0)
    assert dataclasses.replace(items, steps=(step._replace(duals=np.array([9.0, 1.0])),)).verify().worth == 10.0
    with pytest.raises(UnprovedError, match="do not prove these items"):
        dataclasses.replace(items, steps=()).verify()


def test_unproved_claims_are_not_optimal():
    """Dual values that are too good leave a gap and prove nothing."""
    instance = CoreferenceInstance(symmetric(3, [1.0, 1.0, -0.375]))
    problem = Coreference(instance)
    (step,) = problem.items.steps
    problem._items = dataclasses.replace(problem.items, steps=(step._replace(duals=np.array([1.5, 1.5, 1.0])),))
    result = solve(problem)
    assert result.termination is not Termination.OPTIMAL
    assert result.objective == 1.625
    assert result.dual_bound == 2.0  # the sum of all positive scores


@pytest.mark.parametrize("factor", [1e-8, 1.0, 1e8])
def test_good_dual_values_prove_optimality_in_one_round(factor):
    """The clusters that the search ignores sum to less than the objective's tolerance."""
    instance = communities(60, 2, num_communities=12, noise=0.0, spread=0.1)
    result = proved(CoreferenceInstance(factor * instance.scores), contracted=False)
    assert len(result.iterations) == 1
    assert result.columns_generated == 0
    assert not result.nodes
