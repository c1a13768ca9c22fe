"""Weights of tags between the head and the modifier of an arc: scores, and marks for training.

Weights have shape (tags, tags, 2, tags): by tag of the head, of the modifier, side (1: the head is to the right), and
tag between them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@njit(cache=True)
def score_between(tags: Ints, between: Singles, allowed: Bools, scores: Floats) -> None:
    """Add the weights of tags between head and modifier to the scores of allowed arcs, shape (N, N)."""
    size = len(allowed)
    seen = np.zeros(len(between), dtype=np.bool_)
    found = np.empty(len(between), dtype=np.int64)
    for h in range(size):
        for side in range(2):
            seen[:] = False
            count = 0
            step = 1 - 2 * side
            m = h + step
            while 1 <= m < size:
                if allowed[h, m]:
                    row = between[tags[h], tags[m], side]
                    for k in range(count):
                        scores[h, m] += row[found[k]]
                if not seen[tags[m]]:
                    seen[tags[m]] = True
                    found[count] = tags[m]
                    count += 1
                m += step


@njit(cache=True, no_cpython_wrapper=True)
def score_all_between(tags: Ints, between: Singles, scores: Floats) -> None:
    """Add the weights to the scores of all arcs; write -inf in column 0 and on the diagonal."""
    allowed = np.ones(scores.shape, dtype=np.bool_)
    for token in range(len(scores)):
        allowed[token, 0] = allowed[token, token] = False
    score_between(tags, between, allowed, scores)
    for token in range(len(scores)):
        scores[token, 0] = scores[token, token] = -np.inf


@njit(cache=True)
def mark_between(tags: Ints, size: int, heads: Ints, other: Ints, plus: bool, marks: Ints, count: int) -> int:
    """Mark each tag between head and modifier, for arcs of ``heads`` that ``other`` does not have.

    Returns the number of marks (:mod:`colgen.solvers.averaging`); ``size``: number of tags with weights.
    """
    for m in range(1, heads.shape[0]):
        h = heads[m]
        if h == other[m]:
            continue
        base = ((tags[h] * size + tags[m]) * 2 + (h > m)) * size
        seen = np.zeros(size, dtype=np.bool_)
        for k in range(min(h, m) + 1, max(h, m)):
            if not seen[tags[k]]:
                seen[tags[k]] = True
                marks[count] = 2 * (base + tags[k]) + np.int64(plus)
                count += 1
    return count
