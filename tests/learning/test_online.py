"""Trainers: separable examples are learned, and averages are correct."""

import numpy as np
import pytest

from colgen.core.errors import InputError
from colgen.learning import best_structure, mira, online, perceptron, stochastic_gradient, train
from tests.learning.small_examples import chain_examples

TRAINERS = {
    "perceptron": perceptron,
    "mira": mira,
    "zero_one": lambda *a, **k: mira(*a, margin="zero_one", **k),
    "gibbs": stochastic_gradient,
    "sparsemap": lambda *a, **k: stochastic_gradient(*a, loss="sparsemap", **k),
    "perturbed": lambda *a, **k: stochastic_gradient(*a, loss="perturbed", **k),
    "hamming": lambda *a, **k: stochastic_gradient(*a, loss="hamming", **k),
}


def right(examples, weights):
    return sum(best_structure(e.oracle, e.scores(weights)).key == e.gold.key for e in examples)


@pytest.mark.parametrize("name", TRAINERS)
def test_separable_examples_are_learned(name):
    examples, size = chain_examples(0)
    trained = TRAINERS[name](examples, size, epochs=15)
    assert right(examples, trained.weights) >= len(examples) - 1
    assert trained.passes == 15
    assert trained.losses[-1] < trained.losses[0]


def test_the_same_seed_learns_the_same():
    examples, size = chain_examples(1)
    assert (perceptron(examples, size).weights == perceptron(examples, size).weights).all()
    assert (perceptron(examples, size).weights != perceptron(examples, size, seed=1).weights).any()


def test_invalid_arguments_raise_errors():
    examples, size = chain_examples(0, 2)
    with pytest.raises(InputError, match="examples: expected one example"):
        perceptron([], 3)
    with pytest.raises(InputError, match="epochs: expected 1 or more"):
        perceptron(examples, size, epochs=0)
    with pytest.raises(InputError, match="aggressiveness: expected a number above 0"):
        mira(examples, size, aggressiveness=0.0)
    with pytest.raises(InputError, match="rate: expected a number above 0"):
        stochastic_gradient(examples, size, rate=-1.0)


@pytest.mark.parametrize("name", TRAINERS)
def test_a_learner_continues_where_it_stopped(name, monkeypatch):
    examples, size = chain_examples(0, 4)
    learners = []

    def kept(learner, passes, **options):
        learners.append(learner)
        return train(learner, passes, **options)

    monkeypatch.setattr(online, "train", kept)
    TRAINERS[name](examples, size, epochs=2)
    TRAINERS[name](examples, size, epochs=1, seed=1)
    first, second = learners
    second.restore(first.state())
    order = np.arange(len(examples))
    assert first.learn(order) == second.learn(order)
    assert (first.averaged() == second.averaged()).all()
