"""Small problems of learning: chains whose gold labels come from hidden weights, and choices at random."""

import numpy as np

from colgen.learning import Chains, EnumeratedStructures, LinearExample


def chain_examples(seed, count=12, *, labels=3, features=5, noise=0.0):
    """Chains of 4 tokens with random features; weights of features by label, then of transitions."""
    rng = np.random.default_rng(seed)
    size = features * labels + labels * labels
    hidden = rng.normal(size=size)
    transitions = np.hstack([np.zeros((labels * labels, features * labels)), np.eye(labels * labels)])
    made = []
    for _ in range(count):
        x = rng.normal(size=(4, features))
        tokens = np.hstack([np.kron(x, np.eye(labels)), np.zeros((4 * labels, labels * labels))])
        scores = (tokens @ hidden).reshape(4, labels), (transitions @ hidden).reshape(labels, labels)
        gold = Chains().best(scores[0] + noise * rng.normal(size=(4, labels)), scores[1])
        made.append(LinearExample(Chains(), [tokens, transitions], [(4, labels), (labels, labels)], gold))
    return made, size


def choices(seed, count=20, *, kinds=3, features=4):
    """Examples of plain classification: one of three, by random features."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        x = rng.normal(size=features)
        matrix = np.kron(np.eye(kinds), x)
        made.append(
            LinearExample(EnumeratedStructures(np.eye(kinds)), [matrix], [(kinds,)], np.array([rng.integers(kinds)]))
        )
    return made, kinds * features
