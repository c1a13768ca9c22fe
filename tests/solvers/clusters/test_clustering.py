"""Local search for clusterings against naive Python and all partitions."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.solvers.clusters.clustering import local_search
from tests.sweeps import seeds

SEEDS = seeds(60)


def draw(seed, most=8):
    """Scores of any kind, and a partition to start from whose clusters are numbered with gaps."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most + 1))
    scores = [
        rng.integers(-3, 4, (n, n)).astype(float),  # ties
        rng.normal(size=(n, n)),
        rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.4),
    ][seed % 3]
    scores = np.triu(scores, 1)
    return scores + scores.T, rng.integers(0, n, n)


def score(scores, labels):
    n = len(labels)
    return sum(scores[i, j] for i in range(n) for j in range(i + 1, n) if labels[i] == labels[j])


def labellings(n, first=()):
    """Every partition, as labels numbered by their first items."""
    if len(first) == n:
        yield first
        return
    for c in range(max(first, default=-1) + 2):
        yield from labellings(n, (*first, c))


@pytest.mark.parametrize("seed", SEEDS)
def test_naive_score_and_numbers(seed):
    scores, start = draw(seed)
    labels, value = local_search(scores, start, kicks=seed % 4, seed=seed)
    assert value == pytest.approx(score(scores, labels), abs=1e-12)
    assert value >= score(scores, start) - 1e-8
    first = [labels.tolist().index(c) for c in range(labels.max() + 1)]
    assert first == sorted(first)  # no number is left out, and they are in the order of first items


@pytest.mark.parametrize("kicks", [0, 12])
@pytest.mark.parametrize("seed", SEEDS)
def test_naive_no_single_move_and_no_join_gains(seed, kicks):
    """Also after kicks, which skip moves that did not gain before."""
    scores, start = draw(seed)
    labels, value = local_search(scores, start, kicks=kicks, seed=seed)
    clusters = range(labels.max() + 1)
    for item in range(len(labels)):
        for c in [*clusters, len(clusters)]:
            moved = labels.copy()
            moved[item] = c
            assert score(scores, moved) <= value + 1e-7
    for c in clusters:
        for d in clusters:
            assert score(scores, np.where(labels == c, d, labels)) <= value + 1e-7


@pytest.mark.parametrize("seed", range(20))
def test_naive_kicks_find_the_best_partition(seed):
    scores, start = draw(seed, most=6)
    _, value = local_search(scores, start, kicks=300, seed=1)
    best = max(score(scores, labels) for labels in labellings(len(scores)))
    assert value == pytest.approx(best, abs=1e-9)


@given(st.integers(0, 10**6), st.integers(0, 20), st.sampled_from([1e-6, 1.0, 1e6]))
def test_kicks_lose_nothing_at_any_scale(seed, kicks, scale):
    scores, start = draw(seed)
    scores = scores * scale
    _, before = local_search(scores, start, seed=seed)
    labels, after = local_search(scores, start, kicks=kicks, seed=seed)
    assert after >= score(scores, start) - 1e-7 * scale
    assert after == pytest.approx(score(scores, labels), abs=1e-9 * scale)
    # A seed draws the same order for the first descent, however many kicks follow.
    assert after >= before - 1e-7 * scale


def test_a_seed_determines_the_result():
    rng = np.random.default_rng(0)
    upper = np.triu(rng.choice([-1.0, 1.0], (40, 40)), 1)
    scores, start = upper + upper.T, np.arange(40)
    found = [local_search(scores, start, kicks=40, seed=seed) for seed in (3, 3, 4)]
    assert found[0][0].tolist() == found[1][0].tolist()
    assert found[0][0].tolist() != found[2][0].tolist()


def test_arguments_stay_as_they_are():
    scores, start = draw(7)
    before, labels = scores.copy(), start.copy()
    scores.setflags(write=False)
    local_search(scores, start, kicks=5)
    assert (scores == before).all()
    assert (start == labels).all()


@pytest.mark.parametrize("kicks", [0, 3])
def test_trivial_scores(kicks):
    together = np.ones((5, 5)) - np.eye(5)
    labels, value = local_search(together, np.arange(5), kicks=kicks)
    assert (labels.tolist(), value) == ([0] * 5, 10.0)
    labels, value = local_search(-together, np.zeros(5, dtype=int), kicks=kicks)
    assert (labels.tolist(), value) == ([0, 1, 2, 3, 4], 0.0)
    labels, value = local_search(0 * together, np.array([4, 1, 4, 0, 1]), kicks=kicks)
    assert value == 0.0
    labels, value = local_search(np.zeros((1, 1)), np.zeros(1, dtype=int), kicks=kicks)
    assert (labels.tolist(), value) == ([0], 0.0)


@pytest.mark.parametrize("start", [[0, 1], [0, 1, 2, 3], [0, 1, 3], [-1, 0, 1]])
def test_an_invalid_partition_is_rejected(start):
    with pytest.raises(ValueError, match="start: expected"):
        local_search(np.zeros((3, 3)), np.array(start))


@pytest.mark.slow
def test_without_compilation():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "", "-k", "naive", __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
