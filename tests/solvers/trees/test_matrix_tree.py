"""Sums over all dependency trees: against enumeration, at any scale; derivatives; samples by frequency."""

import numpy as np
import pytest

from benchmarks.learning.reference import trees
from colgen.solvers.arrays import ArrayError
from colgen.solvers.trees.matrix_tree import sample_trees, tree_sums, tree_tangents
from tests.sweeps import seeds


def enumerated(scores, *, single_root, projective=False):
    words = len(scores) - 1
    everything = list(trees(words, single_root=single_root, projective=projective))
    values = np.array([sum(scores[tree[m], m] for m in range(1, words + 1)) for tree in everything])
    if values.max() == -np.inf:
        return -np.inf, np.zeros(scores.shape)
    log_partition = np.logaddexp.reduce(values)
    arcs = np.zeros(scores.shape)
    for p, tree in zip(np.exp(values - log_partition), everything, strict=True):
        arcs[list(tree[1:]), range(1, words + 1)] += p
    return log_partition, arcs


def drawn_scores(rng, words):
    scores = rng.normal(size=(words + 1, words + 1)) * rng.choice([0.1, 3.0, 40.0, 800.0])
    if rng.random() < 0.5:
        scores[rng.random(scores.shape) < 0.3] = -np.inf
    return scores


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("seed", seeds(24))
def test_are_those_of_all_trees(seed, single_root):
    rng = np.random.default_rng(seed)
    scores = drawn_scores(rng, int(rng.integers(1, 5)))
    value, arcs = enumerated(scores, single_root=single_root)
    log_partition, marginals = tree_sums(scores[np.newaxis], single_root=single_root)
    assert log_partition[0] == pytest.approx(value, rel=1e-12, abs=1e-12)
    assert marginals[0] == pytest.approx(arcs, abs=1e-9)


def test_words_that_hold_to_each_other_lose_no_digits():
    # w_12 and w_21 are e⁴⁰ times the root's: an inverse of the Laplacian has no digit left for the root's arcs.
    scores = np.array([[0.0, 0.5, 0.0], [0.0, 0.0, 40.0], [0.0, 40.0, 0.0]])
    for single_root in (False, True):
        value, arcs = enumerated(scores, single_root=single_root)
        log_partition, marginals = tree_sums(scores[np.newaxis], single_root=single_root)
        assert marginals[0] == pytest.approx(arcs, abs=1e-14)
        assert log_partition[0] == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("words", [14, 15, 16, 17, 31, 32, 40])
def test_long_sentences_agree_with_determinants(words, single_root):
    rng = np.random.default_rng(words)
    scores = rng.normal(size=(words + 1, words + 1))
    scores[rng.random(scores.shape) < 0.1] = -np.inf
    scores[0, 1] = 0.5
    value, marginals = (found[0] for found in tree_sums(scores[np.newaxis], single_root=single_root))

    def by_determinant(given):
        weights = np.exp(given)
        weights[:, 0] = 0.0
        np.fill_diagonal(weights, 0.0)
        laplacian = np.diag(weights[1:, 1:].sum(axis=0)) - weights[1:, 1:]
        if single_root:
            laplacian[0] = weights[0, 1:]
        else:
            laplacian += np.diag(weights[0, 1:])
        return np.linalg.slogdet(laplacian)[1]

    assert value == pytest.approx(by_determinant(scores), rel=1e-12)
    assert marginals[:, 1:].sum(axis=0) == pytest.approx(1.0, abs=1e-12)
    along = rng.normal(size=scores.shape)
    ahead, behind = (by_determinant(scores + e * along) for e in (1e-5, -1e-5))
    assert (marginals * along).sum() == pytest.approx((ahead - behind) / 2e-5, abs=1e-6)
    ahead, behind = (tree_sums((scores + e * along)[np.newaxis], single_root=single_root)[1] for e in (1e-5, -1e-5))
    found = tree_tangents(scores[np.newaxis], along[np.newaxis], single_root=single_root)
    assert found == pytest.approx((ahead - behind) / 2e-5, abs=1e-6)


def test_a_word_whose_only_head_is_the_root_is_eliminated_last():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(20, 20))
    scores[1:, 3] = -np.inf
    marginals = tree_sums(scores[np.newaxis], single_root=True)[1][0]
    assert marginals[0, 3] == pytest.approx(1.0, abs=1e-12)
    assert marginals[:, 1:].sum(axis=0) == pytest.approx(1.0, abs=1e-12)
    assert marginals[0].sum() == pytest.approx(1.0, abs=1e-12)


def test_entries_beyond_the_lengths_are_ignored():
    rng = np.random.default_rng(0)
    batch = rng.normal(size=(2, 6, 6))
    log_partition, marginals = tree_sums(batch, [5, 3])
    alone, arcs = tree_sums(batch[1:, :4, :4])
    assert log_partition[1] == alone[0]
    assert (marginals[1, :4, :4] == arcs[0]).all()
    assert not marginals[1, 4:].any()
    with pytest.raises(ArrayError, match=r"lengths: expected .*1 to 5"):
        tree_sums(batch, [5, 6])


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("scale", [1.0, 60.0])
def test_derivatives_are_those_of_differences(scale, single_root):
    rng = np.random.default_rng(4)
    scores, along = rng.normal(size=(1, 5, 5)), rng.normal(size=(1, 5, 5))
    scores[0, 0, 1:] += scale  # far apart: in logarithms
    scores[0, 1, 2] = -np.inf
    ahead, behind = (tree_sums(scores + e * along, single_root=single_root)[1] for e in (1e-5, -1e-5))
    found = tree_tangents(scores, along, single_root=single_root)
    assert found == pytest.approx((ahead - behind) / 2e-5, abs=1e-6)


def test_samples_come_with_their_probabilities():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(4, 4))
    _, marginals = tree_sums(scores[np.newaxis], single_root=True)
    heads = sample_trees(scores, rng, single_root=True, count=1500)
    assert ((heads == 0).sum(axis=1) == 1).all()
    frequencies = np.array([(heads[:, 1:] == h).mean(axis=0) for h in range(4)])
    assert frequencies == pytest.approx(marginals[0][:, 1:], abs=0.06)
    assert sample_trees(np.full((3, 3), -np.inf), rng) is None
