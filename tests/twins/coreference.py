"""Brute force for tiny instances: all clusterings, all sets of mentions."""

import itertools

import numpy as np


def partitions(n):
    """Yield every partition of 0, ..., n - 1 as a list of tuples."""
    if n == 0:
        yield []
        return
    for smaller in partitions(n - 1):
        yield [*smaller, (n - 1,)]
        for k, cluster in enumerate(smaller):
            yield [*smaller[:k], (*cluster, n - 1), *smaller[k + 1 :]]


def optimum(instance):
    return max(instance.objective(clusters) for clusters in partitions(instance.num_mentions))


def subsets(n):
    """Return all non-empty sets of mentions."""
    return itertools.chain.from_iterable(itertools.combinations(range(n), size) for size in range(1, n + 1))


def together(clusters, n):
    """Return a clustering as a symmetric 0/1 matrix with zero diagonal."""
    x = np.zeros((n, n))
    for cluster in clusters:
        x[np.ix_(cluster, cluster)] = 1.0
    np.fill_diagonal(x, 0.0)
    return x


def symmetric(n, entries):
    """Return a symmetric matrix with zero diagonal from its upper triangle."""
    matrix = np.zeros((n, n))
    matrix[np.triu_indices(n, 1)] = entries
    return matrix + matrix.T
