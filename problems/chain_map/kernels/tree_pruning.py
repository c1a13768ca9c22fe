"""Labels of trees that local scores alone rule out, and maxima over the labels that are left.

Label x' of node i is no better than label x of the same node if

    θ(x) + Σ_neighbours min τ(x, ·)  ≥  θ(x') + Σ_neighbours max τ(x', ·),

minima and maxima over the neighbours' labels, which are known beforehand.  x is the label of best local score; O(n L).
Source: Belanger, Passos, Riedel and McCallum, MAP inference in chains using column generation (2012), rule (14).

A label is left out only if the left side is greater by what rounding may have done to both: with d neighbours and T the
largest |τ|, u (d + 2) (|θ(x)| + 2 d T) for either of them, where the right side is not far below and so no larger.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_float, as_floats
from colgen.solvers.chains.forest import NONE, Forest, Ints, Offsets
from colgen.solvers.chains.magnitudes import largest
from colgen.solvers.chains.tree_domains import Domains, inside
from colgen.solvers.kernel_cache import njit

Scores = NDArray[Any]


_AT_ONCE = 2**22
"""Scores that are looked at between two looks at the clock."""


class _Extremes(NamedTuple):
    """Minima and maxima of τ over the labels of the parent, and over those of the node; shape (tables, labels)."""

    row_minima: Scores
    row_maxima: Scores
    column_minima: Scores
    column_maxima: Scores


def prune_by_bounds(
    forest: Forest, scores: Scores, tables: Scores, slack: float = 0.0, require: Callable[[], object] = lambda: None
) -> Domains:
    """The labels that the rule leaves, at least one a node; ``below`` is not set.

    Parameters
    ----------
    scores
        θ, shape (nodes, labels).
    tables
        τ, shape (tables, labels, labels).
    slack
        Labels stay that lack less than this: then every labelling that loses less has all its labels in the domains.
    require
        Called every hundredth of a second; raises if there is no more time.
    """
    scores = as_floats(scores, "scores", shape=(forest.num_nodes, "labels"), minus_infinity=True, dtype=None)
    num = scores.shape[1]
    tables = as_floats(tables, "tables", shape=("tables", num, num), minus_infinity=True, dtype=scores.dtype)
    slack = as_float(slack, "slack", finite=False)
    starts = np.empty(forest.num_nodes + 1, dtype=np.int64)
    labels = np.empty(scores.size, dtype=np.int32)
    extremes = _Extremes(tables.min(axis=2), tables.max(axis=2), tables.min(axis=1), tables.max(axis=1))
    size = largest(np.ascontiguousarray(tables))
    starts[0] = 0
    step = max(1, _AT_ONCE // num)
    for first in range(0, len(scores), step):
        require()
        end = min(first + step, len(scores))
        _prune(forest, scores, extremes, float(slack), size, first, end, starts, labels)
    return Domains(starts, labels[: starts[-1]], np.empty(int(starts[-1])))


@njit(cache=True)
def _prune(
    forest: Forest,
    scores: Scores,
    extremes: _Extremes,
    slack: float,
    size: float,
    first: int,
    end: int,
    starts: Offsets,
    labels: Ints,
) -> None:
    row_minima, row_maxima, column_minima, column_maxima = extremes
    num = scores.shape[1]
    row = np.empty(num, dtype=scores.dtype)
    epsilon = np.float64(np.finfo(scores.dtype).eps)
    entry = starts[first]
    for node in range(first, end):
        best = 0
        for x in range(1, num):
            if scores[node, x] > scores[node, best]:
                best = x
        least = np.float64(scores[node, best]) - slack
        neighbours = 0
        for x in range(num):
            row[x] = scores[node, x]
        if forest.parent[node] != NONE:
            table = forest.table[node]
            neighbours += 1
            least += row_minima[table, best]
            for x in range(num):
                row[x] += row_maxima[table, x]
        child = forest.first_child[node]
        while child != NONE:
            table = forest.table[child]
            neighbours += 1
            least += column_minima[table, best]
            for x in range(num):
                row[x] += column_maxima[table, x]
            child = forest.next_sibling[child]
        if scores[node, best] > -np.inf:
            size_here = abs(np.float64(scores[node, best])) + 2.0 * neighbours * size + slack
            least -= 2.0 * epsilon * (neighbours + 2) * size_here
        labels[entry] = best
        entry += 1
        for x in range(num):
            if row[x] > least and x != best:
                labels[entry] = x
                entry += 1
        starts[node + 1] = entry


@njit(cache=True)
def fill_below(forest: Forest, scores: Scores, tables: Scores, domains: Domains) -> None:
    """Set ``below`` of domains: local score and best scores of what is below, over the domains' labels.

    Counted from the best of a node's.

    ``tables``: τ of all tables one below the other.
    """
    starts, labels, below = domains
    for node in range(len(scores)):
        highest = -np.inf
        for k in range(starts[node], starts[node + 1]):
            below[k] = inside(forest, scores, tables, starts, labels, below, node, labels[k])
            highest = max(highest, below[k])
        if highest > -np.inf:
            for k in range(starts[node], starts[node + 1]):
                below[k] -= highest
