"""Penalties, scales, time limits, and subclasses with other problems."""

import pickle
import time
from functools import cache

import numpy as np
import pytest

from colgen import Method, Pricing, PricingResult, Stages, Termination, TimeLimit, WarmStart, solve
from colgen.core.budget import Budget
from colgen.core.columns import Column
from colgen.problems.coreference import (
    ClusterILP,
    ClusterSearch,
    Coreference,
    CoreferenceInstance,
    GrowingClusters,
    LazyAllLink,
    communities,
    random,
    random_signs,
)
from tests.amounts import BUSY, examples
from tests.twins.coreference import optimum, partitions, symmetric

WAYS = [{}, {"smallest": 2}, {"settled": False, "smallest": 2}, {"contracted": False}]


class Alone(Coreference):
    """Column generation without initial columns."""

    plain = True

    def warm_start(self, budget):
        super().warm_start(budget)
        return WarmStart()

    def method(self):
        return Method(heuristics=())


# --- penalties -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Coreference, Alone, LazyAllLink], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("penalty", [-2e7, -1e12, -1e300, -np.inf])
@pytest.mark.parametrize("seed", range(examples(3, 6)))
def test_a_penalty_affects_only_its_pair(seed, penalty, kind):
    rng = np.random.default_rng(seed)
    upper = rng.uniform(-0.5, 1.5, 10)
    upper[rng.random(10) < 0.25] = penalty
    upper[1] = penalty
    instance = CoreferenceInstance(symmetric(5, upper))
    for how in WAYS if kind is not LazyAllLink else [{}]:
        result = solve(kind(instance, **how))
        assert result.termination is Termination.OPTIMAL
        assert result.objective == pytest.approx(optimum(instance), rel=1e-9)
        assert result.objective == instance.check(result.answer)
        assert result.dual_bound == pytest.approx(result.objective, rel=1e-9)


def test_only_penalties():
    instance = CoreferenceInstance(symmetric(4, [-np.inf] * 6))
    for kind in (Coreference, Alone, LazyAllLink):
        assert solve(kind(instance)).answer == [(0,), (1,), (2,), (3,)]


def test_a_penalty_among_many_mentions():
    scores = communities(40, 1, num_communities=4, noise=0.05).scores.copy()
    free = solve(Coreference(CoreferenceInstance(scores)))
    first, second = free.answer[0][:2]
    scores[first, second] = scores[second, first] = -np.inf
    for how in WAYS:
        result = solve(Coreference(CoreferenceInstance(scores), **how))
        assert result.is_optimal
        assert free.objective - 25.0 < result.objective < free.objective


# --- scale -----------------------------------------------------------------------------------------------------------


def trace(result):
    return result.termination, result.answer, len(result.nodes), len(result.iterations), result.columns_generated


@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("exponent", [-30, -13, -1, 1, 12, 30])
def test_a_power_of_two_changes_nothing(exponent, how):
    factor = 2.0**exponent
    for instance in (random_signs(14, 1), random(14, 2, positive=0.6), communities(18, 3, noise=0.2, spread=0.3)):
        one = solve(Coreference(instance, **how))
        other = solve(Coreference(CoreferenceInstance(factor * instance.scores), **how))
        assert trace(other) == trace(one)
        assert other.objective == factor * one.objective


@pytest.mark.parametrize("kind", [Coreference, Alone, LazyAllLink], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("scale", [1e-9, 1e-6, 1e6, 1e9])
@pytest.mark.parametrize("seed", range(examples(3, 5)))
def test_small_and_large_scores_work_like_any(seed, scale, kind):
    rng = np.random.default_rng(seed)
    instance = CoreferenceInstance(symmetric(6, rng.normal(size=15) if seed % 2 else rng.integers(-2, 3, 15)))
    best = optimum(instance)
    for how in WAYS if kind is not LazyAllLink else [{}]:
        result = solve(kind(CoreferenceInstance(scale * instance.scores), **how))
        assert result.is_optimal
        assert instance.check(result.answer) == pytest.approx(best, abs=1e-8)


# --- time ------------------------------------------------------------------------------------------------------------


@cache
def compile_kernels(**how):
    solve(Coreference(random_signs(40, 1), **how), stop=TimeLimit(2.0))


@pytest.mark.parametrize("how", [{}, {"contracted": False}], ids=str)
@pytest.mark.parametrize("instance", [random_signs(60, 0), random(300, 0), random_signs(300, 0)], ids=lambda i: i.name)
def test_a_time_limit_holds_and_keeps_an_answer_and_a_bound(instance, how):
    compile_kernels(**how)
    problem = Coreference(instance, **how)
    for limit in (0.0, 0.1, 0.7):
        started = time.perf_counter()
        result = solve(problem, stop=TimeLimit(limit))
        assert time.perf_counter() - started < limit + BUSY
        assert result.termination is Termination.TIME_LIMIT
        assert instance.check(result.answer) == result.objective > 0.0
        if not result.iterations:
            continue  # there was no time to price
        most = 0.5 * np.maximum(instance.scores, 0.0).sum()
        assert result.objective <= result.dual_bound <= most + 1e-6


def test_the_first_columns_leave_time_for_rounds():
    problem = Coreference(random_signs(120, 0))
    many = len(list(problem.warm_start(Budget(60.0)).columns))
    assert len(list(problem.warm_start(Budget(0.0)).columns)) == 0 < many
    assert len(list(Coreference(random_signs(120, 0)).warm_start(Budget()).columns)) > 120  # there is no time limit


@pytest.mark.parametrize("limit", [0.2, 1.0])
def test_a_cut_off_oracle_is_not_reported_as_inexact(limit):
    compile_kernels()
    result = solve(Coreference(random_signs(60, 1)), stop=TimeLimit(limit))
    assert result.termination is Termination.TIME_LIMIT


def test_a_longer_run_does_not_reuse_partial_items():
    problem = Coreference(communities(100, 3, noise=0.05, spread=0.1))
    assert solve(problem, stop=TimeLimit(0.0)).termination is Termination.TIME_LIMIT
    assert solve(problem).is_optimal
    assert solve(pickle.loads(pickle.dumps(problem))).is_optimal


# --- other problems --------------------------------------------------------------------------------------------------


class AtMost(Coreference):
    """At most ``most`` clusters, without a method of its own for initial solutions."""

    def __init__(self, instance, clusters, **how):
        super().__init__(instance, **how)
        self.clusters = clusters

    def master(self):
        rows = super().master()
        rows.add_variables("unused")
        rows.add_rows("count", terms={("unused", None): 1.0}, lower=self.clusters, upper=self.clusters)
        return rows

    def pricing(self):
        return Stages(
            *(Counted(oracle, self.clusters) for oracle in (GrowingClusters(self.items), ClusterILP(self.items)))
        )


class Counted(Pricing):
    def __init__(self, inner, most):
        self.inner, self.multiplicity = inner, most

    def price(self, duals, context):
        found, toll = self.inner.price(duals, context), duals["count"]
        columns = [Column(c.cost, {**c.coefficients, ("count", None): 1.0}, c.structure, c.key) for c in found.columns]
        bound = None if found.bound is None else found.bound - toll
        return PricingResult(columns, bound, [value - toll for value in found.reduced_costs or ()])


@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("seed", range(examples(2, 4)))
def test_rows_of_a_subclass_are_respected(seed, how):
    """No reductions, which would ignore these rows."""
    instance = random(7, seed, positive=0.5)
    for most in (1, 2, 3):
        result = solve(AtMost(instance, most, **how))
        assert result.is_optimal
        assert len(result.answer) <= most
        best = max(instance.objective(c) for c in partitions(7) if len(c) <= most)
        assert result.objective == pytest.approx(best)


class Small(Coreference):
    """Clusters of at most two mentions; only the oracle enforces this."""

    def pricing(self):
        return Pairs(self.items)


class Pairs(Pricing):
    def __init__(self, items):
        self.items = items

    def price(self, duals, context):
        n = len(self.items)
        values = duals["cover"]
        columns = [self.items.column({i, j}) for i in range(n) for j in range(i + 1)]
        columns = [column for column in columns if context.allows(column)]
        found = [context.cost_weight * c.cost - sum(values[k] for _, k in c.coefficients) for c in columns]
        best = int(np.argmax(found))
        return PricingResult([columns[best]], found[best], [found[best]], n * max(found[best], 0.0))


class Checked(Small):
    def check(self, answer):
        if max(map(len, answer)) > 2:
            raise ValueError("a cluster of more than two")
        return super().check(answer)


@pytest.mark.parametrize("kind", [Small, Checked])
@pytest.mark.parametrize("how", WAYS, ids=str)
def test_an_oracle_of_a_subclass_decides_what_a_cluster_is(how, kind):
    instance = communities(6, 0, num_communities=2, noise=0.0)
    result = solve(kind(instance, **how))
    assert result.is_optimal
    assert max(map(len, result.answer)) <= 2
    best = max(instance.objective(c) for c in partitions(6) if max(map(len, c)) <= 2)
    assert result.objective == pytest.approx(best)


class SamePricing(Coreference):
    plain = True

    def pricing(self):
        return ClusterSearch(self.items)


class NoLonger(SamePricing):
    def separation(self):
        return ()


def test_is_plain_depends_on_the_declaring_class():
    instance = random(7, 1)
    assert Coreference(instance).is_plain
    assert Alone(instance).is_plain
    assert SamePricing(instance).is_plain
    assert not AtMost(instance, 2).is_plain
    assert not Checked(instance).is_plain
    assert not NoLonger(instance).is_plain
    changed = Coreference(instance)
    changed.pricing = lambda: ClusterSearch(changed.items)
    assert not changed.is_plain
    assert len(AtMost(communities(60, 1, noise=0.0), 2).items) == 60
    assert len(SamePricing(communities(60, 1, noise=0.0)).items) == 0


def test_reductions_leave_time_for_their_verification(monkeypatch):
    """A reduction that used all the time left an infinite bound."""
    budget, problem = Budget(0.5), Coreference(random(12, 0))
    found = problem._find_items

    def patient(expired):
        while not expired():
            time.sleep(0.001)
        return found(expired)

    monkeypatch.setattr(problem, "_find_items", patient)
    problem._prepare(budget)
    assert budget.seconds_left > 0.0
