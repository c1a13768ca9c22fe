"""Small chains at random, with all their labellings."""

import itertools

import numpy as np


def labellings(scores, steps):
    """``[(score, labels), ...]``, best first; ``steps[i]`` from token i to the next."""
    n, num = scores.shape
    found = []
    for labels in itertools.product(range(num), repeat=n):
        total = sum(float(scores[i, x]) for i, x in enumerate(labels))
        total += sum(float(steps[i][labels[i], labels[i + 1]]) for i in range(n - 1))
        found.append((total, labels))
    return sorted(found, reverse=True)


def draw(seed, dtype):
    rng = np.random.default_rng(seed)
    num, lengths = int(rng.integers(1, 6)), rng.integers(1, 5, size=3)
    scores, tau = (rng.normal(size=shape).astype(dtype) for shape in ((int(lengths.sum()), num), (num, num)))
    if seed % 3 == 0:
        scores, tau = scores.round(), tau.round()
    if seed % 4 == 0:
        scores[rng.random(scores.shape) < 0.2] = -np.inf
        tau[rng.random(tau.shape) < 0.2] = -np.inf
    return scores, np.concatenate([[0], np.cumsum(lengths)]), tau
