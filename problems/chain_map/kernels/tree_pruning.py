"""Labels of trees that local scores exclude, and maxima over the remaining labels.

Label x' of node i is no better than label x of the same node if

    θ(x) + Σ_neighbours min τ(x, ·)  ≥  θ(x') + Σ_neighbours max τ(x', ·),

with precomputed minima and maxima over the neighbours' labels. x is the label of best local score. Time is O(n L).
Source: Belanger, Passos, Riedel and McCallum, MAP inference in chains using column generation (2012), rule (14).

A label is removed only if the left side is greater by more than the rounding error of both sides. With d neighbours and
T the largest |τ|, the error of either side is at most u (d + 2) (|θ(x)| + 2 d T), because the right side is not far
below and so not larger in magnitude.
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


_SCORES_PER_CHECK = 2**22
"""Scores that are processed between two checks of the clock."""


class _Extremes(NamedTuple):
    """Minima and maxima of τ over the labels of the parent, and over those of the node; shape (tables, labels)."""

    row_minima: Scores
    row_maxima: Scores
    column_minima: Scores
    column_maxima: Scores


def prune_by_bounds(
    forest: Forest, scores: Scores, tables: Scores, slack: float = 0.0, require: Callable[[], object] = lambda: None
) -> Domains:
    """Return the labels that rule (14) leaves, at least one per node; ``below`` is not set.

    Parameters
    ----------
    scores
        θ, shape (nodes, labels).
    tables
        τ, shape (tables, labels, labels).
    slack
        Keep labels that fall short by less than this. Then the domains contain every labelling that loses less.
    require
        Called every hundredth of a second; raises if the time is used up.
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
    step = max(1, _SCORES_PER_CHECK // num)
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
    """Set ``below`` of domains: local score plus best scores of the subtrees, over the domains' labels.

    The best entry of each node is 0. ``tables`` holds the rows of all tables.
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
