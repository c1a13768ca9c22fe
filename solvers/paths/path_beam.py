r"""Beam search for the heaviest path with k vertices of different classes.

    max  first(v_1) + Σ_i w(v_i, v_{i+1}) + last(v_k)      over v_1, ..., v_k of k different classes.

Only the best ``width`` paths of each length are extended, so there is no bound: O(k·width·(n + log width)) time.  Paths
are compared by their weight, or by weight plus a bound on completions (:mod:`colgen.solvers.paths.walks`).

Source: B. T. Lowerre, *The Harpy speech recognition system*, PhD thesis, Carnegie Mellon University (1976).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_integer
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import int64, overwrite
from colgen.solvers.paths.walks import Graph, Relaxed, validate

Ints = NDArray[np.int64]

WIDEST = 1 << 20
"""Largest width."""


def beam(of: Graph, width: int) -> tuple[float, Ints]:
    """Return the weight of the best path found, and the path; minus infinity and empty if none was completed.

    ``width``, from 1 to ``WIDEST``, is the number of paths kept at each length.
    """
    of, width = validate(of), as_integer(width, "width", low=1, high=WIDEST)
    n = len(of.first)
    ahead = np.zeros((of.length, n))
    ahead[-1] = of.last  # the last vertex includes the arc to the sink
    weight, path = _beam(*of[:4], np.ones((of.length, n), np.bool_), np.zeros(n), ahead, width)
    return float(weight), path[path >= 0]


def guided_beam(relaxed: Relaxed, width: int) -> tuple[float, Ints]:
    """Return the result of :func:`beam` guided by bounds on completions, in vertices of the original graph."""
    width = as_integer(width, "width", low=1, high=WIDEST)
    if not len(relaxed.vertices):
        return -math.inf, np.empty(0, np.int64)
    penalty = relaxed.penalties[relaxed.graph.classes]
    weight, path = _beam(*relaxed.graph[:4], relaxed.active, penalty, relaxed.to_go, width)
    return float(weight), relaxed.vertices[path[path >= 0]]


@njit(cache=True, nogil=True)
def _beam(  # type: ignore[no-untyped-def]
    weights, first, last, classes, active, penalty, to_go, width
):
    length, n = active.shape
    # Heap of the best extensions (score, path, vertex), the worst one on top.
    score, before, vertex = np.empty(width), np.empty(width, np.int64), np.empty(width, np.int64)
    weight, gained = np.zeros(1), np.zeros(1)  # of each path: weight, penalties of visited classes
    paths = np.empty((1, 0), np.int64)
    blocked = np.zeros(classes.max() + 1, np.int64)
    for j in range(length):
        count = int64(0)
        for p in range(len(paths)):
            for i in range(j):
                blocked[classes[paths[p, i]]] = p + 1
            for v in range(n):
                if not active[j, v] or (j > 0 and blocked[classes[v]] == p + 1):
                    continue
                step = first[v] if j == 0 else weights[paths[p, j - 1], v]
                s = weight[p] - gained[p] + step - penalty[v] + to_go[j, v]
                if s > -np.inf and (count < width or s > score[0]):
                    if count < width:
                        count += 1
                        _sift_up(score, before, vertex, count - 1, s, p, v)
                    else:
                        _sift_down(score, before, vertex, count, s, p, v)
        longer = np.empty((count, j + 1), np.int64)
        new_weight, new_gained = np.empty(count), np.empty(count)
        for q in range(count):
            p, v = before[q], vertex[q]
            overwrite(longer[q, :j], paths[p])
            longer[q, j] = v
            new_weight[q] = weight[p] + (first[v] if j == 0 else weights[paths[p, j - 1], v])
            new_gained[q] = gained[p] + penalty[v]
        paths, weight, gained = longer, new_weight, new_gained
        blocked[:] = 0
    best, chosen = -np.inf, -1
    for p in range(len(paths)):
        total = weight[p] + last[paths[p, length - 1]]
        if total > best:
            best, chosen = total, p
    if chosen < 0:
        return best, np.full(length, -1, np.int64)
    return best, paths[chosen].copy()


@njit(cache=True, no_cpython_wrapper=True)
def _sift_up(score, before, vertex, q, s, p, v):  # type: ignore[no-untyped-def]
    """Add an entry to the heap."""
    while q > 0 and s < score[(q - 1) // 2]:
        up = (q - 1) // 2
        score[q], before[q], vertex[q] = score[up], before[up], vertex[up]
        q = up
    score[q], before[q], vertex[q] = s, p, v


@njit(cache=True, no_cpython_wrapper=True)
def _sift_down(score, before, vertex, count, s, p, v):  # type: ignore[no-untyped-def]
    """Replace the worst entry, the root of the heap, and restore the heap."""
    q = 0
    while True:
        down = 2 * q + 1
        if down >= count:
            break
        if down + 1 < count and score[down + 1] < score[down]:
            down += 1
        if s <= score[down]:
            break
        score[q], before[q], vertex[q] = score[down], before[down], vertex[down]
        q = down
    score[q], before[q], vertex[q] = s, p, v
