"""Steps: their conclusions hold for any dual values, multipliers and groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.solvers.clusters import persistency
from colgen.solvers.clusters.persistency import contract_only, find_persistent
from colgen.solvers.clusters.steps import (
    Bounded,
    Contracted,
    Round,
    Settled,
    Stars,
    Triangles,
    UnprovedError,
    apply_step,
    apply_steps,
    initial_state,
    positive_sum,
    price_packing,
)
from colgen.solvers.stopping import never
from tests.solvers.clusters.test_dual_proof import matrices, partitions, score
from tests.solvers.clusters.test_star_dual import random_stars
from tests.sweeps import seeds
from tests.twins.coreference import symmetric


def best_of(scores):
    return max(score(scores, labels) for labels in partitions(len(scores)))


@pytest.fixture
def eager(monkeypatch):
    """Triangles are tried on small instances, and dual values settle only one and two items."""
    monkeypatch.setattr(persistency, "_SMALLEST_BOUNDED", 3)
    monkeypatch.setattr(persistency, "_LARGEST", 2)


def check_again(scores, left):
    """Applying the steps gives the same groups and bounds."""
    again = apply_steps(scores, left.steps, expired=never)[0]
    assert [group.tolist() for group in again.groups] == [group.tolist() for group in left.groups]
    assert (again.scores == left.scores).all()
    best = best_of(scores)
    assert again.bound >= best - 1e-9
    known = sum(score(scores[np.ix_(c, c)], np.zeros(len(c))) for c in left.settled)
    assert again.worth == pytest.approx(known, abs=1e-9)
    assert again.within.tolist() == pytest.approx([score(scores[np.ix_(g, g)], np.zeros(len(g))) for g in left.groups])
    if not left.groups:
        assert again.bound == pytest.approx(best, abs=1e-9)


@given(matrices(), st.integers(0, 3))
def test_applying_steps_proves_the_decisions(scores, seed):
    check_again(scores, find_persistent(scores, seed=seed))
    check_again(scores, contract_only(scores, seed=seed))


@pytest.mark.parametrize("factor", [1.0, 1e-8, 1e8])
@pytest.mark.parametrize("seed", seeds(30))
def test_applying_steps_proves_decisions_of_triangles(seed, factor, eager):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    values = rng.normal(size=n * (n - 1) // 2) if seed % 2 else rng.integers(-3, 4, n * (n - 1) // 2)
    scores = factor * symmetric(n, values)
    left = find_persistent(scores, smallest=2 if seed % 3 else 100)
    again = apply_steps(scores, left.steps, expired=never)[0]
    assert again.bound >= best_of(scores) - 1e-9 * factor
    assert (again.scores == left.scores).all()


@given(matrices(), st.integers(0, 10**6))
def test_any_dual_values_give_a_bound(scores, seed):
    rng = np.random.default_rng(seed)
    n = len(scores)
    duals = rng.normal(size=n)
    state = apply_step(initial_state(scores), Settled(np.arange(n), duals, 10**6))
    assert state.worth >= best_of(scores) - 1e-9
    assert state.worth == duals.sum() + price_packing(scores, duals, 10**6)
    best = max(score(scores - np.diag(2.0 * duals), labels) for labels in partitions(n))
    assert price_packing(scores, duals, 10**6) >= best - 1e-9


@given(matrices(), st.integers(0, 10**6))
def test_any_multipliers_and_clustering_keep_an_optimum(scores, seed):
    """Bad clusterings and multipliers decide less but keep an optimum."""
    rng = np.random.default_rng(seed)
    n = len(scores)
    triples = [(i, j, k) for i in range(n) for j in range(i + 1, n) for k in range(n) if k not in (i, j)]
    rows = np.array(
        [(i * n + j, min(i, k) * n + max(i, k), min(j, k) * n + max(j, k), k) for i, j, k in triples], dtype=np.int32
    ).reshape(-1, 4)
    multipliers = rng.exponential(0.3, len(rows)) * (rng.random(len(rows)) < 0.5)
    labels = np.array(rng.integers(0, n, n))
    state = apply_step(initial_state(scores), Bounded((Triangles(np.arange(n), rows, multipliers, labels),)))
    best = best_of(scores)
    assert state.bound >= best - 1e-9
    left = max(score(state.scores, labels) for labels in partitions(len(state.groups)))
    assert state.worth + state.within.sum() + left == pytest.approx(best, abs=1e-9)


@given(matrices(), st.integers(0, 10**6))
def test_any_stars_and_clustering_keep_an_optimum(scores, seed):
    rng = np.random.default_rng(seed)
    n = len(scores)
    if n < 3:
        return
    stars, multipliers = random_stars(n, rng)
    part = Stars(np.arange(n), stars, multipliers, np.array(rng.integers(0, n, n)))
    state = apply_step(initial_state(scores), Bounded((part,)))
    best = best_of(scores)
    assert state.bound >= best - 1e-9
    left = max(score(state.scores, labels) for labels in partitions(len(state.groups)))
    assert state.worth + state.within.sum() + left == pytest.approx(best, abs=1e-9)


@given(matrices(), st.integers(0, 10**6))
def test_groups_are_tested(scores, seed):
    rng = np.random.default_rng(seed)
    n = len(scores)
    groups = np.unique(rng.integers(0, n, n), return_inverse=True)[1]
    step = Contracted((Round(np.arange(n), groups),))
    try:
        state = apply_step(initial_state(scores), step)
    except UnprovedError:
        return
    left = max(score(state.scores, labels) for labels in partitions(len(state.groups)))
    assert state.within.sum() + left == pytest.approx(best_of(scores), abs=1e-9)


def test_invalid_steps_are_rejected():
    scores = symmetric(3, [1.0, -2.0, 1.0])
    with pytest.raises(UnprovedError, match="expected complete components"):
        apply_step(initial_state(scores), Settled(np.array([0]), np.zeros(1), 100))
    with pytest.raises(UnprovedError, match="does not pass the test"):
        apply_step(initial_state(scores), Contracted((Round(np.arange(3), np.array([0, 0, 0])),)))
    with pytest.raises(UnprovedError, match="exceeds 8 nodes"):
        apply_step(initial_state(symmetric(7, np.ones(21))), Settled(np.arange(7), np.zeros(7), 1))
    rows = np.array([[1, 2, 5, 1]], dtype=np.int32)
    wrong = Bounded((Triangles(np.arange(3), rows, np.ones(1), np.zeros(3, dtype=np.int64)),))
    with pytest.raises(ValueError, match="expected triangle inequalities"):
        apply_step(initial_state(scores), wrong)
    state, whole = apply_steps(scores, [Settled(np.arange(3), np.ones(3), 100)], expired=lambda: True)
    assert not whole
    assert state.bound == positive_sum(scores)


def test_initial_bound_is_the_sum_of_positive_scores():
    scores = symmetric(4, [1.0, -2.0, 3.0, -4.0, 5.0, -6.0])
    assert apply_steps(scores, (), expired=never)[0].bound == positive_sum(scores) == 9.0
