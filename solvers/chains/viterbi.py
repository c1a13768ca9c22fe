"""Best labellings of chains: Viterbi's algorithm over all labels, for many chains in one call.

    max  Σ_i θ_i(x_i) + Σ_i τ(x_{i-1}, x_i)        over x_1, ..., x_n in {0, ..., L-1}

O(n L²) per chain.  One array holds the local scores of all chains in sequence; ``offsets`` gives their starts.
Source: Viterbi, Error bounds for convolutional codes (1967).

The inner loop runs over contiguous labels, processes four predecessors at a time, and stores no back pointers.  It
computes only maxima of sums, which compile to a few vector instructions.  The best predecessors are found afterwards,
only for the labels of the best path.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats, as_offsets
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import boolean, overwrite

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]
Scores = NDArray[Any]
Values = NDArray[np.float64]


def viterbi(scores: Scores, offsets: Offsets, transitions: Scores) -> tuple[Ints, Values]:
    """Return best labellings of chains, labels of all tokens and one score per chain in double precision.

    They are -1 and -inf for chains without a finite labelling.

    Parameters
    ----------
    scores : (tokens, labels) array θ, float32 or float64; -inf forbids a label
    offsets : chain k has the tokens ``offsets[k]`` to ``offsets[k + 1] - 1``, at least one
    transitions : (labels, labels) array τ of the scores' type, row: the earlier label
        Or one such matrix per token, shape (tokens, labels, labels), for the step to the next token.  That of a
        chain's last token is ignored.
    """
    scores, offsets, transitions = check_chains(scores, offsets, transitions)
    labels = np.empty(len(scores), dtype=np.int32)
    values = np.empty(len(offsets) - 1)
    stepwise = transitions.ndim == 3
    steps = transitions if stepwise else transitions[np.newaxis]
    _viterbi(scores, offsets, steps, np.ascontiguousarray(steps.swapaxes(1, 2)), stepwise, labels, values)
    return labels, values


def check_chains(
    scores: Scores, offsets: Offsets, transitions: Scores, *, steps: bool = True
) -> tuple[Scores, Offsets, Scores]:
    """Return validated arguments of :func:`viterbi`, or raise ArrayError.

    ``steps`` allows one matrix of transitions per token.
    """
    scores = as_floats(scores, "scores", shape=("tokens", "labels"), minus_infinity=True, dtype=None)
    tokens, labels = scores.shape
    offsets = as_offsets(offsets, "offsets", total=tokens, empty=False)
    shape = (tokens, labels, labels) if steps and np.ndim(transitions) == 3 else (labels, labels)
    return scores, offsets, as_floats(transitions, "transitions", shape=shape, minus_infinity=True, dtype=scores.dtype)


@njit(cache=True, no_cpython_wrapper=True)
def advance(before: Scores, transitions: Scores, after: Scores) -> None:
    """Set ``after[y] = max_x before[x] + transitions[x, y]``, four x at a time."""
    num = len(before)
    whole = num - num % 4
    for y in range(len(after)):
        after[y] = -np.inf
    for x in range(0, whole, 4):
        a, b, c, d = before[x], before[x + 1], before[x + 2], before[x + 3]
        ra, rb, rc, rd = transitions[x], transitions[x + 1], transitions[x + 2], transitions[x + 3]
        for y in range(len(after)):
            ab = max(a + ra[y], b + rb[y])
            cd = max(c + rc[y], d + rd[y])
            after[y] = max(after[y], max(ab, cd))
    for x in range(whole, num):
        a = before[x]
        ra = transitions[x]
        for y in range(len(after)):
            after[y] = max(after[y], a + ra[y])


@njit(cache=True, no_cpython_wrapper=True)
def longest(offsets: Offsets) -> int:
    """Return the number of tokens of the longest chain."""
    most = 0
    for chain in range(len(offsets) - 1):
        most = max(most, offsets[chain + 1] - offsets[chain])
    return most


@njit(cache=True, no_cpython_wrapper=True)
def best_sum(a: Scores, b: Scores) -> int:
    """Return the first index of the largest a + b."""
    best, where = a[0] + b[0], 0
    for k in range(1, len(a)):
        if a[k] + b[k] > best:
            best, where = a[k] + b[k], k
    return where


@njit(cache=True)
def _viterbi(
    scores: Scores,
    offsets: Offsets,
    steps: Scores,
    transposed: Scores,
    stepwise: bool,
    labels: Ints,
    values: Values,
) -> None:
    num = scores.shape[1]
    forward = np.empty((longest(offsets), num), dtype=scores.dtype)
    for chain in range(len(offsets) - 1):
        start, n = offsets[chain], offsets[chain + 1] - offsets[chain]
        overwrite(forward[0], scores[start])
        for i in range(1, n):
            row = forward[i]
            advance(forward[i - 1], steps[start + i - 1 if stepwise else 0], row)
            for y in range(num):
                row[y] += scores[start + i, y]
        label = np.int64(np.argmax(forward[n - 1]))
        if forward[n - 1, label] == -np.inf:
            labels[start : start + n] = -1
            values[chain] = -np.inf
            continue
        labels[start + n - 1] = label
        value = np.float64(scores[start + n - 1, label])
        for i in range(n - 2, -1, -1):
            columns = transposed[start + i if stepwise else 0]
            after = label
            label = np.int64(best_sum(forward[i], columns[after]))
            labels[start + i] = label
            value += np.float64(scores[start + i, label]) + np.float64(columns[after, label])
        values[chain] = value


def plain(scores: Scores, offsets: Offsets, transitions: Scores) -> tuple[Ints, Values]:
    """Return best labellings by the textbook loop over label pairs with back pointers, compiled, for comparison.

    Parameters and results are those of :func:`viterbi`, with one matrix of transitions.
    """
    scores, offsets, transitions = check_chains(scores, offsets, transitions, steps=False)
    labels = np.empty(len(scores), dtype=np.int32)
    values = np.empty(len(offsets) - 1)
    _plain(scores, offsets, transitions, labels, values)
    return labels, values


@njit(cache=True)
def _plain(scores: Scores, offsets: Offsets, transitions: Scores, labels: Ints, values: Values) -> None:
    num = scores.shape[1]
    most = longest(offsets)
    forward = np.empty((most, num), dtype=scores.dtype)
    back = np.empty((most, num), dtype=np.int32)
    for chain in range(len(offsets) - 1):
        start, n = offsets[chain], offsets[chain + 1] - offsets[chain]
        for y in range(num):
            forward[0, y] = scores[start, y]
        for i in range(1, n):
            for y in range(num):
                best, where = forward[i - 1, 0] + transitions[0, y], 0
                for x in range(1, num):
                    here = forward[i - 1, x] + transitions[x, y]
                    if here > best:
                        best, where = here, x
                forward[i, y] = best + scores[start + i, y]
                back[i, y] = where
        label = np.int64(np.argmax(forward[n - 1]))
        if forward[n - 1, label] == -np.inf:
            labels[start : start + n] = -1
            values[chain] = -np.inf
            continue
        labels[start + n - 1] = label
        value = np.float64(scores[start + n - 1, label])
        for i in range(n - 1, 0, -1):
            before = np.int64(back[i, label])
            value += np.float64(scores[start + i - 1, before]) + np.float64(transitions[before, label])
            label = before
            labels[start + i - 1] = label
        values[chain] = value


def two_best(scores: Scores, offsets: Offsets, transitions: Scores) -> tuple[Ints, Values, Ints, Values]:
    """Return best and second best labellings of chains, by Viterbi's algorithm with two values per label.

    Labels and values as for :func:`viterbi`, followed by those of the second best; -1 and -inf if it does not exist.
    """
    scores, offsets, transitions = check_chains(scores, offsets, transitions, steps=False)
    labels, second_labels = (np.empty(len(scores), dtype=np.int32) for _ in range(2))
    values, second_values = (np.empty(len(offsets) - 1) for _ in range(2))
    transposed = np.ascontiguousarray(transitions.T)
    _two_best(scores, offsets, transitions, transposed, labels, values, second_labels, second_values)
    return labels, values, second_labels, second_values


@njit(cache=True)
def _two_best(
    scores: Scores,
    offsets: Offsets,
    transitions: Scores,
    transposed: Scores,
    labels: Ints,
    values: Values,
    second_labels: Ints,
    second_values: Values,
) -> None:
    num = scores.shape[1]
    most = longest(offsets)
    first = np.empty((most, num), dtype=scores.dtype)
    second = np.empty((most, num), dtype=scores.dtype)
    for chain in range(len(offsets) - 1):
        start, n = offsets[chain], offsets[chain + 1] - offsets[chain]
        overwrite(first[0], scores[start])
        second[0] = -np.inf
        for i in range(1, n):
            one, two = first[i], second[i]
            one[:] = -np.inf
            two[:] = -np.inf
            for x in range(num):
                a, b, row = first[i - 1, x], second[i - 1, x], transitions[x]
                for y in range(num):
                    here = a + row[y]
                    two[y] = max(two[y], max(min(one[y], here), b + row[y]))
                    one[y] = max(one[y], here)
            for y in range(num):
                one[y] += scores[start + i, y]
                two[y] += scores[start + i, y]
        label = np.int64(np.argmax(first[n - 1]))
        values[chain] = _trace(scores, transposed, first, second, start, n, label, boolean(False), labels)
        other, deeper = np.int64(label), True
        for y in range(num):
            if y != label and first[n - 1, y] > (second[n - 1, label] if deeper else first[n - 1, other]):
                other, deeper = np.int64(y), False
        second_values[chain] = _trace(scores, transposed, first, second, start, n, other, deeper, second_labels)


@njit(cache=True, no_cpython_wrapper=True)
def _trace(
    scores: Scores,
    transposed: Scores,
    first: Scores,
    second: Scores,
    start: int,
    n: int,
    label: np.int64,
    deeper: bool,
    out: Ints,
) -> float:
    """Follow a best (or second best if ``deeper``) labelling back from its last label.  Return its score."""
    if (second if deeper else first)[n - 1, label] == -np.inf:
        out[start : start + n] = -1
        return -np.inf
    out[start + n - 1] = label
    value = np.float64(scores[start + n - 1, label])
    for i in range(n - 2, -1, -1):
        column = transposed[label]
        best = np.int64(best_sum(first[i], column))
        if deeper:
            other, same = np.int64(best), True
            for x in range(len(column)):
                rival = second[i, best] + column[best] if same else first[i, other] + column[other]
                if x != best and first[i, x] + column[x] > rival:
                    other, same = np.int64(x), False
            best, deeper = other, same
        label = best
        out[start + i] = label
        value += np.float64(scores[start + i, label]) + np.float64(column[label])
    return value
