"""SparseMAP by an interior-point method over a complete list of structures.

This is a Newton method on the optimality conditions with one variable per structure.  It shares no code with the
active set method.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS = 100
_ENOUGH = 2.0**-48


def nearest_mean(columns: Floats, linear: Floats) -> Floats:
    """Return the weights p of structures that maximise linearᵀp - ½ ‖columns p‖² over the simplex.

    ``columns`` are the penalised parts of each structure, shape (parts, structures); ``linear`` are the scores.
    """
    count = columns.shape[1]
    p, slack = np.full(count, 1.0 / count), np.ones(count)
    gram = columns.T @ columns
    slack += np.abs(linear - gram @ p).max()
    level = 0.0
    solved: Floats = np.zeros(count + 1)
    for _ in range(_STEPS):
        dual = gram @ p - linear - level - slack
        primal = 1.0 - p.sum()
        mu = float(p @ slack) / count
        if mu * count < _ENOUGH * (1.0 + np.abs(linear).max()) and np.abs(dual).max() < _ENOUGH * 1e3:
            break
        matrix = np.zeros((count + 1, count + 1))
        matrix[:count, :count] = gram + np.diag(slack / p)
        matrix[:count, count] = matrix[count, :count] = -1.0
        step = np.zeros(count)
        change = np.zeros(count)
        for centring in (0.0, None):  # predictor, then corrector (Mehrotra)
            if centring is None:
                length = min(_longest(p, step), _longest(slack, change))
                ahead = float((p + length * step) @ (slack + length * change)) / count
                target = mu * (ahead / mu) ** 3 - step * change
            else:
                target = np.zeros(count)
            right = np.append(-dual + target / p - slack, -primal)
            solved = np.linalg.solve(matrix, right)
            step = solved[:count]
            change = target / p - slack - slack / p * step
        length = 0.995 * min(_longest(p, step), _longest(slack, change))
        p, slack, level = p + length * step, slack + length * change, level + length * float(solved[count])
    result: Floats = p / p.sum()
    return result


def _longest(point: Floats, step: Floats) -> float:
    """Return the step length at which an entry of a positive point becomes zero, at most 1 / 0.995."""
    falling = step < 0.0
    return float(min(np.min(-point[falling] / step[falling], initial=np.inf), 1.0 / 0.995))


def labellings(tokens: int, labels: int) -> Iterator[tuple[int, ...]]:
    """Return all labellings of a chain."""
    return itertools.product(range(labels), repeat=tokens)


def partitions(items: int) -> Iterator[tuple[int, ...]]:
    """Yield all clusterings, with clusters numbered by their first items."""
    for labels in itertools.product(*(range(i + 1) for i in range(items))):
        if all(labels[i] <= max(labels[:i], default=-1) + 1 for i in range(items)):
            yield labels


def trees(words: int, *, single_root: bool = False, projective: bool = False) -> Iterator[tuple[int, ...]]:
    """Yield the heads of all dependency trees, with -1 for the root."""
    for heads in itertools.product(range(words + 1), repeat=words):
        tree = (-1, *heads)
        if single_root and heads.count(0) != 1:
            continue
        if not all(_reaches(tree, m, 0) for m in range(1, words + 1)):
            continue
        if projective and not all(
            _reaches(tree, k, tree[m]) for m in range(1, words + 1) for k in range(min(m, tree[m]) + 1, max(m, tree[m]))
        ):
            continue
        yield tree


def _reaches(tree: tuple[int, ...], word: int, above: int) -> bool:
    """Return whether a word descends from another, or from the root."""
    for _ in tree:
        if word == above:
            return True
        if word <= 0:
            return False
        word = tree[word]
    return False
