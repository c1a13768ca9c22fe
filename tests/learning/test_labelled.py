"""Trees with a label per arc compared with lists of all trees and labels."""

import itertools

import numpy as np
import pytest

from benchmarks.learning.reference import trees
from colgen.core.errors import InputError
from colgen.learning import (
    Chains,
    LabelledTrees,
    ProjectiveTrees,
    Trees,
    best_structure,
    fenchel_young,
    hinge,
    k_best,
    marginals,
    sparsemap,
)
from colgen.learning.batches import batch_of, batch_sums
from colgen.learning.oracles import structure_from
from colgen.problems.learning_oracles import SecondOrderTrees

SIZE, LABELS = 4, 2
SUMMED = {
    "trees": Trees(),
    "one root": Trees(single_root=True),
    "projective": ProjectiveTrees(),
    "siblings": ProjectiveTrees("siblings"),
    "all parts": ProjectiveTrees("grandchildren", "siblings", single_root=True),
}
DECODED = {
    **SUMMED,
    "second order": SecondOrderTrees("siblings"),
    "second order, one root": SecondOrderTrees("siblings", "grandchildren", single_root=True),
}


def shapes(base, size=SIZE):
    return [(size, size, LABELS), *[(size,) * 3] * len(getattr(base, "parts", ()))]


def drawn(base, seed, forbidden=0.0, size=SIZE):
    rng = np.random.default_rng(seed)
    return [np.where(rng.random(s) < forbidden, -np.inf, rng.normal(size=s)) for s in shapes(base, size)]


def every(base):
    """Return how often each part (row) occurs in each tree with labels."""
    model, found = LabelledTrees(base), []
    for heads in trees(SIZE - 1, single_root=base.single_root, projective=isinstance(base, ProjectiveTrees)):
        for labels in itertools.product(range(LABELS), repeat=SIZE - 1):
            structure = structure_from(
                model.structure(heads, (-1, *labels), LABELS), [np.zeros(s) for s in shapes(base)]
            )
            found.append(flat([structure.array(k, s) for k, s in enumerate(shapes(base))]))
    return np.array(found).T


def flat(arrays):
    return np.concatenate([np.ravel(a) for a in arrays])


def values_of(columns, scores):
    theta = flat(scores)
    return np.array([theta[a > 0.0] @ a[a > 0.0] for a in columns.T])


@pytest.mark.parametrize("forbidden", [0.0, 0.25])
@pytest.mark.parametrize("name", DECODED)
def test_best_trees_are_the_best_of_all(name, forbidden):
    base = DECODED[name]
    model, columns = LabelledTrees(base), every(base)
    for seed in range(4):
        scores = drawn(base, seed, forbidden)
        values = values_of(columns, scores)
        if values.max() == -np.inf:
            with pytest.raises(InputError, match="every structure is forbidden"):
                best_structure(model, scores)
        else:
            assert best_structure(model, scores).score(scores) == pytest.approx(values.max(), abs=1e-9)


@pytest.mark.parametrize("forbidden", [0.0, 0.25])
@pytest.mark.parametrize("name", DECODED)
def test_k_best_trees_are_the_best_of_all(name, forbidden):
    base = DECODED[name]
    columns = every(base)
    for seed in range(3):
        scores = drawn(base, seed, forbidden)
        if seed > 1:
            scores = [np.round(theta) for theta in scores]  # many ties
        values = values_of(columns, scores)
        order = np.sort(values[values > -np.inf])[::-1]
        for k in (1, 4, 20):
            found = k_best(LabelledTrees(base), k, scores)
            assert [one.score(scores) for one in found] == pytest.approx(order[:k], abs=1e-9)
            assert len({one.key for one in found}) == len(found)


@pytest.mark.parametrize("forbidden", [0.0, 0.25])
@pytest.mark.parametrize("name", SUMMED)
def test_sums_are_those_over_all(name, forbidden):
    base = SUMMED[name]
    model, columns = LabelledTrees(base), every(base)
    for seed in range(4):
        scores = drawn(base, seed, forbidden)
        values = values_of(columns, scores)
        if values.max() == -np.inf:
            with pytest.raises(InputError, match="every structure is forbidden"):
                marginals(model, *scores)
            continue
        total = np.logaddexp.reduce(values)
        p = np.exp(values - total)
        mean = columns @ p
        found = marginals(model, *scores)
        assert found.log_partition == pytest.approx(total, abs=1e-9)
        assert flat(found.means) == pytest.approx(mean, abs=1e-9)
        assert found.entropy == pytest.approx(-(p[p > 0.0] @ np.log(p[p > 0.0])), abs=1e-9)
        along = drawn(base, seed + 100)
        expected = columns @ (p * (columns.T @ flat(along))) - mean * (mean @ flat(along))
        assert flat(found.gradient(*along)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", SUMMED)
def test_samples_have_the_distribution(name):
    base = SUMMED[name]
    columns, scores = every(base), drawn(base, 1)
    scores[0][:, 2, 1] = -np.inf  # a label is forbidden
    found = marginals(LabelledTrees(base), *scores)
    number = {tuple(a): k for k, a in enumerate(columns.T)}
    counts, rng = np.zeros(len(number)), np.random.default_rng(2)
    for _ in range(1000):
        one = found.sample(rng)
        counts[number[tuple(flat([one.array(k, s) for k, s in enumerate(shapes(base))]))]] += 1
    p = np.exp(values_of(columns, scores) - found.log_partition)
    assert not counts[p == 0.0].any()
    assert np.abs(counts / 1000 - p).max() < 5.0 * np.sqrt(0.25 / 1000)


@pytest.mark.parametrize("scale", [1e3, 1e20])
@pytest.mark.parametrize("name", SUMMED)
def test_marginals_of_large_scores_are_probabilities(name, scale):
    base = SUMMED[name]
    scores = [scale * theta for theta in drawn(base, 3)]
    found = marginals(LabelledTrees(base), *scores)
    best = best_structure(LabelledTrees(base), scores)
    expected = flat([best.array(k, s) for k, s in enumerate(shapes(base))])
    assert flat(found.means) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("given", [{}, {"lengths": [3, 1, 2]}, {"mask": [[1, 1, 1], [0, 1, 0], [1, 0, 1]]}])
@pytest.mark.parametrize("name", SUMMED)
def test_batches_are_their_instances(name, given):
    base = SUMMED[name]
    each = [drawn(base, seed) for seed in range(3)]
    batch = batch_of(LabelledTrees(base), [np.stack(alike) for alike in zip(*each, strict=True)], workers=2, **given)
    found = batch_sums(batch)
    along = [np.random.default_rng(9).normal(size=mean.shape) for mean in found.means]
    tangent = found.tangent(*along)
    for k in range(3):
        alone = marginals(LabelledTrees(base), *batch.instance(k))
        assert found.log_partition[k] == pytest.approx(alone.log_partition, abs=1e-9)
        gradient = alone.gradient(*batch.instance(k, along))
        for own, expected in zip(batch.instance(k, found.means), alone.means, strict=True):
            assert own == pytest.approx(expected, abs=1e-9)
        for own, expected in zip(batch.instance(k, tangent), gradient, strict=True):
            assert own == pytest.approx(expected, abs=1e-9)
        assert found.means[0][k].sum() == pytest.approx(alone.means[0].sum())  # zero at other positions


def test_one_label_is_none():
    scores = drawn(Trees(), 0)[0][:, :, :1]
    with_labels, without = marginals(LabelledTrees(Trees()), scores), marginals(Trees(), scores[:, :, 0])
    assert with_labels.log_partition == without.log_partition
    assert with_labels.means[0][:, :, 0] == pytest.approx(without.means[0], abs=1e-12)


def test_losses_and_sparse_means_accept_labels():
    for name, base in DECODED.items():
        scores, model = drawn(base, 5), LabelledTrees(base)
        gold = model.structure([-1, 2, 0, 2], [-1, 0, 1, 1], LABELS)
        score = structure_from(gold, scores).score(scores)
        if name in SUMMED:
            loss = fenchel_young(model, gold, *scores, regularization="gibbs")
            assert loss.value == pytest.approx(marginals(model, *scores).log_partition - score, abs=1e-9)
        assert fenchel_young(model, gold, *scores).value >= -1e-9
        assert hinge(model, gold, *scores).value >= 0.0
        assert sparsemap(model, *scores).marginals.sum(axis=(0, 2))[1:] == pytest.approx(np.ones(SIZE - 1))


def test_heads_and_labels_invert_structures():
    model = LabelledTrees(ProjectiveTrees("siblings"))
    heads, labels = LabelledTrees.heads_and_labels(model.structure([0, 2, 0, 2], [7, 0, 1, 1], 3), 3)
    assert heads.tolist() == [-1, 2, 0, 2]
    assert labels.tolist() == [-1, 0, 1, 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LabelledTrees(Chains()), "trees: expected an oracle of dependency trees, got Chains"),
        (lambda: best_structure(LabelledTrees(Trees()), [np.zeros((3, 3))]), r"expected the shape \(N, N, labels\)"),
        (lambda: best_structure(LabelledTrees(Trees()), [np.zeros((3, 3, 0))]), r"expected the shape \(N, N, labels\)"),
        (lambda: best_structure(LabelledTrees(Trees()), [np.zeros((3, 4, 2))]), r"expected the shape \(3, 3\)"),
        (lambda: best_structure(LabelledTrees(Trees()), [np.zeros((1, 1, 2))]), "the root and one word or more"),
        (
            lambda: best_structure(LabelledTrees(ProjectiveTrees("siblings")), [np.zeros((3, 3, 2))]),
            "an array for each of scores, siblings",
        ),
        (
            lambda: marginals(LabelledTrees(SecondOrderTrees("siblings")), *drawn(SecondOrderTrees("siblings"), 0)),
            "sums",
        ),
        (lambda: LabelledTrees(Trees()).structure([0, 2, 1], [0, 0, 0], 2), "form a cycle"),
        (lambda: LabelledTrees(Trees()).structure([0, 0, 1], [0, 0, 2], 2), "gold: expected 3 numbers from 0 to 1"),
        (lambda: LabelledTrees(Trees()).structure([0, 0, 1], [0, 0], 2), "gold: expected 3 numbers from 0 to 1"),
    ],
)
def test_wrong_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
