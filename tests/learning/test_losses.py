"""Losses: values against enumeration, gradients against differences."""

import itertools

import numpy as np
import pytest

from benchmarks.learning.reference import trees
from colgen.core.errors import InputError, OracleBeatenError
from colgen.learning import (
    Chains,
    EnumeratedStructures,
    ProjectiveTrees,
    Trees,
    augmented,
    best_structure,
    fenchel_young,
    hinge,
    regret,
    second_best,
    spo_plus,
)
from tests.sweeps import seeds


def drawn(seed):
    rng = np.random.default_rng(seed)
    scores = 2.0 * rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    return rng, scores, rng.integers(0, 3, 3)


def score(labels, scores):
    labels = np.array(labels)
    return scores[0][range(3), labels].sum() + scores[1][labels[:-1], labels[1:]].sum()


EVERYTHING = list(itertools.product(range(3), repeat=3))


@pytest.mark.parametrize("seed", seeds(8))
def test_hinges_are_the_worst_violations(seed):
    rng, scores, right = drawn(seed)
    costs = rng.uniform(size=(3, 3))
    delta = {
        "none": lambda y: 0.0,
        "hamming": lambda y: float((np.array(y) != right).sum()),
        "zero_one": lambda y: float(tuple(y) != tuple(right)),
    }
    gold = Chains.structure(right, 3)
    for margin, cost in delta.items():
        worst = max(score(y, scores) + cost(y) for y in EVERYTHING)
        found = hinge(Chains(), gold, *scores, margin=margin)
        assert found.value == pytest.approx(worst - score(right, scores))
        assert sum(float((g * s).sum()) for g, s in zip(found.gradients, scores, strict=True)) + found.cost == (
            pytest.approx(found.value)
        )
    worst = max(score(y, scores) + costs[range(3), y].sum() for y in EVERYTHING)
    found = hinge(Chains(), gold, *scores, costs=costs)
    assert found.value == pytest.approx(worst - score(right, scores))
    assert augmented(Chains(), gold, *scores, costs=costs).cost == pytest.approx(found.cost)


@pytest.mark.parametrize("regularization", ["sparsemap", "gibbs", "perturbed"])
def test_fenchel_young_losses_have_their_gradients(regularization):
    rng, scores, right = drawn(3)
    gold = Chains.structure(right, 3)
    along = [rng.normal(size=(3, 3)) for _ in range(2)]

    def value(step):
        at = [s + step * d for s, d in zip(scores, along, strict=True)]
        return fenchel_young(Chains(), gold, *at, regularization=regularization).value

    found = fenchel_young(Chains(), gold, *scores, regularization=regularization)
    slope = sum(float((g * d).sum()) for g, d in zip(found.gradients, along, strict=True))
    assert slope == pytest.approx((value(1e-6) - value(-1e-6)) / 2e-6, abs=1e-6)
    if regularization != "perturbed":
        assert found.value >= 0.0
    sure = [1e3 * array for array in best_arrays(right)]
    assert fenchel_young(Chains(), gold, *sure, regularization=regularization).value == pytest.approx(0.0, abs=3.0)


def best_arrays(labels):
    return np.eye(3)[labels], np.zeros((3, 3))


def test_gibbs_is_the_negative_log_probability():
    _, scores, right = drawn(1)
    values = np.array([score(y, scores) for y in EVERYTHING])
    found = fenchel_young(Chains(), Chains.structure(right, 3), *scores, regularization="gibbs")
    assert found.value == pytest.approx(np.logaddexp.reduce(values) - score(right, scores))


@pytest.mark.parametrize("seed", seeds(6))
def test_second_best_is_the_best_other(seed):
    _, scores, _ = drawn(seed)
    values = sorted(score(y, scores) for y in EVERYTHING)
    best = best_structure(Chains(), scores)
    assert second_best(Chains(), best, *scores).score(scores) == pytest.approx(values[-2])
    stepwise = np.broadcast_to(scores[1], (3, 3, 3)).copy()
    other = second_best(Chains(), best_structure(Chains(), (scores[0], stepwise)), scores[0], stepwise)
    assert other.score((scores[0], stepwise)) == pytest.approx(values[-2])
    arcs = np.random.default_rng(seed).normal(size=(5, 5))
    values = sorted(arcs[list(tree[1:]), range(1, 5)].sum() for tree in trees(4))
    assert second_best(Trees(), best_structure(Trees(), [arcs]), arcs).score([arcs]) == pytest.approx(values[-2])


def test_no_second_best_without_another_structure():
    lone = np.array([[0.0, -np.inf], [0.0, -np.inf]])
    best = best_structure(Chains(), (lone, np.zeros((2, 2))))
    assert second_best(Chains(), best, lone, np.zeros((2, 2))) is None
    assert hinge(Chains(), best, lone, np.zeros((2, 2)), margin="zero_one").value == 0.0


class Worst:
    def best(self, scores):
        return np.eye(3)[int(np.argmin(scores))]


def test_invalid_arguments_raise_errors():
    oracle, scores = EnumeratedStructures(np.eye(3)), np.array([1.0, 0.0, -np.inf])
    with pytest.raises(InputError, match="forbidden part"):
        hinge(oracle, np.array([2]), scores)
    with pytest.raises(InputError, match="margin: expected 'hamming'"):
        hinge(oracle, np.array([0]), scores, margin="f1")
    with pytest.raises(InputError, match=r"costs: expected the shape|costs: expected"):
        hinge(oracle, np.array([0]), scores, costs=np.zeros(2))
    with pytest.raises(InputError, match="regularization: expected 'sparsemap'"):
        fenchel_young(oracle, np.array([0]), scores, regularization="l2")
    with pytest.raises(OracleBeatenError, match=r"Worst\.best returned a structure"):
        hinge(Worst(), np.array([0]), np.array([9.0, 0.0, 0.0]), margin="none")


def test_belief_propagation_is_the_likelihood_where_pairs_have_no_scores():
    rng = np.random.default_rng(4)
    model, scores = ProjectiveTrees("grandchildren"), [rng.normal(size=(5, 5)), np.zeros((5, 5, 5))]
    right = model.structure(np.array([-1, 2, 0, 2, 3]))
    exact = fenchel_young(model, right, *scores, regularization="gibbs")
    found = fenchel_young(model, right, *scores, regularization="beliefs")
    assert found.value == pytest.approx(exact.value)
    assert found.gradients[0] == pytest.approx(exact.gradients[0])
    with pytest.raises(InputError, match=r"beliefs: expected trees whose parts are .*, got \(\)"):
        fenchel_young(
            ProjectiveTrees(), model.structure(np.array([-1, 0, 1]))[:1], np.zeros((3, 3)), regularization="beliefs"
        )
    with pytest.raises(InputError, match=r"beliefs: expected .* not Enumerated"):
        fenchel_young(EnumeratedStructures(np.eye(2)), np.array([0]), np.zeros(2), regularization="beliefs")


def test_rounds_end_a_loss_early():
    rng = np.random.default_rng(5)
    scores = 0.1 * rng.normal(size=(6, 5)), np.zeros((5, 5))
    right = Chains.structure(np.zeros(6, dtype=np.int64), 5)
    exact, early = (fenchel_young(Chains(), right, *scores, rounds=rounds) for rounds in (None, 4))
    assert early.value < exact.value
    assert np.abs(early.gradients[0] - exact.gradients[0]).max() > 1e-3


@pytest.mark.parametrize("seed", seeds(8))
def test_spo_plus_is_its_definition_and_bounds_the_regret(seed):
    rng, scores, _ = drawn(seed)
    true = 2.0 * rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    right = max(EVERYTHING, key=lambda y: score(y, true))
    # in costs: max_w (c - 2ĉ)ᵀw + 2ĉᵀw*(c) - cᵀw*(c), with c = -true and ĉ = -scores
    worst = max(2.0 * score(y, scores) - score(y, true) for y in EVERYTHING)
    value = worst - 2.0 * score(right, scores) + score(right, true)
    found = spo_plus(Chains(), None, *scores, true=true)
    assert found.value == pytest.approx(value, abs=1e-9)
    assert spo_plus(Chains(), np.array(right), *scores, true=true).value == pytest.approx(value, abs=1e-9)
    chosen = max(EVERYTHING, key=lambda y: score(y, scores))
    lost = regret(Chains(), *scores, true=true)
    assert lost == pytest.approx(score(right, true) - score(chosen, true), abs=1e-9)
    assert found.value >= lost - 1e-9
    assert spo_plus(Chains(), None, *true, true=true).value == pytest.approx(0.0, abs=1e-9)
    along = [rng.normal(size=(3, 3)) for _ in range(2)]

    def at(step):
        moved = [s + step * d for s, d in zip(scores, along, strict=True)]
        return spo_plus(Chains(), None, *moved, true=true).value

    slope = sum(float((g * d).sum()) for g, d in zip(found.gradients, along, strict=True))
    assert slope == pytest.approx((at(1e-6) - at(-1e-6)) / 2e-6, abs=1e-6)


def test_spo_plus_with_forbidden_parts_and_wrong_arguments():
    choice = EnumeratedStructures(np.eye(3))
    found = spo_plus(choice, None, [1.0, -np.inf, 0.0], true=[0.0, -np.inf, 3.0])
    assert found.value == pytest.approx((2.0 - 0.0) - (0.0 - 3.0))
    np.testing.assert_array_equal(found.gradients[0], [2.0, 0.0, -2.0])
    for true in ([1.0, 2.0, 3.0], [-np.inf, -np.inf, 3.0]):
        with pytest.raises(InputError, match="true: expected scores of -inf where"):
            spo_plus(choice, None, [1.0, -np.inf, 0.0], true=true)
    with pytest.raises(InputError, match="gold structure has a forbidden part"):
        spo_plus(choice, np.array([1]), [1.0, -np.inf, 0.0], true=[0.0, -np.inf, 3.0])
    with pytest.raises(InputError, match=r"true: expected scores of shapes \[\(3,\)\] as predicted, got"):
        regret(choice, [1.0, 2.0, 0.0], true=[0.0, 3.0])

    class Poor:
        def best(self, scores):
            return np.eye(3)[int(np.argmin(scores))]

    with pytest.raises(OracleBeatenError, match=r"Poor\.best returned a structure whose score is"):
        spo_plus(Poor(), np.array([2]), [1.0, 0.0, 2.0], true=[0.0, 0.0, 3.0])
