"""Kernels of a perceptron over chains: local scores from sparse features, and training passes with Viterbi's algorithm.

The local score of label y for token t is Σ_f W[f, y] over the token's features f.  Each chain is decoded.  The features
of the correct labelling minus those of the predicted one are added to the weights.

Source: M. Collins, *Discriminative training methods for hidden Markov models*, EMNLP (2002).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.chains.viterbi import advance, best_sum, longest
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import overwrite

Floats = NDArray[Any]
Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]


@njit(cache=True)
def add_up(features: Ints, weights: Floats, out: Floats) -> None:
    """Compute local scores, shape (tokens, labels), from features of shape (tokens, kinds); -1 is no feature."""
    out[:] = 0
    for t in range(len(features)):
        row = out[t]
        for f in features[t]:
            if f >= 0:
                for y in range(len(row)):
                    row[y] += weights[f, y]


@njit(cache=True)
def add_up_sparse(features: Ints, starts: Offsets, labels: Ints, values: Floats, out: Floats) -> None:
    """Compute local scores from the nonzero weights of each feature, in compressed rows.

    Feature f has the weight ``values[k]`` for label ``labels[k]``, k from ``starts[f]`` to ``starts[f + 1] - 1``.
    """
    out[:] = 0
    for t in range(len(features)):
        for f in features[t]:
            if f >= 0:
                for k in range(starts[f], starts[f + 1]):
                    out[t, labels[k]] += values[k]


@njit(cache=True)
def perceptron_pass(
    features: Ints,
    offsets: Offsets,
    correct: Ints,
    kinds: Ints,
    order: Offsets,
    weights: Floats,
    weight_sums: Floats,
    transitions: Floats,
    transition_sums: Floats,
    number: int,
) -> int:
    """Run perceptron steps on chains in the given order.  Return the number of wrongly labelled tokens.

    Parameters
    ----------
    features : (tokens, kinds of features) array; -1 is no feature
    offsets : start of each chain
    correct : correct labels
    kinds : kind of each chain; each kind has its own transitions
    weights : (features, labels) array
    weight_sums, transition_sums : changes times their step numbers, which begin with ``number``
    transitions : (kinds, labels or labels + 1, labels) array; row ``labels`` applies to the first token of a chain
    """
    num = weights.shape[1]
    with_first = transitions.shape[1] > num
    most = longest(offsets)
    local = np.empty((most, num), dtype=weights.dtype)
    forward = np.empty((most, num), dtype=weights.dtype)
    predicted = np.empty(most, dtype=np.int32)
    column = np.empty(num, dtype=weights.dtype)
    mistakes = 0
    for chain in order:
        start, n = offsets[chain], offsets[chain + 1] - offsets[chain]
        own, own_sums = transitions[kinds[chain]], transition_sums[kinds[chain]]
        add_up(features[start : start + n], weights, local[:n])
        overwrite(forward[0], local[0])
        if with_first:
            for y in range(num):
                forward[0, y] += own[num, y]
        for i in range(1, n):
            row = forward[i]
            advance(forward[i - 1], own, row)
            for y in range(num):
                row[y] += local[i, y]
        predicted[n - 1] = np.argmax(forward[n - 1])
        for i in range(n - 2, -1, -1):
            for x in range(num):
                column[x] = own[x, predicted[i + 1]]
            predicted[i] = best_sum(forward[i], column)
        for i in range(n):
            true, guess = correct[start + i], predicted[i]
            if true != guess:
                mistakes += 1
                for f in features[start + i]:
                    if f >= 0:
                        weights[f, true] += 1
                        weights[f, guess] -= 1
                        weight_sums[f, true] += number
                        weight_sums[f, guess] -= number
            if i == 0 and not with_first:
                continue
            before, predicted_before = (correct[start + i - 1], predicted[i - 1]) if i else (num, num)
            if true != guess or before != predicted_before:
                own[before, true] += 1
                own[predicted_before, guess] -= 1
                own_sums[before, true] += number
                own_sums[predicted_before, guess] -= number
        number += 1
    return mistakes


@njit(cache=True)
def add_difference(
    features: Ints,
    starts: Offsets,
    chains: Offsets,
    correct: Ints,
    predicted: Ints,
    step: float,
    transition_step: float,
    weights: Floats,
    transitions: Floats,
) -> None:
    """Add ``step`` times the features of the correct labelling minus those of the predicted one, for some chains."""
    for chain in chains:
        for t in range(starts[chain], starts[chain + 1]):
            true, guess = correct[t], predicted[t]
            if true != guess:
                for f in features[t]:
                    if f >= 0:
                        weights[f, true] += step
                        weights[f, guess] -= step
            if t > starts[chain]:
                transitions[correct[t - 1], true] += transition_step
                transitions[predicted[t - 1], guess] -= transition_step
