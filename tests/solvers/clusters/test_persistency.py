"""Reductions before column generation, against enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.solvers.clusters import persistency as kernel
from colgen.solvers.clusters.persistency import contract_only, find_persistent
from tests.solvers.clusters.test_dual_proof import matrices, partitions, score
from tests.sweeps import seeds
from tests.twins.coreference import symmetric


def whole(scores, left):
    """Return the best true score that the reductions allow: settled clusters, and any clustering of the groups."""
    n = len(scores)
    best = -np.inf
    for labels in partitions(len(left.groups)):
        clustering = np.full(n, -1)
        for number, cluster in enumerate(left.settled):
            clustering[cluster] = n + number
        for group, label in zip(left.groups, labels, strict=True):
            clustering[group] = label
        assert (clustering >= 0).all()
        best = max(best, score(scores, clustering))
    return best


def by_scores(scores, left):
    """Return the same from the scores of the groups, as column generation computes it."""
    known = sum(score(scores[np.ix_(c, c)], np.zeros(len(c))) for c in [*left.settled, *left.groups])
    return known + max(score(left.scores, labels) for labels in partitions(len(left.groups)))


def check(scores, left):
    items = sorted(int(i) for part in [*left.settled, *left.groups] for i in part)
    assert items == list(range(len(scores)))
    assert left.scores.shape == (len(left.groups), len(left.groups))
    assert (left.scores == left.scores.T).all()
    assert not left.scores.diagonal().any()
    assert len(left.start) == len(left.groups)
    best = max(score(scores, labels) for labels in partitions(len(scores)))
    assert whole(scores, left) == pytest.approx(best, abs=1e-9)
    assert by_scores(scores, left) == pytest.approx(best, abs=1e-9)


@pytest.fixture
def eager(monkeypatch):
    """Triangles are tried on small instances, and dual values settle nothing."""
    monkeypatch.setattr(kernel, "_SMALLEST_BOUNDED", 3)
    monkeypatch.setattr(kernel, "_LARGEST", 2)


@given(matrices(), st.integers(0, 3))
def test_the_optimum_stays(scores, seed):
    check(scores, find_persistent(scores, seed=seed))


@given(matrices())
def test_contraction_alone_settles_nothing(scores):
    left = contract_only(scores)
    assert not left.settled
    check(scores, left)


def test_groups_across_clusters_of_the_good_clustering_are_not_settled():
    """A pair passes the test that the good clustering has apart: its items are in one group, and nowhere else."""
    scores = symmetric(5, np.array([1.0, -1.0, 1.0, 1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0]))
    left = contract_only(scores)
    assert not left.settled
    assert sorted(map(len, left.groups)) == [1, 4]
    check(scores, left)


@pytest.mark.parametrize("seed", seeds(60))
def test_the_optimum_stays_with_triangles(seed, eager):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    values = rng.normal(size=n * (n - 1) // 2) if seed % 2 else rng.integers(-3, 4, n * (n - 1) // 2)
    scores = symmetric(n, values)
    check(scores, find_persistent(scores, smallest=2 if seed % 3 else 100))


def test_pairs_apart_are_known_where_not_all_is_decided(eager, monkeypatch):
    """Two pentagons with a fractional relaxation."""
    near = [(j - i) % 5 in (1, 4) for i in range(5) for j in range(i + 1, 5)]
    pentagon = symmetric(5, np.where(near, 1.0, -1.0))
    scores = np.full((8, 8), -5.0)
    scores[:5, :5] = pentagon
    scores[5:, 5:] = 9.0
    scores[0, 5] = scores[5, 0] = 0.5
    np.fill_diagonal(scores, 0.0)
    left = find_persistent(scores, smallest=100)
    check(scores, left)
    joined = {tuple(part.tolist()) for part in [*left.settled, *left.groups]}
    assert (5, 6, 7) in joined


def test_too_many_items_for_triangles_are_left(eager, monkeypatch):
    monkeypatch.setattr(kernel, "_LARGEST_BOUNDED", 5)
    scores = symmetric(7, np.random.default_rng(0).normal(size=21))
    left = find_persistent(scores, smallest=100)
    assert len(left.groups) == 7
    assert (left.scores == scores).all()


def test_a_seed_determines_the_decisions():
    rng = np.random.default_rng(2)
    scores = symmetric(40, rng.normal(size=780))
    first, second = (find_persistent(scores, seed=3) for _ in range(2))
    assert [g.tolist() for g in first.groups] == [g.tolist() for g in second.groups]
    assert first.start.tolist() == second.start.tolist()
    assert (first.scores == second.scores).all()
