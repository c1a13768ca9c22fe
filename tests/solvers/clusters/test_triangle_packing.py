"""Triangles tight at a clustering: bounds of their dual values, against enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.solvers.clusters.triangle_dual import recompute_bound
from colgen.solvers.clusters.triangle_packing import pack_triangles
from tests.solvers.clusters.test_dual_proof import matrices, partitions, score
from tests.twins.coreference import symmetric


def wrong(scores, labels):
    """Return the part of each score on the wrong side of zero."""
    same = np.equal.outer(labels, labels)
    return np.triu(np.maximum(np.where(same, -scores, scores), 0.0), 1)


@given(matrices(), st.data(), st.sampled_from([1.0, 1e-9, 1e9]))
def test_scores_left_on_the_wrong_side_are_the_gap(scores, data, scale):
    n = len(scores)
    scores = scale * scores
    labels = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)))
    rows, duals = pack_triangles(scores, labels)
    found = recompute_bound(scores, rows, duals, labels)  # which refuses rows that are no triangle inequalities
    assert (duals > 0.0).all()
    assert (np.diff(rows[:, 3]) >= 0).all()
    assert len(np.unique(rows, axis=0)) == len(rows)
    before, after = wrong(scores, labels), wrong(found.reduced, labels)
    rounding = 1e-12 * max(np.abs(scores).max(), 1e-300)
    assert (after <= before + rounding).all()  # no pair comes to the wrong side
    assert found.bound == pytest.approx(found.score + after.sum(), rel=1e-9, abs=100 * rounding)
    best = max(score(scores, labels) for labels in partitions(n))
    assert found.bound >= best - 100 * rounding


def test_rows_are_tight_at_the_clustering():
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(3), 5)
    scores = symmetric(15, rng.normal(size=105) + np.equal.outer(labels, labels)[np.triu_indices(15, 1)])
    rows, duals = pack_triangles(scores, labels)
    x = np.equal.outer(labels, labels).astype(float).ravel()
    assert len(duals)
    assert (x[rows[:, 1]] + x[rows[:, 2]] - x[rows[:, 0]] == 1.0).all()


def test_a_pair_that_is_parted_at_a_gain_is_paid_for():
    """Two triangles of 2, and 0.5 between one of each: two rows of a quarter, if each gives half of what it has."""
    scores = np.full((6, 6), -1.0)
    scores[:3, :3] = scores[3:, 3:] = 2.0
    scores[0, 3] = scores[3, 0] = 0.5
    np.fill_diagonal(scores, 0.0)
    labels = np.repeat([0, 1], 3)
    rows, duals = pack_triangles(scores, labels)
    assert duals.tolist() == [0.5]  # half of the 1 that the pair 3, 1 is below zero
    assert rows.tolist() == [[1 * 6 + 3, 0 * 6 + 1, 0 * 6 + 3, 0]]
    assert recompute_bound(scores, rows, duals, labels).closed


def test_a_pair_that_is_joined_at_a_loss_is_paid_for():
    scores = symmetric(3, [-1.0, 2.0, 2.0])
    rows, duals = pack_triangles(scores, np.zeros(3, dtype=np.int64))
    assert rows.tolist() == [[0 * 3 + 1, 0 * 3 + 2, 1 * 3 + 2, 2]]
    assert duals.tolist() == [1.0]
    assert recompute_bound(scores, rows, duals, np.zeros(3, dtype=np.int64)).closed


def test_many_rows():
    """More than there is room for at first."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 40)
    same = np.equal.outer(labels, labels)[np.triu_indices(160, 1)]
    scores = symmetric(160, rng.normal(size=160 * 159 // 2) + np.where(same, 1.0, -1.0))
    rows, duals = pack_triangles(scores, labels)
    assert len(rows) > 1024
    found = recompute_bound(scores, rows, duals, labels)
    assert found.bound == pytest.approx(found.score + wrong(found.reduced, labels).sum())
    assert wrong(found.reduced, labels).sum() < 0.1 * wrong(scores, labels).sum()
