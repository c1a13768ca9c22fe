"""Small problems of learning: chains whose gold labels come from hidden weights, choices at random, programs."""

import itertools

import numpy as np

from colgen.learning import Chains, EnumeratedStructures, GraphPaths, Knapsacks, LinearExample

ARCS = [(3 * i + j, 3 * i + j + 1) for i in range(3) for j in range(2)]
ARCS += [(3 * i + j, 3 * i + j + 3) for i in range(2) for j in range(3)]
TAILS, HEADS = np.array(ARCS).T


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


def grid_paths():
    """The six paths of a 3 x 3 grid from corner to corner, as masks over its arcs."""
    paths = []
    for downs in itertools.combinations(range(4), 2):
        node, path = 0, np.zeros(len(ARCS))
        for step in range(4):
            following = node + (3 if step in downs else 1)
            path[ARCS.index((node, following))] = 1.0
            node = following
        paths.append(path)
    return paths


def knapsack(rng):
    """Knapsacks of six items with two capacities, and all sets."""
    sizes, capacities = rng.integers(1, 9, (2, 6)) / 2, np.array([8.0, 7.0])
    sets = [np.array(s) for s in itertools.product([0.0, 1.0], repeat=6) if (sizes @ s <= capacities).all()]
    return Knapsacks(sizes, capacities), sets


def programs(rng):
    """Oracles of linear objectives with all their structures."""
    return [(GraphPaths(TAILS, HEADS, sink=8), grid_paths()), knapsack(rng)]
