"""Best and second best labellings of trees with small domains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats
from colgen.solvers.chains.forest import NONE, Forest, Ints, Offsets
from colgen.solvers.chains.tree_domains import Domains
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner

Scores = NDArray[Any]
Values = NDArray[np.float64]


@njit(cache=True)
def best_labels(
    forest: Forest, scores: Scores, tables: Scores, domains: Domains, active: Offsets, labels: Ints, values: Values
) -> None:
    """Write the best labellings within domains whose ``below`` is set.

    Parameters
    ----------
    active
        Numbers of the trees.
    labels
        Labels of all nodes, written for the active trees; ``NONE`` if no labelling has a finite score.
    values
        Scores of the trees, written for the active ones; -inf without a labelling. They equal those of
        :func:`score_labels` exactly, because a bound that a labelling attains must equal its score.
    """
    num = scores.shape[1]
    starts, candidates, below = domains
    firsts, parents, table = forest.starts, forest.parent, forest.table
    for tree in active:
        root = firsts[tree + 1] - 1
        best = starts[root]
        for k in range(best + 1, starts[root + 1]):
            if below[k] > below[best]:
                best = k
        if below[best] == -np.inf:
            labels[firsts[tree] : root + 1] = NONE
            values[tree] = -np.inf
            continue
        labels[root] = candidates[best]
        for node in range(root - 1, firsts[tree] - 1, -1):
            above = labels[parents[node]]
            first_row = table[node] * num
            best = starts[node]
            if starts[node + 1] - best > 1:
                most = below[best] + tables[first_row + candidates[best], above]
                for k in range(best + 1, starts[node + 1]):
                    here = below[k] + tables[first_row + candidates[k], above]
                    if here > most:
                        best, most = k, here
            labels[node] = candidates[best]
        values[tree] = _score(forest, scores, tables, labels, tree)


_SCORES_PER_CHECK = 2**22
"""Pairs of labels, or scores, that are processed between two checks of the clock."""


def runner_up(
    forest: Forest, scores: Scores, tables: Scores, domains: Domains, require: Callable[[], object] = lambda: None
) -> tuple[Ints, Values]:
    """Return the second best labellings within domains whose ``below`` is set, and their scores.

    The second best below a node differs from the best in one child: that child has another label, or the same label and
    its own second best. Labels are ``NONE`` and scores -inf if the domains hold fewer than two labellings. ``require``
    is called every few hundredths of a second and raises if the time is used up.
    """
    scores = as_floats(scores, "scores", shape=(forest.num_nodes, "labels"), minus_infinity=True, dtype=None)
    tables = as_floats(tables, "tables", shape=("rows", scores.shape[1]), minus_infinity=True, dtype=scores.dtype)
    labels = np.empty(forest.num_nodes, dtype=np.int32)
    values = np.empty(len(forest.starts) - 1)
    second = np.empty_like(domains.below)
    sizes = np.diff(domains.starts)
    work = sizes.copy()  # labels, plus pairs of labels on the edge to the parent
    inner = np.flatnonzero(forest.parent != NONE)
    np.add.at(work, forest.parent[inner], sizes[inner] * sizes[forest.parent[inner]])
    ends, first = np.cumsum(work), 0
    while first < forest.num_nodes:
        require()
        before = ends[first - 1] if first else 0
        end = max(first + 1, int(np.searchsorted(ends, before + _SCORES_PER_CHECK, side="right")))
        _second_best(forest, scores.shape[1], tables, domains, first, end, second)
        first = end
    require()
    _runner_up(forest, scores, tables, domains, second, labels, values)
    return labels, values


@njit(cache=True, no_cpython_wrapper=True)
def _two_best(
    tables: Scores, first_row: int, above: int, domains: Domains, second: Scores, node: int
) -> tuple[int, int, bool, Any]:
    """Return the best entry of a node, the second best (-1 if none), whether it is the best entry, and its loss.

    The arguments include the label ``above`` of the parent. The second best may be the best entry with its own second
    best below.
    """
    starts, candidates, below = domains
    best = starts[node]
    most = below[best] + tables[first_row + candidates[best], above]
    for k in range(best + 1, starts[node + 1]):
        here = below[k] + tables[first_row + candidates[k], above]
        if here > most:
            best, most = k, here
    other, deeper = -1, False
    next_most = most - np.inf
    for k in range(starts[node], starts[node + 1]):
        step = tables[first_row + candidates[k], above]
        if k != best and below[k] + step > next_most:
            other, deeper, next_most = k, False, below[k] + step
        if k == best and second[k] + step > next_most:
            other, deeper, next_most = k, True, second[k] + step
    return best, other, deeper, most - next_most


@njit(cache=True)
def _second_best(
    forest: Forest, num: int, tables: Scores, domains: Domains, first: int, end: int, second: Scores
) -> None:
    """Set the second best below each label of the nodes ``first`` to ``end`` - 1; those of their children are set."""
    starts, candidates, below = domains
    for node in range(first, end):
        for k in range(starts[node], starts[node + 1]):
            least = below[k] * 0 + np.inf
            if below[k] > -np.inf:
                child = forest.first_child[node]
                while child != NONE:
                    _, other, _, loss = _two_best(
                        tables, forest.table[child] * num, candidates[k], domains, second, child
                    )
                    if other >= 0:
                        least = min(least, loss)
                    child = forest.next_sibling[child]
                second[k] = below[k] - least
            else:
                second[k] = below[k]


@njit(cache=True)
def _runner_up(
    forest: Forest, scores: Scores, tables: Scores, domains: Domains, second: Scores, labels: Ints, values: Values
) -> None:
    num = scores.shape[1]
    starts, candidates, below = domains
    deeper = np.zeros(len(scores), dtype=np.bool_)  # nodes whose entry continues with its second best
    for tree in range(len(values)):
        root = forest.starts[tree + 1] - 1
        best = starts[root]
        for k in range(best + 1, starts[root + 1]):
            if below[k] > below[best]:
                best = k
        chosen = best
        deeper[root] = True
        most = second[best]
        for k in range(starts[root], starts[root + 1]):
            if k != best and below[k] > most:
                chosen, most = k, below[k]
                deeper[root] = False
        if most == -np.inf:
            labels[forest.starts[tree] : root + 1] = NONE
            values[tree] = -np.inf
            continue
        labels[root] = candidates[chosen]
        for node in range(root, forest.starts[tree] - 1, -1):
            # Label the children of a node, given its label and whether its second best is needed.
            label = labels[node]
            worst, least = -1, 0.0
            child = forest.first_child[node]
            while child != NONE and deeper[node]:
                _, other, _, loss = _two_best(tables, forest.table[child] * num, label, domains, second, child)
                if other >= 0 and (worst < 0 or loss < least):
                    worst, least = child, np.float64(loss)
                child = forest.next_sibling[child]
            child = forest.first_child[node]
            while child != NONE:
                first_row = forest.table[child] * num
                best, other, same, _ = _two_best(tables, first_row, label, domains, second, child)
                entry = other if child == worst else best
                deeper[child] = child == worst and same
                labels[child] = candidates[entry]
                child = forest.next_sibling[child]
        values[tree] = _score(forest, scores, tables, labels, tree)


def best_flips(
    forest: Forest,
    scores: Scores,
    tables: Scores,
    labels: Ints,
    values: Values,
    out: Values,
    require: Callable[[], object] = lambda: None,
) -> None:
    """Lower ``out`` to the loss of the best change of a single label; the second best labelling loses no more.

    ``out`` has one entry per tree, at least 0 if the labelling is optimal, and inf if no other has a finite score.
    ``require`` is called every few hundredths of a second and raises if the time is used up.
    """
    out[:] = np.inf
    step = max(1, _SCORES_PER_CHECK // scores.shape[1])
    for first in range(0, forest.num_nodes, step):
        require()
        _best_flips(forest, scores, tables, labels, values, first, min(first + step, forest.num_nodes), out)


@njit(cache=True)
def _best_flips(
    forest: Forest, scores: Scores, tables: Scores, labels: Ints, values: Values, begin: int, stop: int, out: Values
) -> None:
    num = scores.shape[1]
    row = np.empty(num, dtype=np.float64)
    for tree in range(len(out)):
        if values[tree] == -np.inf:
            continue
        for node in range(max(begin, forest.starts[tree]), min(stop, forest.starts[tree + 1])):
            for x in range(num):
                row[x] = scores[node, x]
            parent = forest.parent[node]
            if parent != NONE:
                for x in range(num):
                    row[x] += tables[forest.table[node] * num + x, labels[parent]]
            child = forest.first_child[node]
            while child != NONE:
                i = forest.table[child] * num + labels[child]
                for x in range(num):
                    row[x] += tables[i, x]
                child = forest.next_sibling[child]
            for x in range(num):
                if x != labels[node] and row[x] > -np.inf:
                    out[tree] = min(out[tree], row[labels[node]] - row[x])


@njit(cache=True)
def score_labels(forest: Forest, scores: Scores, tables: Scores, labels: Ints, values: Values) -> None:
    """Write the scores of labellings of all trees, by compensated sums in double precision.

    A tree with a label ``NONE``, or with a forbidden label or pair, has the score -inf.
    """
    for tree in range(len(values)):
        values[tree] = _score(forest, scores, tables, labels, tree)


@njit(cache=True)
def scores_match(forest: Forest, scores: Scores, tables: Scores, labels: Ints, values: Values) -> bool:
    """Return whether every node has a label, and the values equal the trees' scores exactly."""
    for label in labels:
        if not 0 <= label < scores.shape[1]:
            return False
    for tree in range(len(values)):
        if values[tree] == -np.inf or values[tree] != _score(forest, scores, tables, labels, tree):
            return False
    return True


@njit(cache=True)
def score_trees(forest: Forest, scores: Scores, tables: Scores, labels: Ints, trees: Offsets, values: Values) -> None:
    """Write the scores of some trees, as :func:`score_labels` does for all."""
    for k in range(len(trees)):
        values[trees[k]] = _score(forest, scores, tables, labels, trees[k])


@inner
def _score(forest: Forest, scores: Scores, tables: Scores, labels: Ints, tree: int) -> float:
    num, total, lost = scores.shape[1], 0.0, 0.0
    parents, table = forest.parent, forest.table
    for node in range(forest.starts[tree], forest.starts[tree + 1]):
        label = labels[node]
        if label == NONE:
            return -np.inf
        total, left = _added(total, np.float64(scores[node, label]))
        lost += left
        above = parents[node]
        if above != NONE and labels[above] != NONE:
            total, left = _added(total, np.float64(tables[table[node] * num + label, labels[above]]))
            lost += left
    return total + lost if total > -np.inf else total  # the compensation of -inf is NaN


@inner
def _added(total: float, term: float) -> tuple[float, float]:
    """Return a sum and its rounding error (Knuth's two-sum, which needs no comparison)."""
    after = total + term
    part = after - total
    return after, (total - (after - part)) + (term - part)


@njit(cache=True)
def greedy_labels(forest: Forest, scores: Scores, tables: Scores, first: int, end: int, labels: Ints) -> None:
    """Label the trees from ``first`` to ``end`` - 1 greedily from leaves to roots; O(nodes · labels).

    Each node gets the best label given the labels of its children.
    """
    num = scores.shape[1]
    row = np.empty(num, dtype=scores.dtype)
    for node in range(forest.starts[first], forest.starts[end]):
        for x in range(num):
            row[x] = scores[node, x]
        child = forest.first_child[node]
        while child != NONE:
            i = forest.table[child] * num + labels[child]
            for x in range(num):
                row[x] += tables[i, x]
            child = forest.next_sibling[child]
        labels[node] = np.argmax(row)


@njit(cache=True)
def have_labelling(forest: Forest, scores: Scores, tables: Scores, trees: Offsets) -> NDArray[np.bool_]:
    """Return whether each tree has a labelling without a forbidden label or pair; O(nodes · labels²)."""
    num = scores.shape[1]
    out = np.zeros(len(trees), dtype=np.bool_)
    for k in range(len(trees)):
        first, end = forest.starts[trees[k]], forest.starts[trees[k] + 1]
        possible = np.zeros((end - first, num), dtype=np.bool_)
        for node in range(first, end):
            for y in range(num):
                good = scores[node, y] > -np.inf
                child = forest.first_child[node]
                while good and child != NONE:
                    good = False
                    for x in range(num):
                        if possible[child - first, x] and tables[forest.table[child] * num + x, y] > -np.inf:
                            good = True
                            break
                    child = forest.next_sibling[child]
                possible[node - first, y] = good
        out[k] = possible[end - first - 1].any()
    return out
