"""Shares of a tree's nodes as roots, and the sum of shares beyond each edge, as used in ``pair_prices``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats
from colgen.solvers.chains.forest import NONE, Forest
from colgen.solvers.kernel_cache import njit

Values = NDArray[np.float64]


def root_shares(forest: Forest, both_ways: bool) -> Values:
    """Return a share for each node; in each tree its ends have equal shares of sum 1, or its root has share 1."""
    shares = np.zeros(forest.num_nodes)
    if both_ways:
        _ends(forest, shares)
    else:
        shares[forest.starts[1:] - 1] = 1.0
    return shares


def roots_beyond(forest: Forest, shares: Values) -> Values:
    """Return the share w of the roots beyond the edge of each node to its parent; 1 at a root."""
    shares = as_floats(shares, "shares", shape=(forest.num_nodes,))
    beyond = np.empty(forest.num_nodes)
    _beyond(forest, shares, beyond)
    return beyond


@njit(cache=True)
def _ends(forest: Forest, shares: Values) -> None:
    for tree in range(len(forest.starts) - 1):
        first, end = forest.starts[tree], forest.starts[tree + 1]
        count = 0
        for node in range(first, end):
            child = forest.first_child[node]
            neighbours = int(forest.parent[node] != NONE)
            while child != NONE:
                neighbours += 1
                child = forest.next_sibling[child]
            if neighbours <= 1:
                shares[node] = 1.0
                count += 1
        for node in range(first, end):
            shares[node] /= count


@njit(cache=True)
def _beyond(forest: Forest, shares: Values, beyond: Values) -> None:
    within = shares.copy()
    for node in range(len(shares)):
        beyond[node] = 1.0 - within[node]
        if forest.parent[node] != NONE:
            within[forest.parent[node]] += within[node]
        else:
            beyond[node] = 1.0
