"""The theorem on items that some best clustering keeps together, against all partitions."""

import itertools
import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.solvers.clusters.contraction import _contract_once, contract, find_contractible, merge_scores
from tests.sweeps import seeds

SEEDS = seeds(90)


@cache
def partitions(n):
    """Every partition as labels, shape (partitions, n)."""
    rows = [[]]
    for _ in range(n):
        rows = [[*row, c] for row in rows for c in range(max(row, default=-1) + 2)]
    return np.array(rows, dtype=np.int64).reshape(len(rows), n)


def values(scores):
    """The score of every partition."""
    first, second = np.triu_indices(len(scores), 1)
    labels = partitions(len(scores))
    return (labels[:, first] == labels[:, second]) @ scores[first, second]


def best_of_all_and_of_those_that_keep(scores, groups):
    every, labels = values(scores), partitions(len(scores))
    keeps = np.ones(len(labels), dtype=bool)
    for i, j in itertools.combinations(range(len(scores)), 2):
        if groups[i] == groups[j]:
            keeps &= labels[:, i] == labels[:, j]
    return every.max(), every[keeps].max()


def draw(seed, most=7):
    """Scores of five kinds, and a clustering: the best one, any, or all in one."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, most + 1))
    member = rng.integers(0, 3, n)
    signs = np.where(member[:, None] == member, 1.0, -1.0) * np.where(rng.random((n, n)) < 0.1, -1.0, 1.0)
    scores = [
        rng.integers(-3, 4, (n, n)).astype(float),
        rng.normal(size=(n, n)),
        signs + 0.3 * rng.normal(size=(n, n)),
        rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.5),
        # Rows in proportion to each other but for some noise: here the weights matter.
        np.outer(rng.integers(1, 4, n), rng.normal(size=n)) + 0.2 * rng.normal(size=(n, n)) + 1.0,
    ][seed % 5]
    scores = np.triu(scores, 1)
    scores = scores + scores.T
    labels = [partitions(n)[values(scores).argmax()], rng.integers(0, n, n), np.zeros(n, dtype=np.int64)][seed // 5 % 3]
    return scores, labels


def condition(scores, weights, chosen):
    """The theorem's, by definition: for all A with at most half of the items."""
    mu = weights[chosen] / weights[chosen].sum()
    far = dict.fromkeys(chosen.tolist(), 0.0)
    for k in range(len(scores)):
        if k not in far:
            sum_ = sum(scores[v, k] for v in far)
            for u, share in zip(far, mu, strict=True):
                far[u] += abs(scores[u, k] - share * sum_)
    items = list(far)
    factor = 1.0 if len(items) == 2 else 0.5
    for size in range(1, len(items) // 2 + 1):
        for part in itertools.combinations(items, size):
            across = sum(scores[u, v] for u in part for v in items if v not in part)
            if factor * across < sum(far[u] for u in part) - 1e-9:
                return False
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_naive_some_best_partition_keeps_groups_together(seed):
    scores, labels = draw(seed)
    groups = contract(scores, labels)
    first = [groups.tolist().index(g) for g in range(groups.max() + 1)]
    assert first == sorted(first)  # numbered by their first items
    best, kept = best_of_all_and_of_those_that_keep(scores, groups)
    assert kept == pytest.approx(best, abs=1e-9)
    # The contracted instance, its optimum and the scores inside of groups add up to the same.
    smaller = merge_scores(scores, groups)
    inside = sum(scores[i, j] for i, j in itertools.combinations(range(len(scores)), 2) if groups[i] == groups[j])
    assert values(smaller).max() + inside == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_naive_weighted_sets_satisfy_the_condition(seed):
    scores, _ = draw(seed)
    n = len(scores)
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(10):
        items = np.sort(rng.choice(n, int(rng.integers(2, n + 1)), replace=False))
        weights = rng.integers(1, 5, n).astype(float)
        chosen = find_contractible(scores, weights, items, np.arange(n))
        if not len(chosen):
            continue
        found += 1
        assert len(chosen) >= 2
        assert set(chosen.tolist()) <= set(items.tolist())
        assert condition(scores, weights, chosen)
        groups = np.arange(n)
        groups[chosen] = chosen[0]
        best, kept = best_of_all_and_of_those_that_keep(scores, groups)
        assert kept == pytest.approx(best, abs=1e-9)
    if n == 2 and scores[0, 1] >= 0.0:
        assert found == 10


@pytest.mark.parametrize("seed", SEEDS)
def test_naive_one_round_with_weights(seed):
    """All sets and pairs of one round are kept together at once, for any weights."""
    scores, labels = draw(seed)
    weights = np.random.default_rng(seed).integers(1, 6, len(scores)).astype(float)
    groups = _contract_once(scores, weights, labels)
    best, kept = best_of_all_and_of_those_that_keep(scores, groups)
    assert kept == pytest.approx(best, abs=1e-9)


@given(st.integers(0, 10**7))
def test_the_theorem_where_its_condition_is_tight(seed):
    """Scores inside U raised until the condition holds, and no further."""
    rng = np.random.default_rng(seed)
    scores, _ = draw(seed)
    n = len(scores)
    if n < 3:
        return
    size = int(rng.integers(2, n))
    chosen = rng.choice(n, size, replace=False)
    mu = rng.dirichlet(np.full(size, rng.choice([0.2, 1.0, 5.0])))
    others = np.setdiff1d(np.arange(n), chosen)
    outside = scores[np.ix_(chosen, others)]
    far = np.abs(outside - mu[:, None] * outside.sum(axis=0)).sum(axis=1)
    inside = np.triu(rng.normal(size=(size, size)), 1)
    inside = inside + inside.T
    raised = -np.inf
    for count in range(1, size // 2 + 1):
        for part in itertools.combinations(range(size), count):
            rest = [k for k in range(size) if k not in part]
            needed = (1.0 if size == 2 else 2.0) * far[list(part)].sum() - inside[np.ix_(part, rest)].sum()
            raised = max(raised, needed / (len(part) * len(rest)))
    scores = scores.copy()
    scores[np.ix_(chosen, chosen)] = inside + raised
    np.fill_diagonal(scores, 0.0)
    groups = np.arange(n)
    groups[chosen] = chosen[0]
    best, kept = best_of_all_and_of_those_that_keep(scores, groups)
    assert kept == pytest.approx(best, abs=1e-9)


@given(st.integers(0, 10**7))
def test_any_instance(seed):
    scores, labels = draw(seed, most=8)
    best, kept = best_of_all_and_of_those_that_keep(scores, contract(scores, labels))
    assert kept == pytest.approx(best, abs=1e-9)


def test_other_components_do_not_count():
    """An item without positive scores prevents a contraction only if it is among the others."""
    scores = np.array([[0.0, 1.0, -9.0], [1.0, 0.0, 0.0], [-9.0, 0.0, 0.0]])
    one = np.ones(3)
    pair = np.array([0, 1])
    assert not len(find_contractible(scores, one, pair, np.arange(3)))
    assert find_contractible(scores, one, pair, pair).tolist() == [0, 1]
    assert contract(scores, np.arange(3)).tolist() == [0, 0, 1]


@pytest.mark.parametrize("seed", range(5))
def test_planted_clusters_are_contracted(seed):
    rng = np.random.default_rng(seed)
    member = np.sort(rng.permutation(np.arange(40) % 4))
    scores = np.where(member[:, None] == member, 1.0, -1.0) + 0.1 * rng.normal(size=(40, 40))
    scores = np.triu(scores, 1)
    groups = contract(scores + scores.T, member)
    assert groups.tolist() == member.tolist()
    # Without the clusters as a hint pairs alone are tested, and pairs of pairs.
    assert len(set(contract(scores + scores.T, np.arange(40)).tolist())) < 40


def test_groups_are_numbered_by_their_first_items():
    scores = -np.ones((5, 5))
    scores[0, 3] = scores[3, 0] = scores[1, 4] = scores[4, 1] = 9.0
    np.fill_diagonal(scores, 0.0)
    assert contract(scores, np.arange(5)).tolist() == [0, 1, 2, 0, 1]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_trivial_instances(n):
    every = np.ones((n, n)) - np.eye(n)
    assert contract(every, np.zeros(n, dtype=int)).tolist() == [0] * n
    assert contract(every, np.arange(n)).tolist() == [0] * n
    for scores in (-every, 0.0 * every):
        assert contract(scores, np.zeros(n, dtype=int)).tolist() == list(range(n))


def test_merged_scores():
    scores = np.arange(16.0).reshape(4, 4)
    scores = scores + scores.T
    np.fill_diagonal(scores, 0.0)
    assert merge_scores(scores, np.arange(4)) is scores
    assert merge_scores(scores, np.zeros(4, dtype=int)).tolist() == [[0.0]]
    groups = np.array([0, 1, 0, 2])
    small = merge_scores(scores, groups)
    for a, b in itertools.permutations(range(3), 2):
        assert small[a, b] == sum(scores[i, j] for i in range(4) for j in range(4) if (groups[i], groups[j]) == (a, b))
    assert small.diagonal().tolist() == [0.0] * 3


@pytest.mark.slow
def test_without_compilation():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "", "-k", "naive", __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
