"""Sums over labellings: against enumeration, at any scale; derivatives against differences; samples by frequency."""

import numpy as np
import pytest

from benchmarks.learning.reference import labellings
from colgen.solvers.arrays import ArrayError
from colgen.solvers.chains.sums import chain_sums
from tests.sweeps import seeds


def enumerated(scores, transitions):
    """log Z, label marginals, pair marginals step by step."""
    tokens, num = scores.shape
    steps = np.broadcast_to(transitions, (tokens, num, num))
    everything = list(labellings(tokens, num))
    values = np.array(
        [
            sum(scores[i, x[i]] for i in range(tokens)) + sum(steps[i, x[i], x[i + 1]] for i in range(tokens - 1))
            for x in everything
        ]
    )
    if values.max() == -np.inf:
        return -np.inf, np.zeros((tokens, num)), np.zeros((tokens, num, num))
    log_partition = np.logaddexp.reduce(values)
    labels, pairs = np.zeros((tokens, num)), np.zeros((tokens, num, num))
    for p, x in zip(np.exp(values - log_partition), everything, strict=True):
        labels[range(tokens), x] += p
        pairs[range(tokens - 1), x[:-1], x[1:]] += p
    return log_partition, labels, pairs


@pytest.mark.parametrize("stepwise", [False, True])
@pytest.mark.parametrize("seed", seeds(16))
def test_are_those_of_all_labellings(seed, stepwise):
    rng = np.random.default_rng(seed)
    lengths, num = rng.integers(1, 5, 3), int(rng.integers(1, 4))
    scale = rng.choice([0.1, 3.0, 100.0, 5000.0])
    scores = rng.normal(size=(lengths.sum(), num)) * scale
    transitions = rng.normal(size=(lengths.sum(), num, num) if stepwise else (num, num)) * scale
    if seed % 2:
        scores[rng.random(scores.shape) < 0.15] = -np.inf
        transitions[rng.random(transitions.shape) < 0.15] = -np.inf
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    sums = chain_sums(scores, offsets, transitions)
    for chain in range(3):
        own = slice(offsets[chain], offsets[chain + 1])
        value, labels, pairs = enumerated(scores[own], transitions[own] if stepwise else transitions)
        assert sums.log_partition[chain] == pytest.approx(value, rel=1e-12, abs=1e-12)
        assert sums.labels[own] == pytest.approx(labels, abs=1e-9)
        found = sums.pairs[own] if stepwise else sums.pairs[chain]
        assert found == pytest.approx(pairs if stepwise else pairs.sum(axis=0), abs=1e-9)


@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_derivatives_are_those_of_differences(scale):
    rng = np.random.default_rng(1)
    scores, transitions = scale * rng.normal(size=(5, 3)), rng.normal(size=(3, 3))
    along, steps = rng.normal(size=(5, 3)), rng.normal(size=(3, 3))
    ahead, behind = (chain_sums(scores + e * along, [0, 2, 5], transitions + e * steps) for e in (1e-5, -1e-5))
    first, labels, pairs = chain_sums(scores, [0, 2, 5], transitions).tangent(along, steps)
    assert first == pytest.approx((ahead.log_partition - behind.log_partition) / 2e-5, abs=1e-6)
    assert labels == pytest.approx((ahead.labels - behind.labels) / 2e-5, abs=1e-6)
    assert pairs == pytest.approx((ahead.pairs - behind.pairs) / 2e-5, abs=1e-6)


def test_samples_come_with_their_probabilities():
    rng = np.random.default_rng(2)
    sums = chain_sums(rng.normal(size=(4, 3)), [0, 4], rng.normal(size=(3, 3)))
    drawn = np.array([sums.sample(rng) for _ in range(4000)])
    frequencies = (drawn[:, :, np.newaxis] == np.arange(3)).mean(axis=0)
    assert frequencies == pytest.approx(sums.labels, abs=0.05)


def test_a_far_path_that_is_the_only_one_is_not_lost():
    scores = np.array([[0.0, -400.0], [-np.inf, 0.0], [0.0, 0.0]])
    transitions = np.array([[0.0, -np.inf], [0.0, -400.0]])
    sums = chain_sums(scores, [0, 3], transitions)
    assert sums.log_partition[0] == pytest.approx(-800.0 + np.log1p(np.exp(-400.0)))
    assert sums.labels[0] == pytest.approx([0.0, 1.0])


def test_invalid_chains_are_rejected():
    with pytest.raises(ArrayError, match=r"scores: .* got nan"):
        chain_sums(np.array([[np.nan, 1.0]]), [0, 1], np.zeros((2, 2)))
    with pytest.raises(ArrayError, match="offsets"):
        chain_sums(np.zeros((2, 2)), [0, 3], np.zeros((2, 2)))
