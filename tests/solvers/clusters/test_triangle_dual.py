"""Dual values of triangle inequalities: the bound against enumeration and HiGHS, and every decision against both."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from colgen.solvers.clusters import triangle_dual as kernel
from colgen.solvers.clusters.clustering import local_search
from colgen.solvers.clusters.triangle_dual import TriangleBound, keep_apart, recompute_bound, triangle_bound
from tests.solvers.clusters.test_dual_proof import matrices, partitions, score
from tests.twins.coreference import symmetric


def relaxed(scores):
    """The optimum of the all-link relaxation with all triangle inequalities."""
    n = len(scores)
    pairs = list(itertools.combinations(range(n), 2))
    number = {pair: k for k, pair in enumerate(pairs)}
    rows = []
    for i, j in pairs:
        for k in set(range(n)) - {i, j}:
            row = np.zeros(len(pairs))
            row[[number[min(i, k), max(i, k)], number[min(j, k), max(j, k)]]] = 1.0
            row[number[i, j]] = -1.0
            rows.append(row)
    costs = np.array([-scores[pair] for pair in pairs])
    return -linprog(costs, A_ub=np.array(rows), b_ub=np.ones(len(rows)), bounds=(0, 1)).fun


def bound_from_scratch(scores, reduced):
    """Return the bound of reduced scores, without using the dual values."""
    n = len(scores)
    # Σ over pairs of w - r is Σ λ, for a row has the coefficients 1, 1, -1.
    return float(np.triu(scores - reduced, 1).sum() + np.triu(np.maximum(reduced, 0.0), 1).sum()) if n > 1 else 0.0


@given(matrices())
def test_bound_and_decisions_hold_for_every_clustering(scores):
    found = triangle_bound(scores, np.arange(len(scores)))
    assert (found.reduced == found.reduced.T).all()
    assert found.score == pytest.approx(score(scores, found.labels), abs=1e-9)
    assert found.bound == pytest.approx(bound_from_scratch(scores, found.reduced), abs=1e-6)
    groups, apart = found.together, found.apart
    for labels in partitions(len(scores)):
        worth = score(scores, labels)
        assert worth <= found.bound + 1e-9
        if found.closed:
            assert worth <= found.score + 1e-9
        if worth >= found.score:  # at least as good as the best known: the decisions apply to it
            same = np.equal.outer(labels, labels)
            assert same[np.equal.outer(groups, groups)].all()
            assert not (same & apart).any()


@given(matrices())
def test_pairs_that_are_apart_leave_the_optimum_as_it_is(scores):
    found = triangle_bound(scores, np.arange(len(scores)))
    changed = keep_apart(scores, found.apart)
    assert (changed == changed.T).all()
    assert (changed <= scores).all()
    assert (changed[~found.apart] == scores[~found.apart]).all()
    best = max(score(scores, labels) for labels in partitions(len(scores)))
    assert max(score(changed, labels) for labels in partitions(len(scores))) == pytest.approx(best, abs=1e-9)


@given(matrices(), st.data())
def test_any_two_kept_apart_lose_nothing_by_parting(scores, data):
    """Some best clustering of the changed scores has each such pair apart."""
    n = len(scores)
    chosen = np.triu(np.array(data.draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))).reshape(n, n), 1)
    apart = chosen | chosen.T
    changed = keep_apart(scores, apart)
    best = max(score(changed, labels) for labels in partitions(n))
    legal = [labels for labels in partitions(n) if not (np.equal.outer(labels, labels) & apart).any()]
    assert max(score(scores, labels) for labels in legal) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_the_ascent_comes_near_the_relaxation(seed, monkeypatch):
    monkeypatch.setattr(kernel, "_ENOUGH", 0.0)
    monkeypatch.setattr(kernel, "_STALLED", 0.0)
    monkeypatch.setattr(kernel, "_SWEEPS", 100)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 11))
    scores = symmetric(n, rng.normal(size=n * (n - 1) // 2) * 10.0 ** rng.uniform(-1, 1, n * (n - 1) // 2))
    optimum = relaxed(scores)
    found = triangle_bound(scores, np.arange(n))
    assert optimum - 1e-7 <= found.bound <= optimum + 0.01 * np.abs(scores).max()
    _, best = local_search(scores, np.arange(n), kicks=200)
    if best < optimum - 0.05 * np.abs(scores).max():
        assert not found.closed


def test_a_planted_clustering_is_proved():
    rng = np.random.default_rng(5)
    planted = np.repeat(np.arange(4), 10)
    signs = np.where(planted[:, None] == planted, 1.0, -1.0)
    scores = symmetric(40, (signs + 0.5 * rng.normal(size=signs.shape))[np.triu_indices(40, 1)])
    found = triangle_bound(scores, np.arange(40))
    if not found.closed:  # or all but
        assert len(set(found.together.tolist())) < 20
    assert found.labels.tolist() == planted.tolist()


def violations(pairs, rows):
    """Return the violation of each row at the x of the reduced scores, recomputed."""
    n = len(pairs)
    x = np.clip(0.5 + pairs[:, :, 0] * pairs[:, :, 1], 0.0, 1.0).reshape(n * n)
    return np.array([x[b] + x[c] - x[a] - 1.0 for a, b, c in rows])


def of_item(n, k):
    for i, j in itertools.combinations(sorted(set(range(n)) - {k}), 2):
        yield i * n + j, min(i, k) * n + max(i, k), min(j, k) * n + max(j, k)


def all_rows(n):
    for k in range(n):
        yield from of_item(n, k)


@pytest.mark.parametrize("n", [3, 5, 9, 30])
def test_rows_that_are_kept_are_all_that_count(n):
    """Gathering and sweeping come to the optimum of the rounded bound over all rows: its conditions hold."""
    rng = np.random.default_rng(n)
    scores = symmetric(n, rng.normal(size=n * (n - 1) // 2))
    pairs = np.stack([scores, np.full((n, n), 2.0)], axis=2)
    rows, duals = np.empty((0, 4), dtype=np.int32), np.empty(0)
    for _ in range(60 if n < 30 else 12):
        rows, duals, _ = kernel._gather(pairs, rows, duals, 0, n)
        kernel._sweep(pairs.reshape(n * n, 2), rows, duals, 20)
    assert (duals >= 0.0).all()
    assert (np.diff(rows[:, 3]) >= 0).all()
    assert len({tuple(row) for row in rows.tolist()}) == len(rows)
    assert {tuple(row) for row in rows[:, :3].tolist()} <= set(all_rows(n))
    upper = np.triu_indices(n, 1)
    assert pairs[:, :, 0][upper] == pytest.approx(kernel._compute_reduced(scores, rows, duals)[upper], abs=1e-9)
    assert violations(pairs, list(all_rows(n))).max() <= 0.02
    if (duals > 0.0).any():
        assert np.abs(violations(pairs, rows[duals > 0.0, :3])).max() <= 0.02


def test_a_row_that_is_gathered_moves_by_its_violation():
    scores = symmetric(3, [3.0, 3.0, -3.0])
    pairs = np.stack([scores, np.full((3, 3), 0.1)], axis=2)
    rows, duals, looked = kernel._gather(pairs, np.empty((0, 4), dtype=np.int32), np.empty(0), 0, 3)
    assert rows.tolist() == [[5, 1, 2, 0]]  # closed by the pair 1, 2, over item 0: 0.8 + 0.8 - 0.2 - 1 = 0.4
    assert duals.tolist() == pytest.approx([1.5 * 0.4 / 0.3])
    assert looked == 3
    assert pairs[0, 1, 0] == pairs[0, 2, 0] == pytest.approx(1.0)
    assert pairs[1, 2, 0] == pytest.approx(-1.0)


@pytest.mark.parametrize("visits", [0, 1, 10_000])
def test_a_limit_leaves_a_valid_bound(visits):
    scores = symmetric(7, np.random.default_rng(1).normal(size=21))
    found = triangle_bound(scores, np.arange(7), visits=visits)
    best = max(score(scores, labels) for labels in partitions(7))
    assert found.score <= best + 1e-9
    assert found.bound >= best - 1e-9
    if not visits:
        assert found.bound <= np.maximum(np.triu(scores, 1), 0.0).sum()
        assert found.bound == pytest.approx(bound_from_scratch(scores, found.reduced))


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("value", [-1.0, 0.0, 2.0])
def test_one_and_two_items(n, value):
    found = triangle_bound(symmetric(n, [value] * (n - 1)), np.arange(n))
    assert found.bound == found.score == (max(value, 0.0) if n == 2 else 0.0)
    assert found.closed


def proves_at(score, reduced):
    """Reduced scores of a bound of 5."""
    n = len(reduced)
    return TriangleBound(5.0, np.arange(n), score, reduced, np.empty((0, 4), dtype=np.int32), np.empty(0))


def test_decisions_leave_a_margin():
    """A pair whose reduced score is just the gap decides nothing."""
    reduced = symmetric(3, [-1.0, -1.0, 1.5])
    found = proves_at(4.0, reduced)
    assert not found.closed
    assert found.together.tolist() == [0, 1, 1]
    assert found.apart.tolist() == [[False, True, True], [True, False, False], [True, False, False]]
    assert not proves_at(3.0, reduced).apart.any()  # of 2 in all
    assert proves_at(3.0, reduced).together.tolist() == [0, 1, 2]
    assert proves_at(5.0, reduced).closed


def test_losses_of_many_pairs_add_up():
    """Parting four items loses at least 3 of the bound, and joining two such groups 16 times 0.2."""
    reduced = np.full((8, 8), -0.2)
    reduced[:4, :4] = reduced[4:, 4:] = 1.0
    np.fill_diagonal(reduced, 0.0)
    found = proves_at(2.1, reduced)
    assert found.together.tolist() == [0] * 4 + [1] * 4
    assert (found.apart == ~np.equal.outer(found.together, found.together)).all()
    assert proves_at(2.0, reduced).together.tolist() == list(range(8))
    assert not proves_at(2.0, reduced).apart.any()


@given(matrices(), st.data())
def test_decisions_hold_for_any_dual_values(scores, data):
    """For every clustering that scores as much as the given one, at any gap."""
    n = len(scores)
    labels = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)))
    rows = np.array([[*row, k] for k in range(n) for row in of_item(n, k)], dtype=np.int32).reshape(-1, 4)
    drawn = data.draw(st.lists(st.sampled_from([0.0, 0.0, 0.1, 0.5, 1.0]), min_size=len(rows), max_size=len(rows)))
    found = recompute_bound(scores, rows, np.array(drawn), labels)
    groups, apart = found.decisions
    for other in partitions(n):
        if score(scores, other) >= found.score:
            same = np.equal.outer(other, other)
            assert same[np.equal.outer(groups, groups)].all()
            assert not (same & apart).any()
