"""Three oracles of one pricing problem, compared with enumeration of all clusters."""

import math
import time

import numpy as np
import pytest

from colgen import Column, PricingContext, Sense
from colgen.core.decision import Apart, Together
from colgen.core.duals import Duals, RowNames
from colgen.problems.coreference import ClusterILP, ClusterSearch, CoreferenceInstance, GrowingClusters, Items
from colgen.problems.coreference.items import COVER
from tests.sweeps import seeds
from tests.twins.coreference import partitions, subsets, symmetric

ORACLES = [GrowingClusters, ClusterSearch, ClusterILP]
EXACT = [ClusterSearch, ClusterILP]
SEEDS = seeds(40)


def as_duals(values):
    names = RowNames()
    for k in range(len(values)):
        names.append((COVER, k))
    return Duals(np.asarray(values, dtype=float), names)


def draw(seed):
    """Return items, dual values of any sign, and the context of a random node."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    scores = rng.integers(-3, 4, n * (n - 1) // 2) if seed % 2 else rng.normal(size=n * (n - 1) // 2)
    items = Items.of(CoreferenceInstance(symmetric(n, scores)), contracted=seed % 3 == 0, settled=False)
    n = len(items)
    half = 0.5 * items.scores.sum(axis=1) + items.within
    duals = [rng.normal(size=n), rng.integers(-2, 3, n).astype(float), half][seed // 2 % 3]
    decisions = []
    for _ in range(int(rng.integers(0, 4)) if n > 1 else 0):
        first, second = ((COVER, int(k)) for k in rng.choice(n, 2, replace=False))
        decisions.append(Together(first, second) if rng.random() < 0.5 else Apart(first, second))
    weight = 0.0 if seed % 5 == 4 else 1.0
    return items, duals, PricingContext(Sense.MAXIMIZE, cost_weight=weight, decisions=tuple(decisions))


def reduced_costs(items, duals, context):
    """Return the reduced costs of all clusters that the node allows."""
    columns = [items.column(members) for members in subsets(len(items))]
    costs = {c.identity: context.cost_weight * c.cost - sum(duals[k] for _, k in c.coefficients) for c in columns}
    return {c.identity: costs[c.identity] for c in columns if context.allows(c)}


def best_total(items, duals, context):
    """Return the largest sum of reduced costs of a clustering that the node allows."""
    value = reduced_costs(items, duals, context)
    totals = [-math.inf]
    for clustering in partitions(len(items)):
        identities = [items.column(members).identity for members in clustering]
        if all(identity in value for identity in identities):
            totals.append(sum(value[identity] for identity in identities))
    return max(totals)


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("seed", SEEDS)
def test_columns_are_allowed_and_reduced_costs_correct(oracle, seed):
    items, duals, context = draw(seed)
    known = reduced_costs(items, duals, context)
    result = oracle(items).price(as_duals(duals), context)
    for column, stated in zip(result.columns, result.reduced_costs or (), strict=True):
        assert known[column.identity] == pytest.approx(stated, abs=1e-7)
    for column in result.columns:
        assert context.allows(column)


@pytest.mark.parametrize("oracle", EXACT)
@pytest.mark.parametrize("seed", SEEDS)
def test_exact_oracles_find_the_best_and_prove_it(oracle, seed):
    items, duals, context = draw(seed)
    known = reduced_costs(items, duals, context)
    best = max([0.0, *known.values()])
    result = oracle(items).price(as_duals(duals), context)
    assert result.bound >= best - 1e-7
    assert result.total >= best_total(items, duals, context) - 1e-7
    if best > 1e-6:
        found = [known[c.identity] for c in result.columns]
        if oracle is ClusterILP:
            assert max(found) == pytest.approx(best, abs=1e-7)
        else:  # a cluster whose parts improve separately is found in parts
            assert context.improves(max(found))
            assert max(found) <= best + 1e-9
            assert sum(found) >= best - 1e-7
    else:
        assert not context.improves(result.bound)
        assert not context.improves(result.total / max(len(items), 1))


@pytest.mark.parametrize("seed", SEEDS)
def test_growing_improves_and_proves_no_more_than_the_positive_scores(seed):
    items, duals, context = draw(seed)
    result = GrowingClusters(items, columns=3).price(as_duals(duals), context)
    assert result.bound is None
    if context.cost_weight == 0.0:
        assert result.total is None
    else:
        assert result.total >= best_total(items, duals, context) - 1e-7
    assert len(result.columns) <= 3
    assert len({c.identity for c in result.columns}) == len(result.columns)
    assert all(context.improves(value) for value in result.reduced_costs or ())


@pytest.mark.parametrize("oracle", ORACLES)
def test_oracles_update_the_node(oracle):
    items, duals, _ = draw(6)
    pricing = oracle(items)
    for seed in (6, 12, 18, 6):
        rng = np.random.default_rng(seed)
        first, second = ((COVER, int(k)) for k in rng.choice(len(items), 2, replace=False))
        decision = [Together(first, second), Apart(first, second)][seed // 6 % 2]
        context = PricingContext(Sense.MAXIMIZE, decisions=(decision,))
        again, fresh = (o.price(as_duals(duals), context) for o in (pricing, oracle(items)))
        assert [c.identity for c in again.columns] == [c.identity for c in fresh.columns]
        assert again.bound == fresh.bound


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("seed", range(0, 40, 4))
def test_clusters_in_a_dive_exclude_covered_items(oracle, seed):
    items, duals, context = draw(seed)
    fixed = items.column(range(0, len(items), 2))
    context = PricingContext(Sense.MAXIMIZE, fixed=((fixed, 1.0),))
    result = oracle(items).price(as_duals(duals), context)
    assert result.bound is None
    assert result.total is None
    for column in result.columns:
        assert not set(column.coefficients) & set(fixed.coefficients)


@pytest.mark.parametrize("oracle", ORACLES)
def test_a_contradictory_node_has_no_columns(oracle):
    items = Items.of(CoreferenceInstance(symmetric(2, [1.0])), contracted=False)
    pair = ((COVER, 0), (COVER, 1))
    context = PricingContext(Sense.MAXIMIZE, decisions=(Together(*pair), Apart(*pair)))
    result = oracle(items).price(as_duals([-1.0, -1.0]), context)
    assert not result.columns
    if oracle is not GrowingClusters:
        assert result.bound == 0.0
        assert result.total == 0.0


@pytest.mark.parametrize("oracle", EXACT)
def test_bounds_hold_without_any_time(oracle):
    items, duals, _ = draw(3)
    context = PricingContext(Sense.MAXIMIZE, deadline=time.monotonic() - 1.0)
    result = oracle(items).price(as_duals(duals), context)
    known = reduced_costs(items, duals, context)
    for bound in (result.bound, result.total):
        assert bound is None or bound >= max([0.0, *known.values()]) - 1e-7


def test_a_provisional_search_may_give_up(monkeypatch):
    monkeypatch.setattr("colgen.problems.coreference.pricing._MAX_NODES", 1)
    rng = np.random.default_rng(2)
    items = Items.of(CoreferenceInstance(symmetric(12, rng.choice([-1.0, 1.0], 66))), contracted=False)
    duals = 0.6 * np.maximum(items.scores, 0.0).sum(axis=1)  # slightly more than any cluster is worth
    results = [
        ClusterSearch(items).price(as_duals(duals - shift), PricingContext(Sense.MAXIMIZE, provisional=provisional))
        for shift in (0.0, 0.5, 1.0)
        for provisional in (False, True)
    ]
    for exact, hasty in zip(results[::2], results[1::2], strict=True):
        best = max(exact.reduced_costs, default=0.0)
        assert hasty.bound >= best
        assert hasty.bound >= max(hasty.reduced_costs, default=0.0)


def test_rounding_of_large_scores_is_not_an_improvement():
    """A reduced cost due to rounding of a large cost must not prevent the proof."""
    items = Items.of(CoreferenceInstance(symmetric(3, [1e8, -1e8, 1e8])), contracted=False)
    duals = items.scores.sum(axis=1) / 2
    priced = GrowingClusters(items).price(as_duals(duals - 0.1), PricingContext(Sense.MAXIMIZE))
    assert not priced.columns
    assert not priced.reduced_costs


@pytest.mark.parametrize("contracted", [True, False])
def test_a_column_is_a_cluster_of_mentions(contracted):
    instance = CoreferenceInstance(symmetric(4, [5.0, -1.0, -1.0, -1.0, 1.0, 2.0]))
    items = Items.of(instance, contracted=contracted, settled=False)
    for members in subsets(len(items)):
        column = items.column(members)
        assert isinstance(column, Column)
        assert column.cost == pytest.approx(instance.objective([column.structure]))
        assert math.isinf(column.upper)
        assert list(column.coefficients) == [(COVER, k) for k in members]


def test_a_long_search_is_preceded_by_a_tabu_search(monkeypatch):
    """With or without the tabu search, the oracle returns improving clusters while there are any, and then the
    proof.
    """
    monkeypatch.setattr("colgen.problems.coreference.pricing.SHORT", 1)
    rng = np.random.default_rng(3)
    items = Items.of(CoreferenceInstance(symmetric(12, rng.choice([-1.0, 1.0], 66))), contracted=False)
    attracted = 0.5 * np.maximum(items.scores, 0.0).sum(axis=1)
    oracle, context = ClusterSearch(items), PricingContext(Sense.MAXIMIZE)
    for share in (0.5, 0.5, 2.0, 0.5):
        result = oracle.price(as_duals(share * attracted), context)
        best = max(reduced_costs(items, share * attracted, context).values(), default=0.0)
        assert max(result.reduced_costs, default=0.0) == pytest.approx(max(best, 0.0), abs=1e-9)
        assert (result.bound is None) == bool(result.columns)
        assert result.bound is None or result.bound >= best - 1e-9


def test_a_cluster_that_the_master_holds_does_not_end_the_proof(monkeypatch):
    """At dual values that are optimal up to rounding, clusters of the master seem to improve it."""
    monkeypatch.setattr("colgen.problems.coreference.pricing.SHORT", 1)
    monkeypatch.setattr("colgen.problems.coreference.pricing._MAX_NODES", 1)
    items = Items.of(CoreferenceInstance(symmetric(12, [1.0] * 66)), contracted=False)
    everything = items.column(range(12))
    duals = np.full(12, 5.5 - 1e-6)  # the cluster of all mentions improves by 1.2e-5
    context = PricingContext(
        Sense.MAXIMIZE,
        find=lambda columns: np.array([0 if column.identity == everything.identity else -1 for column in columns]),
    )
    result = ClusterSearch(items).price(as_duals(duals), context)
    assert result.bound == pytest.approx(1.2e-5, abs=1e-9)
