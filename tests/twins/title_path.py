"""Brute force for paths of k vertices: all paths."""

from functools import cache
from itertools import permutations

import numpy as np


@cache
def _sequences(vertices, length):
    return np.array(list(permutations(range(vertices), length)), dtype=np.int64).reshape(-1, length)


def all_paths(instance):
    """Return all paths without a repeated class, one per row, and weights (minus infinity if an arc is missing)."""
    paths = _sequences(instance.num_vertices, instance.length)
    numbers = {name: k for k, name in enumerate(dict.fromkeys(instance.classes))}
    visited = np.sort(np.array([numbers[name] for name in instance.classes])[paths], axis=1)
    paths = paths[(visited[:, 1:] != visited[:, :-1]).all(axis=1)]
    return paths, weigh(instance, paths)


def weigh(instance, paths):
    """Return the weight of each path from the arrays alone."""
    total = instance.first[paths[:, 0]]
    for k in range(1, paths.shape[1]):
        total = total + instance.weights[paths[:, k - 1], paths[:, k]]
    return total + instance.last[paths[:, -1]]


def answers(instance):
    """Return (weight, path) of every path."""
    paths, weights = all_paths(instance)
    return [(w, tuple(p)) for w, p in zip(weights.tolist(), paths.tolist(), strict=True) if w > float("-inf")]


def heaviest(instance):
    """Return the weight of the heaviest path, or None if there is none."""
    return max((weight for weight, _ in answers(instance)), default=None)
