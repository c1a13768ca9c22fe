"""Kernels that separate triangle and two-partition inequalities, against naive Python."""

import os
import subprocess
import sys

import numpy as np
import pytest

from colgen.solvers.clusters.transitivity import violated_triangles
from colgen.solvers.clusters.two_partition import violated_stars
from tests.sweeps import seeds

SEEDS = seeds(40)


def draw(seed):
    """Return a random symmetric matrix: integer, of quarters, or sparse."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    upper = [
        rng.integers(0, 2, (n, n)),
        rng.integers(0, 5, (n, n)) / 4,
        rng.random((n, n)) * (rng.random((n, n)) < 0.4),
    ]
    x = np.triu(upper[seed % 3].astype(float), 1)
    return x + x.T


@pytest.mark.parametrize("seed", SEEDS)
def test_triangles_are_those_of_a_naive_search(seed):
    x = draw(seed)
    n = len(x)
    most = {}
    for i in range(n):
        for j in range(i + 1, n):
            violations = [x[i, k] + x[k, j] - x[i, j] - 1.0 for k in range(n) if k not in (i, j)]
            if violations and max(violations) > 0.01:
                most[i, j] = max(violations)
    triangles, violations = violated_triangles(x, 0.01)
    assert [(i, j) for i, j, _ in triangles.tolist()] == list(most)
    assert violations == pytest.approx(np.array(list(most.values())))
    for (i, j, k), violation in zip(triangles, violations, strict=True):
        assert k not in (i, j)
        assert violation == pytest.approx(x[i, k] + x[k, j] - x[i, j] - 1.0)


def grow(x, i, first, size):
    """Greedily, as the kernel does."""
    near = [j for j in range(len(x)) if j != i and 1e-6 < x[i, j] < 1 - 1e-6]
    chosen = [first]
    while len(chosen) < size:
        gains = {t: x[i, t] - sum(x[s, t] for s in chosen) for t in near if t not in chosen}
        best = max(gains, key=gains.get, default=None)
        if best is None or gains[best] <= 1e-6:
            break
        chosen.append(best)
    return tuple(sorted(chosen)), sum(x[i, t] for t in chosen) - sum(x[s, t] for s in chosen for t in chosen if s < t)


@pytest.mark.parametrize("size", [3, 4, 6])
@pytest.mark.parametrize("seed", SEEDS)
def test_stars_are_those_of_a_naive_search(seed, size):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 9))
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.6), 1)  # no two gains are equal
    x = upper + upper.T
    expected = {}
    for i in range(n):
        near = [j for j in range(n) if j != i and x[i, j] > 0]
        for first in near if len(near) >= 3 else ():
            chosen, total = grow(x, i, first, size)
            if len(chosen) >= 3 and total > 1.01:
                expected[i, chosen] = total - 1.0
    centres, members, violations = violated_stars(x, size, 0.01, n)
    found = [(i, tuple(t for t in row if t >= 0)) for i, row in zip(centres.tolist(), members.tolist(), strict=True)]
    assert len(set(found)) == len(found)
    assert dict(zip(found, violations.tolist(), strict=True)) == pytest.approx(expected)


def test_a_batch_of_equal_violations_spreads_over_the_items():
    x = np.zeros((60, 60))
    x[:, :20] = x[:20, :] = 1.0  # twenty items linked to all others, which are not linked to each other
    np.fill_diagonal(x, 0.0)
    triangles, violations = violated_triangles(x, 1e-6)
    assert len(triangles) == 40 * 39 // 2
    assert violations == pytest.approx(1.0)
    thirds = np.bincount(triangles[:, 2], minlength=20)
    assert thirds.max() < 3 * thirds.mean()


@pytest.mark.slow
def test_without_compilation():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "", "-k", "naive", __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
