r"""The mean of labellings, or of trees, nearest to scores: column generation with a quadratic master in one kernel.

    max  θᵀμ + ηᵀν - ½ ‖μ‖²        over (μ, ν) in the convex hull of the structures' indicators

A structure has one part at each of n positions: a token's label, a word's head.  What two structures have in common
is then a count of equal entries, and all of the loop, the master of :mod:`colgen.solvers.quadratic.over_simplex` and
the exact oracle (Viterbi, or Chu, Liu and Edmonds) in it, runs compiled and without the interpreter's lock.

Source: V. Niculae, A. F. T. Martins, M. Blondel, C. Cardie, *SparseMAP: differentiable sparse structured inference*,
ICML 2018.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_float, as_floats, as_integer
from colgen.solvers.chains.viterbi import advance, best_sum
from colgen.solvers.copying import overwrite
from colgen.solvers.kernel_cache import njit
from colgen.solvers.literals import truth
from colgen.solvers.quadratic.over_simplex import ActiveSet, enter_active
from colgen.solvers.trees.arborescence import solve_arborescence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FOUND, _NONE, _BEATEN = 0, 1, 2


@dataclass(frozen=True, eq=False)
class NearestMean:
    """A mean of few structures.

    Attributes
    ----------
    places
        Of each structure's parts in the flattened scores, by position, shape (structures, n).
    weights
        Of the structures, positive, of sum 1.
    value
        The objective.
    gap
        By how much the best structure that the last call of the oracle found can improve on it.
    rounds
        Calls of the oracle.
    is_exact
        Whether the last call found nothing that improves beyond rounding.
    active
        The master in the end; its members are all that it has.
    """

    places: Ints
    weights: Floats
    value: float
    gap: float
    rounds: int
    is_exact: bool
    active: ActiveSet


class BeatenError(ArithmeticError):
    """The oracle returned less than what it had found before: it was not exact."""


def nearest_labelling(
    scores: ArrayLike, transitions: ArrayLike, *, rounds: int | None = None, rounding: float, beaten: float
) -> NearestMean | None:
    """The mean of a chain's labellings; None if every one is forbidden.

    Parameters
    ----------
    scores
        θ, shape (tokens, labels); -inf forbids.
    transitions
        η, shape (labels, labels), or of the step from each token to the next, shape (tokens, labels, labels).
    rounds
        Most calls of the oracle; None for as many as there is something to find.
    rounding, beaten
        Relative to the size of scores: gains that are none, and how much the oracle may fall below itself.

    Raises
    ------
    BeatenError
        If it falls below itself by more.
    """
    theta = as_floats(scores, "scores", shape=("tokens", "labels"), minus_infinity=True)
    tokens, labels = theta.shape
    shape = (tokens, labels, labels) if np.ndim(transitions) == 3 else (labels, labels)
    steps = as_floats(transitions, "transitions", shape=shape, minus_infinity=True)
    stepwise = steps.ndim == 3
    return _outcome(theta, steps if stepwise else steps[np.newaxis], tokens, stepwise, False, rounds, rounding, beaten)


def nearest_tree(
    scores: ArrayLike, *, single_root: bool = False, rounds: int | None = None, rounding: float, beaten: float
) -> NearestMean | None:
    """The mean of dependency trees: scores of shape (N, N) by head and modifier, the rest as of labellings."""
    theta = as_floats(scores, "scores", shape=("N", "N"), minus_infinity=True).copy()
    theta[:, 0] = -np.inf
    np.fill_diagonal(theta, -np.inf)
    none = np.empty((0, 0, 0))
    return _outcome(theta, none, len(theta) - 1, False, single_root, rounds, rounding, beaten)


def _outcome(
    theta: Floats,
    steps: Floats,
    positions: int,
    stepwise: bool,
    single_root: bool,
    rounds: int | None,
    rounding: float,
    beaten: float,
) -> NearestMean | None:
    most = 0 if rounds is None else as_integer(rounds, "rounds", low=1)
    rounding, beaten = as_float(rounding, "rounding", low=0.0), as_float(beaten, "beaten", low=0.0)
    state, places, factor, weights, shift, value, gap, asked, exact = _nearest(
        np.ascontiguousarray(theta), steps, positions, truth(stepwise), truth(single_root), most, rounding, beaten
    )
    if state == _NONE:
        return None
    if state == _BEATEN:
        raise BeatenError
    return NearestMean(places, weights, value, gap, asked, exact, ActiveSet.held(factor, weights, shift))


@njit(cache=True, nogil=True)
def _best_tree(theta: Floats, single_root: bool, places: Ints) -> bool:
    """Write the places of a best tree's arcs; whether there is a tree."""
    heads, _, _, feasible = solve_arborescence(theta, single_root)
    if feasible:
        for i in range(len(places)):
            places[i] = heads[i + 1] * len(theta) + i + 1
    return bool(feasible)


@njit(cache=True, nogil=True)
def _best_labelling(
    theta: Floats, steps: Floats, backwards: Floats, stepwise: bool, forward: Floats, places: Ints
) -> bool:
    """Write the places of a best labelling's labels, by Viterbi's algorithm; whether there is one."""
    tokens, labels = theta.shape
    overwrite(forward[0], theta[0])
    for i in range(1, tokens):
        row = forward[i]
        advance(forward[i - 1], steps[i - 1 if stepwise else 0], row)
        for y in range(labels):
            row[y] += theta[i, y]
    label = np.int64(np.argmax(forward[tokens - 1]))
    if forward[tokens - 1, label] == -np.inf:
        return False
    places[tokens - 1] = (tokens - 1) * labels + label
    for i in range(tokens - 2, -1, -1):
        label = np.int64(best_sum(forward[i], backwards[i if stepwise else 0, label]))
        places[i] = i * labels + label
    return True


@njit(cache=True, nogil=True)
def _step_score(steps: Floats, stepwise: bool, columns: int, places: Ints) -> float:
    """ηᵀ of a labelling; nothing of trees."""
    total = 0.0
    if len(steps):
        for i in range(1, len(places)):
            x = places[i - 1] - (i - 1) * columns
            total += steps[i - 1 if stepwise else 0, x, places[i] - i * columns]
    return total


@njit(cache=True, nogil=True)
def _nearest(  # type: ignore[no-untyped-def]
    theta: Floats,
    steps: Floats,
    positions: int,
    stepwise: bool,
    single_root: bool,
    most: int,
    rounding: float,
    beaten: float,
):
    columns = theta.shape[1]
    backwards = np.empty(steps.shape)
    for k in range(len(steps)):
        for x in range(columns):
            for y in range(columns):
                backwards[k, y, x] = steps[k, x, y]
    forward = np.empty(theta.shape)
    scores = theta.ravel()
    reduced = theta.copy()
    flat = reduced.reshape(theta.size)
    room = 16
    seen = np.empty((room, positions), dtype=np.int64)
    gram, factor = np.zeros((room, room)), np.zeros((room, room))
    linear, step_scores = np.zeros(room), np.zeros(room)
    held, weight = np.zeros(room, dtype=np.int64), np.zeros(room)
    new = np.empty(positions, dtype=np.int64)
    size = count = asked = 0
    scale = shift = 1.0
    gap, exact, state = np.inf, False, _FOUND
    average = value = highest = 0.0
    while True:
        if count:  # scores less the mean: the dual values
            for k in range(count):
                for i in range(positions):
                    flat[seen[held[k], i]] -= weight[k]
            average, value, highest = 0.0, 0.0, -np.inf
            for k in range(count):
                gain = step_scores[held[k]]
                for i in range(positions):
                    gain += flat[seen[held[k], i]]
                average += weight[k] * gain
                value += 0.5 * weight[k] * (gain + linear[held[k]])
                highest = max(highest, gain)
            if gap < np.inf and (exact or asked == most):
                break
        if len(steps):
            feasible = _best_labelling(reduced, steps, backwards, stepwise, forward, new)
        else:
            feasible = _best_tree(reduced, single_root, new)
        if not feasible:
            state = _NONE
            break
        asked += 1
        step_score = _step_score(steps, stepwise, columns, new)
        score, own, absolute = step_score, step_score, 0.0
        for i in range(positions):
            score += flat[new[i]]
            own += scores[new[i]]
            absolute += abs(scores[new[i]])
        if count:
            if score < highest - beaten * scale:
                state = _BEATEN
                break
            gap = max(score - average, 0.0)
            if gap <= rounding * scale:
                exact = True
                break
        known = -1
        if size == room:
            room *= 2
            seen, gram, factor = _larger(seen, room, positions), _larger(gram, room, room), _larger(factor, room, room)
            linear, step_scores = _longer(linear, room), _longer(step_scores, room)
            held, weight = _longer(held, room), _longer(weight, room)
        for k in range(size):
            common = 0
            for i in range(positions):
                common += seen[k, i] == new[i]
            gram[size, k] = gram[k, size] = common
            if common == positions:
                known = k
        if known < 0:
            known = size
            seen[size] = new
            gram[size, size] = positions
            linear[size], step_scores[size] = own, step_score
            if size == 0 and positions:
                shift = float(positions)
            scale = max(scale, max(abs(own), max(absolute, float(positions))))
            size += 1
        else:
            active = False
            for k in range(count):
                active |= held[k] == known
            if active:
                exact = True
                break
        for k in range(count):
            for i in range(positions):
                flat[seen[held[k], i]] = scores[seen[held[k], i]]
        count = enter_active(gram, linear, factor, held, weight, count, known, shift)
        exact = True  # unless it is held in the end, what it improves is rounding
        for k in range(count):
            if held[k] == known:
                exact = False
    places = np.empty((count, positions), dtype=np.int64)
    for k in range(count):
        places[k] = seen[held[k]]
    return state, places, factor, weight[:count].copy(), shift, value, gap, asked, exact


@njit(cache=True, nogil=True)
def _larger(array, rows, columns):  # type: ignore[no-untyped-def]
    result = np.zeros((rows, columns), dtype=array.dtype)
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            result[i, j] = array[i, j]
    return result


@njit(cache=True, nogil=True)
def _longer(array, room):  # type: ignore[no-untyped-def]
    result = np.zeros(room, dtype=array.dtype)
    for i in range(len(array)):
        result[i] = array[i]
    return result
