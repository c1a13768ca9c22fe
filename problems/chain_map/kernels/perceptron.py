"""A linear-chain tagger's kernels: local scores from sparse features, and averaged perceptron training.

The local score of label y for token t is Σ_f W[f, y] over the token's features f.  Training decodes each sentence by
Viterbi's algorithm and adds the difference of the features of the true and of the found labelling to the weights; the
weights' average over all sentences seen is the model.  Source: Collins, Discriminative training methods for hidden
Markov models (2002).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.chains.viterbi import advance, best_sum
from colgen.solvers.copying import overwrite
from colgen.solvers.kernel_cache import njit

Floats = NDArray[Any]
Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]


@njit(cache=True)
def add_up(features: Ints, weights: Floats, out: Floats) -> None:
    """Local scores, shape (tokens, labels), of tokens with features of shape (tokens, kinds); -1 is no feature."""
    out[:] = 0
    for t in range(len(features)):
        row = out[t]
        for f in features[t]:
            if f >= 0:
                for y in range(len(row)):
                    row[y] += weights[f, y]


@njit(cache=True)
def add_up_sparse(features: Ints, starts: Offsets, labels: Ints, values: Floats, out: Floats) -> None:
    """Local scores from weights in compressed rows, which hold a feature's labels that have a weight.

    Feature f has the weight ``values[k]`` for label ``labels[k]``, k from ``starts[f]`` to ``starts[f + 1] - 1``.
    """
    out[:] = 0
    for t in range(len(features)):
        for f in features[t]:
            if f >= 0:
                for k in range(starts[f], starts[f + 1]):
                    out[t, labels[k]] += values[k]


@njit(cache=True)
def epoch(
    features: Ints,
    offsets: Offsets,
    gold: Ints,
    order: Offsets,
    weights: Floats,
    weight_sums: Floats,
    transitions: Floats,
    transition_sums: Floats,
    clock: int,
) -> tuple[int, int]:
    """One pass of the perceptron over sentences in the given order.

    ``weight_sums`` and ``transition_sums`` collect each update times the clock at which it came, so that after
    ``clock`` sentences the average is ``weights - weight_sums / clock``.

    Returns
    -------
    clock, mistakes
        The clock afterwards, and tokens that were tagged wrongly.
    """
    num = weights.shape[1]
    longest = 0
    for chain in range(len(offsets) - 1):
        longest = max(longest, offsets[chain + 1] - offsets[chain])
    local = np.empty((longest, num), dtype=weights.dtype)
    forward = np.empty((longest, num), dtype=weights.dtype)
    found = np.empty(longest, dtype=np.int32)
    column = np.empty(num, dtype=weights.dtype)
    mistakes = 0
    for chain in order:
        start, n = offsets[chain], offsets[chain + 1] - offsets[chain]
        add_up(features[start : start + n], weights, local[:n])
        overwrite(forward[0], local[0])
        for i in range(1, n):
            row = forward[i]
            advance(forward[i - 1], transitions, row)
            for y in range(num):
                row[y] += local[i, y]
        found[n - 1] = np.argmax(forward[n - 1])
        for i in range(n - 2, -1, -1):
            for x in range(num):
                column[x] = transitions[x, found[i + 1]]
            found[i] = best_sum(forward[i], column)
        for i in range(n):
            true, guess = gold[start + i], found[i]
            if true != guess:
                mistakes += 1
                for f in features[start + i]:
                    if f >= 0:
                        weights[f, true] += 1
                        weights[f, guess] -= 1
                        weight_sums[f, true] += clock
                        weight_sums[f, guess] -= clock
            if i and (true != guess or gold[start + i - 1] != found[i - 1]):
                transitions[gold[start + i - 1], true] += 1
                transitions[found[i - 1], guess] -= 1
                transition_sums[gold[start + i - 1], true] += clock
                transition_sums[found[i - 1], guess] -= clock
        clock += 1
    return clock, mistakes


@njit(cache=True)
def add_difference(
    features: Ints,
    starts: Offsets,
    chains: Offsets,
    gold: Ints,
    found: Ints,
    step: float,
    transition_step: float,
    weights: Floats,
    transitions: Floats,
) -> None:
    """Add ``step`` times the features of the true labelling less those of the found one, for some of the sentences."""
    for chain in chains:
        for t in range(starts[chain], starts[chain + 1]):
            true, guess = gold[t], found[t]
            if true != guess:
                for f in features[t]:
                    if f >= 0:
                        weights[f, true] += step
                        weights[f, guess] -= step
            if t > starts[chain]:
                transitions[gold[t - 1], true] += transition_step
                transitions[found[t - 1], guess] -= transition_step
