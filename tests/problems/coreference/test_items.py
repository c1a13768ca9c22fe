"""Mentions, groups of mentions, and both under branching decisions."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.core.decision import Apart, Together
from colgen.problems.coreference import CoreferenceInstance, Items, communities
from colgen.problems.coreference.items import COVER, Contraction
from tests.problems.coreference.strategies import instances
from tests.sweeps import seeds
from tests.twins.coreference import optimum, partitions, subsets, symmetric


def pair(kind, i, j):
    return kind((COVER, i), (COVER, j))


def single(scores):
    return Items.of(CoreferenceInstance(np.asarray(scores, dtype=float)), joined=False, contracted=False)


@given(instances(), st.booleans(), st.booleans())
def test_items_cover_every_mention_once(instance, contracted, settled):
    items = Items.of(instance, contracted=contracted, settled=settled)
    known = [i for cluster in items.settled for i in cluster]
    assert sorted([*known, *(i for group in items.groups for i in group)]) == list(range(instance.num_mentions))
    assert items.constant == pytest.approx(instance.objective(items.settled), abs=1e-9)
    assert not (known and not settled)
    assert list(items.groups) == sorted(items.groups)
    assert len(items.start) == len(items)
    if not contracted:
        assert items.groups == tuple((i,) for i in range(instance.num_mentions))
        assert (items.scores == instance.scores).all()
        assert not items.within.any()
    for members in subsets(len(items)):
        column = items.column(members)
        assert column.structure == tuple(sorted(i for k in members for i in items.groups[k]))
        assert column.cost == pytest.approx(instance.objective([column.structure]), abs=1e-9)
    # One of the clusterings that keep the items together is best.
    best = max(sum(items.column(c).cost for c in clustering) for clustering in partitions(len(items)))
    assert items.constant + best == pytest.approx(optimum(instance), abs=1e-9)


@given(instances(), st.booleans(), st.booleans())
def test_the_good_clustering_is_a_clustering(instance, contracted, settled):
    items = Items.of(instance, contracted=contracted, settled=settled)
    clusters = [cluster.tolist() for cluster in items.clustering()]
    assert sorted(k for cluster in clusters for k in cluster) == list(range(len(items)))
    assert all(clusters)
    answer = [items.column(cluster).structure for cluster in clusters]
    assert instance.check([*items.settled, *answer]) >= -1e-9  # at least as good as singletons


def test_items_are_determined_by_the_seed():
    instance = communities(40, 1, noise=0.2)
    first, second = (Items.of(instance, settled=False, seed=5) for _ in range(2))
    assert first.groups == second.groups
    assert first.start.tolist() == second.start.tolist()


def allowed(decisions, members):
    """Return whether decisions allow a set of items, by their definition."""
    for decision in decisions:
        i, j = decision.first[1], decision.second[1]
        both, one = i in members and j in members, (i in members) != (j in members)
        if one if isinstance(decision, Together) else both:
            return False
    return True


@pytest.mark.parametrize("seed", seeds(60))
def test_contraction_contains_all_allowed_clusters(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    items = single(symmetric(n, rng.integers(-3, 4, n * (n - 1) // 2)))
    decisions = [
        pair(Together if rng.random() < 0.5 else Apart, *map(int, rng.choice(n, 2, replace=False)))
        for _ in range(int(rng.integers(0, 5)))
    ]
    absent = [k for k in range(n) if rng.random() < 0.15]
    contraction = Contraction(items, decisions, absent)
    duals = rng.normal(size=n)
    weight = float(seed % 2)
    scores, profits = contraction.price_items(duals, weight)
    assert (scores == scores.T).all()
    assert not scores.diagonal().any()
    here = len(contraction.groups)
    assert len(profits) == here
    good = {}
    for members in itertools.chain([()], subsets(here)):
        chosen = list(members)
        value = 0.5 * scores[np.ix_(chosen, chosen)].sum() + profits[chosen].sum()
        inside = {k for g in chosen for k in contraction.groups[g].tolist()}
        if allowed(decisions, inside):
            cost = items.column(inside).cost if inside else 0.0
            assert contraction.are_allowed(np.isin(np.arange(here), chosen)[None, :])[0]
            assert value == pytest.approx(weight * cost - sum(duals[k] for k in inside), abs=1e-9)
            good[frozenset(inside)] = value
        else:
            assert not contraction.are_allowed(np.isin(np.arange(here), chosen)[None, :])[0]
            better = [[k for k in chosen if k != g] for g in chosen]
            values = [0.5 * scores[np.ix_(rest, rest)].sum() + profits[rest].sum() for rest in better]
            assert max(values) > value  # as low as necessary to separate the pair
    wanted = [set(m) for m in subsets(n) if allowed(decisions, set(m)) and not set(m) & set(absent)]
    assert {frozenset(m) for m in wanted} == set(good) - {frozenset()}
    # Removing an item that the decisions separate from the others improves any forbidden set.
    columns = contraction.columns(np.eye(here, dtype=bool))
    assert [c.structure for c in columns] == [tuple(group.tolist()) for group in contraction.groups]


def test_chains_of_items_together():
    items = single(symmetric(5, np.arange(10.0)))
    contraction = Contraction(items, [pair(Together, 0, 1), pair(Together, 3, 4), pair(Together, 1, 3)])
    assert [group.tolist() for group in contraction.groups] == [[0, 1, 3, 4], [2]]
    assert contraction.within.tolist() == [items.column((0, 1, 3, 4)).cost, 0.0]
    assert contraction.scores[0, 1] == sum(items.scores[2, k] for k in (0, 1, 3, 4))


def test_contradictory_items_are_in_no_cluster():
    items = single(symmetric(4, np.ones(6)))
    decisions = [pair(Together, 0, 1), pair(Together, 1, 2), pair(Apart, 0, 2), pair(Apart, 2, 3)]
    contraction = Contraction(items, decisions)
    assert [group.tolist() for group in contraction.groups] == [[3]]
    assert contraction.apart is None


def test_groups_with_absent_items_are_dropped():
    items = single(symmetric(4, np.ones(6)))
    contraction = Contraction(items, [pair(Together, 0, 1)], absent=[1])
    assert [group.tolist() for group in contraction.groups] == [[2], [3]]
    nothing = Contraction(items, [], absent=range(4))
    assert nothing.groups == []
    scores, profits = nothing.price_items(np.ones(4), 1.0)
    assert scores.shape == (0, 0)
    assert profits.shape == (0,)
    assert nothing.columns(np.empty((0, 0), dtype=bool)) == []


def test_price_items_does_not_change_the_items():
    items = single(symmetric(4, np.ones(6)))
    before = items.scores.copy()
    contraction = Contraction(items, [pair(Apart, 0, 1)])
    contraction.price_items(np.zeros(4), 1.0)
    contraction.price_items(np.zeros(4), 0.0)
    assert (items.scores == before).all()
    assert (contraction.scores == before).all()


def test_scores_that_cancel_out_give_zero():
    """A cost of 5e-17 among costs of zero would determine the scale of the program."""
    items = single(symmetric(3, [0.1, 0.2, -0.3]))
    assert sum((0.1, 0.2, -0.3)) != 0.0
    assert items.column((0, 1, 2)).cost == 0.0
    tiny = single(symmetric(3, [1e-17, 1.0, -1.0]))
    assert tiny.column((0, 1)).cost == 1e-17


@given(instances(), st.booleans())
def test_neighbour_columns_have_the_costs_of_their_items(instance, contracted):
    """Costs updated from another cluster equal those of a new sum."""
    items = Items.of(instance, contracted=contracted, settled=False)
    for column in items.neighbour_columns():
        chosen = [k for _, k in column.coefficients]
        assert chosen == sorted(chosen)
        whole = items.column(chosen)
        assert column.identity[0] == whole.identity[0]
        assert column.structure == whole.structure
        assert column.cost == pytest.approx(whole.cost, abs=1e-12)
        assert (column.cost == 0.0) == (whole.cost == 0.0)
