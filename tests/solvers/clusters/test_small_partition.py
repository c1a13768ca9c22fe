"""Best partitions of few items, against all partitions."""

import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.clusters.small_partition import LARGEST, best_small_partition
from tests.solvers.clusters.test_dual_proof import partitions
from tests.sweeps import seeds


def score(labels, pairs):
    together = np.triu(np.equal.outer(labels, labels), 1)
    return float(pairs[together].sum())


@pytest.mark.parametrize("seed", seeds(24))
def test_no_partition_is_better(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 8))
    pairs = rng.normal(size=(n, n)) * rng.choice([1.0, 1e290])
    if seed % 3 == 0:
        pairs = np.round(pairs)
    pairs[rng.uniform(size=(n, n)) < 0.2 * (seed % 2)] = -np.inf
    value, labels = best_small_partition(pairs)
    best = max(score(np.array(own), pairs) for own in partitions(n))
    assert value == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert score(labels, pairs) == pytest.approx(best, rel=1e-9, abs=1e-9)


def test_the_largest_number_of_items():
    pairs = np.where(np.equal.outer(np.arange(LARGEST) % 3, np.arange(LARGEST) % 3), 1.0, -1.0)
    value, labels = best_small_partition(pairs)
    assert value == 18.0
    assert len(set(labels.tolist())) == 3
    with pytest.raises(ArrayError, match="scores: expected at most 12 items, got 13"):
        best_small_partition(np.zeros((LARGEST + 1,) * 2))
