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
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_float, as_floats, as_integer
from colgen.solvers.chains.viterbi import advance, best_sum
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import overwrite, truth, whole
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


@njit(cache=True, no_cpython_wrapper=True)
def _best_tree(theta: Floats, single_root: bool, places: Ints) -> bool:
    """Write the places of a best tree's arcs; whether there is a tree."""
    heads, _, _, feasible = solve_arborescence(theta, single_root)
    if feasible:
        for i in range(len(places)):
            places[i] = heads[i + 1] * len(theta) + i + 1
    return bool(feasible)


@njit(cache=True, no_cpython_wrapper=True)
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


@njit(cache=True, no_cpython_wrapper=True)
def _best(  # type: ignore[no-untyped-def]
    theta: Floats, steps: Floats, backwards: Floats, stepwise: bool, single_root: bool, forward: Floats, places: Ints
):
    """Write the places of a best structure's parts, a labelling where there are steps; whether there is one."""
    if len(steps):
        return _best_labelling(theta, steps, backwards, stepwise, forward, places)
    return _best_tree(theta, single_root, places)


@njit(cache=True, no_cpython_wrapper=True)
def _step_score(steps: Floats, stepwise: bool, columns: int, places: Ints) -> float:
    """ηᵀ of a labelling; nothing of trees."""
    total = 0.0
    if len(steps):
        for i in range(1, len(places)):
            x = places[i - 1] - (i - 1) * columns
            total += steps[i - 1 if stepwise else 0, x, places[i] - i * columns]
    return total


class _Structures(NamedTuple):
    """Structures seen so far, and the mean of those held.

    Attributes
    ----------
    seen
        Places of each structure's parts, by position.
    gram, linear, factor, held, weight
        See :func:`~colgen.solvers.quadratic.over_simplex.enter_active`.
    step_scores
        ηᵀ of each structure.
    """

    seen: Ints
    gram: Floats
    linear: Floats
    factor: Floats
    held: Ints
    weight: Floats
    step_scores: Floats


@njit(cache=True, no_cpython_wrapper=True)
def _room_for_structures(room: int, positions: int) -> _Structures:
    return _Structures(
        np.zeros((room, positions), dtype=np.int64),
        np.zeros((room, room)),
        np.zeros(room),
        np.zeros((room, room)),
        np.zeros(room, dtype=np.int64),
        np.zeros(room),
        np.zeros(room),
    )


@njit(cache=True, no_cpython_wrapper=True)
def _in_more_room(s: _Structures) -> _Structures:
    """The same structures, with room for twice as many."""
    size, positions = s.seen.shape
    more = _room_for_structures(2 * size, positions)
    for i in range(size):
        for j in range(positions):
            more.seen[i, j] = s.seen[i, j]
        for j in range(size):
            more.gram[i, j], more.factor[i, j] = s.gram[i, j], s.factor[i, j]
        more.linear[i], more.step_scores[i] = s.linear[i], s.step_scores[i]
        more.held[i], more.weight[i] = s.held[i], s.weight[i]
    return more


@njit(cache=True, no_cpython_wrapper=True)
def _subtract_mean(s: _Structures, count: int, flat: Floats) -> tuple[float, float, float]:
    """Subtract the mean of those held from the scores: these are dual values.

    What the structures held gain at these on average, the objective, and the largest of these gains.
    """
    positions = s.seen.shape[1]
    for k in range(count):
        for i in range(positions):
            flat[s.seen[s.held[k], i]] -= s.weight[k]
    average, value, highest = 0.0, 0.0, -np.inf
    for k in range(count):
        gain = s.step_scores[s.held[k]]
        for i in range(positions):
            gain += flat[s.seen[s.held[k], i]]
        average += s.weight[k] * gain
        value += 0.5 * s.weight[k] * (gain + s.linear[s.held[k]])
        highest = max(highest, gain)
    return average, value, highest


@njit(cache=True, no_cpython_wrapper=True)
def _restore(s: _Structures, count: int, scores: Floats, flat: Floats) -> None:
    """Write the scores again where the mean was subtracted."""
    for k in range(count):
        for place in s.seen[s.held[k]]:
            flat[place] = scores[place]


@njit(cache=True, no_cpython_wrapper=True)
def _number_of(s: _Structures, size: int, new: Ints) -> int:
    """The number of a structure, ``size`` if it has not been seen; what it has in common with others is noted."""
    number = size
    for k in range(size):
        common = 0
        for i in range(len(new)):
            common += s.seen[k, i] == new[i]
        s.gram[size, k] = s.gram[k, size] = common
        if common == len(new):
            number = k
    return number


@njit(cache=True, no_cpython_wrapper=True)
def _is_held(s: _Structures, count: int, number: int) -> bool:
    for k in range(count):
        if s.held[k] == number:
            return True
    return False


@njit(cache=True, no_cpython_wrapper=True)
def _sums(places: Ints, flat: Floats, scores: Floats, step_score: float) -> tuple[float, float, float]:
    """What a structure gains at dual values, its b, and the size of its scores."""
    gain, own, absolute = step_score, step_score, 0.0
    for i in range(len(places)):
        gain += flat[places[i]]
        own += scores[places[i]]
        absolute += abs(scores[places[i]])
    return gain, own, absolute


@njit(cache=True, no_cpython_wrapper=True)
def _transposed(steps: Floats) -> Floats:
    """Steps by the later label first."""
    backwards = np.empty(steps.shape)
    for k in range(steps.shape[0]):
        for x in range(steps.shape[1]):
            for y in range(steps.shape[2]):
                backwards[k, y, x] = steps[k, x, y]
    return backwards


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
    backwards, forward = _transposed(steps), np.empty(theta.shape)
    scores, reduced = theta.ravel(), theta.copy()
    flat = reduced.reshape(theta.size)
    s = _room_for_structures(whole(16), positions)
    new = np.empty(positions, dtype=np.int64)
    size = count = asked = 0
    scale = shift = 1.0
    gap, exact, state = np.inf, False, _FOUND
    average = value = highest = 0.0
    while True:
        if count:
            average, value, highest = _subtract_mean(s, count, flat)
            if gap < np.inf and (exact or asked == most):
                break
        if not _best(reduced, steps, backwards, stepwise, single_root, forward, new):
            state = _NONE
            break
        asked += 1
        step_score = _step_score(steps, stepwise, theta.shape[1], new)
        gain, own, absolute = _sums(new, flat, scores, step_score)
        if count:
            if gain < highest - beaten * scale:
                state = _BEATEN
                break
            gap = max(gain - average, 0.0)
            if gap <= rounding * scale:
                exact = True
                break
        if size == len(s.linear):
            s = _in_more_room(s)
        number = _number_of(s, size, new)
        if number == size:
            s.seen[size], s.gram[size, size] = new, positions
            s.linear[size], s.step_scores[size] = own, step_score
            if size == 0 and positions:
                shift = float(positions)
            scale = max(scale, max(abs(own), max(absolute, float(positions))))
            size += 1
        elif _is_held(s, count, number):
            exact = True
            break
        _restore(s, count, scores, flat)
        count = enter_active(s.gram, s.linear, s.factor, s.held, s.weight, count, number, shift)
        exact = not _is_held(s, count, number)  # what it improves is rounding then
    places = np.empty((count, positions), dtype=np.int64)
    for k in range(count):
        places[k] = s.seen[s.held[k]]
    return state, places, s.factor, s.weight[:count].copy(), shift, value, gap, asked, exact
