"""Best labellings that a finite automaton accepts: Viterbi's algorithm over pairs of a label and a state.

    max  Σ_i θ_i(x_i) + Σ_i τ(x_{i-1}, x_i)        over x_1, ..., x_n whose symbols lead from state 0 to an accepted one

Each token and label has a symbol, ``symbols[i, x_i]``.  From state s, symbol g leads to ``moves[g, s]``, or nowhere if
that is -1.  A counter with an upper limit is such an automaton.  O(n S L²) for S states and L labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_booleans, as_integers
from colgen.solvers.chains.viterbi import advance, check_chains
from colgen.solvers.kernel_cache import njit

Ints = NDArray[np.int64]
Scores = NDArray[Any]


def accepted_labelling(
    scores: Scores, transitions: Scores, symbols: ArrayLike, moves: ArrayLike, accepted: ArrayLike
) -> tuple[Ints, float]:
    """Return the best accepted labels of one chain and their score in double precision; -1 and -inf if none is finite.

    Parameters
    ----------
    scores, transitions
        (tokens, labels) and (labels, labels) or (tokens, labels, labels), as for
        :func:`colgen.solvers.chains.viterbi.viterbi`.
    symbols : (tokens, labels) array of symbols
    moves : (symbols, states) array of the next states; -1 forbids the symbol in that state
    accepted : (states,) truth values of the states in which a labelling may end
    """
    scores, _, transitions = check_chains(scores, np.array([0, len(np.atleast_1d(scores))]), transitions)
    ends = as_booleans(accepted, "accepted", shape=("states",))
    steps = as_integers(moves, "moves", shape=("symbols", len(ends)), low=-1, high=len(ends) - 1)
    read = as_integers(symbols, "symbols", shape=scores.shape, low=0, high=len(steps) - 1)
    labels = np.full(len(scores), -1)
    stepwise = transitions.ndim == 3
    value = _accepted(scores, transitions if stepwise else transitions[np.newaxis], stepwise, read, steps, ends, labels)
    return labels, float(value)


@njit(cache=True)
def _accepted(
    scores: Scores,
    transitions: Scores,
    stepwise: bool,
    symbols: Ints,
    moves: Ints,
    accepted: NDArray[np.bool_],
    labels: Ints,
) -> float:
    n, num = scores.shape
    states = len(accepted)
    best = np.full((n, states, num), -np.inf, dtype=scores.dtype)
    row = np.empty(num, dtype=scores.dtype)
    possible, following = np.zeros(states, np.bool_), np.zeros(states, np.bool_)
    possible[0] = True
    for i in range(n):
        following[:] = False
        for s in range(states):
            if not possible[s]:
                continue
            if i > 0:
                advance(best[i - 1, s], transitions[i - 1 if stepwise else 0], row)
            for y in range(num):
                to = moves[symbols[i, y], s]
                if to >= 0:
                    value = scores[i, y] + (row[y] if i > 0 else 0.0)
                    if value > best[i, to, y]:
                        best[i, to, y] = value
                        following[to] = True
        possible[:] = following
    most, state, label = -np.inf, -1, -1
    for s in range(states):
        for y in range(num):
            if accepted[s] and best[n - 1, s, y] > most:
                most, state, label = best[n - 1, s, y], s, y
    if state < 0:
        return -np.inf
    labels[n - 1] = label
    total = np.float64(scores[n - 1, label])
    for i in range(n - 1, 0, -1):
        steps = transitions[i - 1 if stepwise else 0]
        most, before, earlier = -np.inf, -1, -1
        for s in range(states):
            if moves[symbols[i, label], s] != state:
                continue
            for x in range(num):
                value = best[i - 1, s, x] + steps[x, label]
                if value > most:
                    most, before, earlier = value, s, x
        total += np.float64(steps[earlier, label]) + np.float64(scores[i - 1, earlier])
        state, label = before, earlier
        labels[i - 1] = label
    return total
