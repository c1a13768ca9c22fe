"""Beam search in chains, from left to right: only the best few labels of each token are extended.

O(n · width · L) per chain.  It is not exact, because the prefix of the best labelling may leave the beam.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_integer
from colgen.solvers.chains.viterbi import Ints, Offsets, Scores, Values, check_chains, longest
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import overwrite


def beam_search(scores: Scores, offsets: Offsets, transitions: Scores, width: int) -> tuple[Ints, Values]:
    """Label chains by beam search.  Return labels and values as :func:`colgen.solvers.chains.viterbi.viterbi` does.

    They are -1 and -inf if no labelling in the beam is finite.  Arguments are as there, with one matrix of transitions.
    ``width``, at least 1, is the number of labels kept per token.
    """
    scores, offsets, transitions = check_chains(scores, offsets, transitions, steps=False)
    width = as_integer(width, "width", low=1)
    labels = np.empty(len(scores), dtype=np.int32)
    values = np.empty(len(offsets) - 1)
    _beam_search(scores, offsets, transitions, min(width, scores.shape[1]), labels, values)
    return labels, values


@njit(cache=True, no_cpython_wrapper=True)
def _keep_best(row: NDArray[Any], count: int, where: NDArray[np.int64]) -> None:
    """Write the positions of the ``count`` largest numbers, unordered."""
    for k in range(count):
        where[k] = k
    least = 0
    for k in range(1, count):
        if row[where[k]] < row[where[least]]:
            least = k
    bar = row[where[least]]
    for y in range(count, len(row)):
        if row[y] > bar:
            where[least] = y
            least = 0
            for k in range(1, count):
                if row[where[k]] < row[where[least]]:
                    least = k
            bar = row[where[least]]


@njit(cache=True)
def _beam_search(
    scores: Scores, offsets: Offsets, transitions: Scores, width: int, labels: Ints, values: Values
) -> None:
    num = scores.shape[1]
    most = longest(offsets)
    kept = np.empty((most, width), dtype=np.int64)
    value = np.empty((most, width), dtype=scores.dtype)
    row = np.empty(num, dtype=scores.dtype)
    for chain in range(len(offsets) - 1):
        start, n = offsets[chain], offsets[chain + 1] - offsets[chain]
        overwrite(row, scores[start])
        for i in range(n):
            if i:
                for y in range(num):
                    row[y] = -np.inf
                for k in range(width):
                    a, x = value[i - 1, k], kept[i - 1, k]
                    for y in range(num):
                        row[y] = max(row[y], a + transitions[x, y])
                for y in range(num):
                    row[y] += scores[start + i, y]
            if width == 1:
                best = 0
                for y in range(1, num):
                    if row[y] > row[best]:
                        best = y
                kept[i, 0] = best
            else:
                _keep_best(row, width, kept[i])
            for k in range(width):
                value[i, k] = row[kept[i, k]]
        place = np.argmax(value[n - 1])
        if value[n - 1, place] == -np.inf:
            labels[start : start + n] = -1
            values[chain] = -np.inf
            continue
        label = kept[n - 1, place]
        labels[start + n - 1] = label
        total = np.float64(scores[start + n - 1, label])
        for i in range(n - 2, -1, -1):
            best = 0
            for k in range(1, width):
                if value[i, k] + transitions[kept[i, k], label] > value[i, best] + transitions[kept[i, best], label]:
                    best = k
            before = kept[i, best]
            labels[start + i] = before
            total += np.float64(scores[start + i, before]) + np.float64(transitions[before, label])
            label = before
        values[chain] = total
