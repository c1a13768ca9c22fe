"""The compiled perceptron over chains against sums in Python and Viterbi's algorithm."""

import numpy as np
import pytest

from colgen.learning.chains import ChainPerceptron
from colgen.solvers.chains.viterbi import viterbi

FEATURES, LABELS, KINDS = 7, 3, 2


def random_chains(seed):
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, *rng.integers(1, 5, 12)])
    features = rng.integers(-1, FEATURES, (offsets[-1], 4)).astype(np.int32)
    right = rng.integers(0, LABELS, offsets[-1]).astype(np.int32)
    return features, offsets, right, rng.integers(0, KINDS, 12).astype(np.int32)


@pytest.mark.parametrize("with_kinds", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_average_is_that_of_the_weights_after_each_chain(seed, with_kinds):
    features, offsets, right, kinds = random_chains(seed)
    more = (kinds, KINDS) if with_kinds else ()
    learner = ChainPerceptron(features, offsets, right, FEATURES, LABELS, *more)
    weights = np.zeros((FEATURES, LABELS))
    transitions = np.zeros((KINDS if with_kinds else 1, LABELS + with_kinds, LABELS))
    seen, wrong = [(weights.copy(), transitions.copy())], 0
    order = np.random.default_rng(seed).permutation(12)
    for k in order.tolist():
        part = slice(offsets[k], offsets[k + 1])
        tokens, gold, own = features[part], right[part], transitions[kinds[k] if with_kinds else 0]
        local = np.array([weights[token[token >= 0]].sum(axis=0) for token in tokens])
        if with_kinds:
            local[0] += own[LABELS]
        found, _ = viterbi(local, np.array([0, len(gold)]), own[:LABELS].copy())
        wrong += int((found != gold).sum())
        for labels, sign in ((gold, 1.0), (found, -1.0)):
            for i, label in enumerate(labels):
                np.add.at(weights, (tokens[i][tokens[i] >= 0], label), sign)
                if i or with_kinds:
                    own[labels[i - 1] if i else LABELS, label] += sign
        seen.append((weights.copy(), transitions.copy()))
    assert learner.learn(order[:7])[1] + learner.learn(order[7:])[1] == len(right)
    again = ChainPerceptron(features, offsets, right, FEATURES, LABELS, *more)
    again.restore(learner.state())
    for one in (learner, again):
        for found, expected in zip(one.averaged(), zip(*seen, strict=True), strict=True):
            np.testing.assert_allclose(found, np.mean(expected, axis=0), atol=1e-5)
    assert len(learner) == 12
    assert ChainPerceptron(features, offsets, right, FEATURES, LABELS, *more).learn(order)[0] == wrong
