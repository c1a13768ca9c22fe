r"""SparseMAP of labellings or trees: column generation with a quadratic master, compiled in one kernel.

    max  θᵀμ + ηᵀν - ½ ‖μ‖²        over (μ, ν) in the convex hull of the structures' indicators

A structure has one part at each of n positions: a token's label or a word's head.  The inner product of two structures
is then their number of equal entries.  The loop, the master of :mod:`colgen.solvers.quadratic.over_simplex` and the
exact oracle (Viterbi, or Chu, Liu and Edmonds) are compiled.  They run without the interpreter's lock.

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
from colgen.solvers.kernels import boolean, int64, overwrite
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
    places : (structures, n) array, positions of each structure's parts in the flattened scores
    weights : weights of the structures, positive with sum 1
    value : the objective
    gap : possible improvement by the last structure of the oracle
    rounds : number of oracle calls
    is_exact : whether the last call found no improvement beyond rounding
    active : the final master; it has only the active columns
    """

    places: Ints
    weights: Floats
    value: float
    gap: float
    rounds: int
    is_exact: bool
    active: ActiveSet


class BeatenError(ArithmeticError):
    """The oracle returned a structure worse than an earlier one: it is not exact."""


def nearest_labelling(
    scores: ArrayLike, transitions: ArrayLike, *, rounds: int | None = None, rounding: float, beaten: float
) -> NearestMean | None:
    """Return the nearest mean of a chain's labellings, or None if every one is forbidden.

    Parameters
    ----------
    scores : (tokens, labels) array θ; -inf forbids a label
    transitions : (labels, labels) array η, or per step to the next token, shape (tokens, labels, labels)
    rounds : maximum number of oracle calls; None for no limit
    rounding : gains that count as zero, relative to the scores
    beaten : tolerance for a worse structure from the oracle, relative to the scores

    Raises
    ------
    BeatenError
        If the oracle's structure is worse than an earlier one by more than ``beaten``.
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
    """Return the nearest mean of dependency trees.  Scores (N, N) by head and modifier; the rest as for labellings."""
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
    state, places, factor, weights, shift, value, gap, calls, exact = _nearest(
        np.ascontiguousarray(theta), steps, positions, boolean(stepwise), boolean(single_root), most, rounding, beaten
    )
    if state == _NONE:
        return None
    if state == _BEATEN:
        raise BeatenError
    return NearestMean(places, weights, value, gap, calls, exact, ActiveSet.from_factor(factor, weights, shift))


@njit(cache=True, no_cpython_wrapper=True)
def _best_tree(theta: Floats, single_root: bool, places: Ints) -> bool:
    """Write the positions of a best tree's arcs.  Return whether there is a tree."""
    heads, _, _, feasible = solve_arborescence(theta, single_root)
    if feasible:
        for i in range(len(places)):
            places[i] = heads[i + 1] * len(theta) + i + 1
    return bool(feasible)


@njit(cache=True, no_cpython_wrapper=True)
def _best_labelling(
    theta: Floats, steps: Floats, backwards: Floats, stepwise: bool, forward: Floats, places: Ints
) -> bool:
    """Write the positions of a best labelling's labels by Viterbi's algorithm.  Return whether one exists."""
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
    """Write the positions of a best structure's parts, a labelling if there are steps.  Return whether one exists."""
    if len(steps):
        return _best_labelling(theta, steps, backwards, stepwise, forward, places)
    return _best_tree(theta, single_root, places)


@njit(cache=True, no_cpython_wrapper=True)
def _step_score(steps: Floats, stepwise: bool, columns: int, places: Ints) -> float:
    """Return ηᵀν of a labelling; 0 for trees."""
    total = 0.0
    if len(steps):
        for i in range(1, len(places)):
            x = places[i - 1] - (i - 1) * columns
            total += steps[i - 1 if stepwise else 0, x, places[i] - i * columns]
    return total


class _Structures(NamedTuple):
    """Structures seen so far, and the mean of the active ones."""

    seen: Ints  # positions of each structure's parts
    # gram, linear, factor, held, weight: see :func:`~colgen.solvers.quadratic.over_simplex.enter_active`
    gram: Floats
    linear: Floats
    factor: Floats
    held: Ints
    weight: Floats
    step_scores: Floats  # ηᵀν of each structure


@njit(cache=True, no_cpython_wrapper=True)
def _allocate(room: int, positions: int) -> _Structures:
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
def _extend(s: _Structures) -> _Structures:
    """Return a copy with space for twice as many structures."""
    size, positions = s.seen.shape
    more = _allocate(2 * size, positions)
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
    """Subtract the mean of the active structures from the scores, which gives dual values.

    Return the average gain of the active structures at these, the objective, and the largest gain.
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
    """Restore the scores where the mean was subtracted."""
    for k in range(count):
        for place in s.seen[s.held[k]]:
            flat[place] = scores[place]


@njit(cache=True, no_cpython_wrapper=True)
def _identify(s: _Structures, size: int, new: Ints) -> int:
    """Return the number of a structure, ``size`` if it is new, and write its inner products."""
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
    """Return a structure's gain at dual values, its b, and the sum of its absolute scores."""
    gain, own, absolute = step_score, step_score, 0.0
    for i in range(len(places)):
        gain += flat[places[i]]
        own += scores[places[i]]
        absolute += abs(scores[places[i]])
    return gain, own, absolute


@njit(cache=True, no_cpython_wrapper=True)
def _transpose(steps: Floats) -> Floats:
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
    backwards, forward = _transpose(steps), np.empty(theta.shape)
    scores, reduced = theta.ravel(), theta.copy()
    flat = reduced.reshape(theta.size)
    s = _allocate(int64(16), positions)
    new = np.empty(positions, dtype=np.int64)
    size = count = calls = 0
    scale = shift = 1.0
    gap, exact, state = np.inf, False, _FOUND
    average = value = highest = 0.0
    while True:
        if count:
            average, value, highest = _subtract_mean(s, count, flat)
            if gap < np.inf and (exact or calls == most):
                break
        if not _best(reduced, steps, backwards, stepwise, single_root, forward, new):
            state = _NONE
            break
        calls += 1
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
            s = _extend(s)
        number = _identify(s, size, new)
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
        exact = not _is_held(s, count, number)  # if it left again, its improvement is rounding
    places = np.empty((count, positions), dtype=np.int64)
    for k in range(count):
        places[k] = s.seen[s.held[k]]
    return state, places, s.factor, s.weight[:count].copy(), shift, value, gap, calls, exact
