"""Small graphs, and enumeration."""

import itertools

import numpy as np


def graph(n, density, seed):
    mask = np.triu(np.random.default_rng(seed).random((n, n)) < density, 1)
    return mask | mask.T


def stable_sets(adjacency):
    """Return all stable sets as lists of vertices."""
    n = len(adjacency)
    for size in range(n + 1):
        for chosen in itertools.combinations(range(n), size):
            if not adjacency[np.ix_(chosen, chosen)].any():
                yield list(chosen)


def maximal_sets(adjacency):
    for chosen in stable_sets(adjacency):
        rest = [v for v in range(len(adjacency)) if v not in chosen]
        if all(adjacency[v, chosen].any() for v in rest):
            yield chosen


def is_stable(adjacency, members):
    return not adjacency[np.ix_(members, members)].any()
