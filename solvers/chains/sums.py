r"""Sums over all labellings of chains: log-partition functions, marginals, their derivatives, samples.

    Z = Σ_x exp(Σ_i θ_i(x_i) + Σ_i τ(x_{i-1}, x_i)),    μ_i(x) = P(x_i = x),    ν(x, y) = Σ_i P(x_{i-1} = x, x_i = y)

Forward, α_i(y) = exp θ_i(y) · z_i(y) with z_i(y) = Σ_x α_{i-1}(x) exp τ(x, y).  No backward recursion of sums is
needed.  Given label y at i, the label before is x with probability α_{i-1}(x) exp τ(x, y) / z_i(y).  Probabilities,
their derivatives in a direction, and samples are computed from the last token to the first.

α is scaled to sum 1 at every token.  If scores are so far apart that a relevant number could underflow, all is computed
in logarithms instead.  This is exact at any scale and takes an exponential for each pair of labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_floats
from colgen.solvers.chains.viterbi import check_chains
from colgen.solvers.kernel_cache import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FAR = 600.0
"""Logarithms further apart than this do not fit into one scale of floating-point numbers."""


class _Forwards(NamedTuple):
    """Result of the forward recursion."""

    # offsets, steps: offsets of the chains; exp τ up to a factor, or τ if ``far``
    offsets: Ints
    steps: Floats
    # stepwise, far: whether transitions are given per step; whether the computation uses logarithms
    stepwise: bool
    far: bool
    # before, into: α and z
    before: Floats
    into: Floats
    log_partition: Floats  # log Z per chain


@dataclass(frozen=True, eq=False)
class ChainSums:
    """Sums over the labellings of chains.

    ``log_partition`` is log Z per chain; -inf if every labelling is forbidden (all else is then zero).  ``labels`` is
    μ, shape (tokens, labels), and ``pairs`` is ν, shape (chains, labels, labels).  If transitions are given per step,
    ``pairs`` has the probabilities of the step from each token to the next, shape (tokens, labels, labels).
    """

    log_partition: Floats
    labels: Floats
    pairs: Floats
    _scores: Floats
    _forwards: _Forwards

    def tangent(self, scores: ArrayLike, transitions: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """Return derivatives of ``log_partition``, ``labels`` and ``pairs`` in a direction of scores and transitions.

        Second derivatives are symmetric.  So let a function have the direction as its gradient with respect to
        ``labels`` and ``pairs``.  These are its gradient with respect to the scores.
        """
        direction = as_floats(scores, "scores", shape=self._scores.shape)
        stepwise, own = self._forwards.stepwise, self._forwards.steps.shape
        shape = own if stepwise else own[1:]
        by_chain = not stepwise and np.ndim(transitions) == 3
        steps = as_floats(transitions, "transitions", shape=self.pairs.shape if by_chain else shape)
        steps = steps if steps.ndim == 3 else steps[np.newaxis]
        first, labels, pairs = np.zeros_like(self.log_partition), np.zeros_like(self.labels), np.zeros_like(self.pairs)
        _tangent(self._forwards, direction, steps, by_chain, first, labels, pairs)
        return first, labels, pairs

    def sample(self, generator: np.random.Generator) -> Ints:
        """Return a random labelling of each chain, shape (tokens,); -1 if every labelling is forbidden."""
        labels = np.full(len(self._scores), -1)
        drawn = generator.random(len(self._scores))
        _sample(self._forwards, drawn, labels)
        return labels


def chain_sums(scores: ArrayLike, offsets: ArrayLike, transitions: ArrayLike) -> ChainSums:
    """Compute sums over the labellings of chains.

    Arguments as for :func:`colgen.solvers.chains.viterbi.viterbi`; -inf forbids a label or a transition.
    """
    double = np.asarray(scores, dtype=np.float64) if np.asarray(scores).dtype.kind in "fiu" else scores
    theta, starts, matrix = check_chains(double, offsets, transitions)  # type: ignore[arg-type]
    stepwise = matrix.ndim == 3
    steps = matrix if stepwise else matrix[np.newaxis]
    tokens, num = theta.shape
    far = _is_far(theta, starts, steps)
    highest = _highest(steps)
    if not far:
        steps = np.exp(steps - highest)
    before, into, log_partition = np.zeros((tokens, num)), np.zeros((tokens, num)), np.zeros(len(starts) - 1)
    labels, pairs = np.zeros((tokens, num)), np.zeros((tokens if stepwise else len(starts) - 1, num, num))
    forwards = _Forwards(starts, steps, stepwise, far, before, into, log_partition)
    _forward(theta, 0.0 if far else highest, forwards)
    _backward(forwards, labels, pairs)
    return ChainSums(log_partition, labels, pairs, theta, forwards)


def _highest(steps: Floats) -> float:
    largest = float(steps.max(initial=-np.inf))
    return largest if largest > -np.inf else 0.0


def _is_far(scores: Floats, offsets: Ints, steps: Floats) -> bool:
    """Return whether relevant numbers may not fit into one scale.

    A label's α is smaller than another's by at most the spread of scores and transitions.  If some are forbidden,
    differences may add up along a chain before they meet.
    """
    finite = scores > -np.inf
    apart = np.max(scores, axis=1, initial=-np.inf) - np.min(scores, axis=1, where=finite, initial=np.inf)
    spread = float(np.max(apart, where=np.isfinite(apart), initial=0.0))
    allowed = steps > -np.inf
    if allowed.any():
        spread += _highest(steps) - float(np.min(steps, where=allowed, initial=np.inf))
    if not (finite.all() and allowed.all()):
        spread *= int(np.diff(offsets).max(initial=1))
    return 2.0 * spread > _FAR


@njit(cache=True, no_cpython_wrapper=True, fastmath={"contract", "reassoc"})
def _step_far(earlier: Floats, matrix: Floats, z: Floats) -> None:
    """Compute the logarithms of z from those of the previous α."""
    num = len(z)
    for y in range(num):
        most = -np.inf
        for x in range(num):
            most = max(most, earlier[x] + matrix[x, y])
        z[y] = most
        if most > -np.inf:
            value = 0.0
            for x in range(num):
                value += np.exp(earlier[x] + matrix[x, y] - most)
            z[y] += np.log(value)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _forward(scores: Floats, highest: float, forwards: _Forwards) -> None:
    """Fill α (``before``) and z (``into``), scaled, or as logarithms if ``far``."""
    offsets, steps, stepwise, far, before, into, log_partition = forwards
    num = scores.shape[1]
    for chain in range(len(offsets) - 1):
        start, end = offsets[chain], offsets[chain + 1]
        total = 0.0
        for i in range(start, end):
            a, z = before[i], into[i]
            if i > start:
                matrix, earlier = steps[i - 1 if stepwise else 0], before[i - 1]
                if far:
                    _step_far(earlier, matrix, z)
                else:
                    for y in range(num):
                        z[y] = 0.0
                    for x in range(num):
                        share, row = earlier[x], matrix[x]
                        for y in range(num):
                            z[y] += share * row[y]
                    total += highest
            else:
                for y in range(num):
                    z[y] = 0.0 if far else 1.0
            if far:
                for y in range(num):
                    a[y] = z[y] + scores[i, y]
                continue
            most = -np.inf
            for y in range(num):
                most = max(most, scores[i, y])
            value = 0.0
            if most > -np.inf:
                for y in range(num):
                    a[y] = z[y] * np.exp(scores[i, y] - most)
                    value += a[y]
            if value == 0.0:
                total = -np.inf
                for y in range(num):
                    a[y] = 0.0
                break
            for y in range(num):
                a[y] /= value
            total += most + np.log(value)
        if far:
            most, value = -np.inf, 0.0
            for y in range(num):
                most = max(most, before[end - 1, y])
            for y in range(num):
                if most > -np.inf:
                    value += np.exp(before[end - 1, y] - most)
            total = most + np.log(value) if most > -np.inf else -np.inf
        log_partition[chain] = total


@njit(cache=True, no_cpython_wrapper=True)
def _last(far: bool, row: Floats, log_partition: float, out: Floats) -> None:
    """Compute the probabilities of the last token's labels."""
    for y in range(len(row)):
        out[y] = np.exp(row[y] - log_partition) if far else row[y]


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _backward(forwards: _Forwards, labels: Floats, pairs: Floats) -> None:
    """Compute the probabilities of labels and of pairs."""
    offsets, steps, stepwise, far, before, into, log_partition = forwards
    num = before.shape[1]
    ratio = np.empty(num)
    for chain in range(len(offsets) - 1):
        start, end = offsets[chain], offsets[chain + 1]
        if log_partition[chain] == -np.inf:
            continue
        _last(far, before[end - 1], log_partition[chain], labels[end - 1])
        for i in range(end - 1, start, -1):
            matrix, earlier, own = steps[i - 1 if stepwise else 0], before[i - 1], labels[i]
            target = pairs[i - 1 if stepwise else chain]
            if far:
                for x in range(num):
                    for y in range(num):
                        if own[y] > 0.0 and earlier[x] > -np.inf:
                            both = own[y] * np.exp(earlier[x] + matrix[x, y] - into[i, y])
                            target[x, y] += both
                            labels[i - 1, x] += both
                continue
            for y in range(num):
                ratio[y] = own[y] / into[i, y] if own[y] > 0.0 else 0.0
            for x in range(num):
                share, row, line = earlier[x], matrix[x], target[x]
                value = 0.0
                for y in range(num):
                    both = share * row[y] * ratio[y]
                    line[y] += both
                    value += both
                labels[i - 1, x] = value


@njit(cache=True, no_cpython_wrapper=True)
def _given(far: bool, before: float, step: float, into: float) -> float:
    """Return the probability of the previous label given the next one."""
    if far:
        return np.exp(before + step - into) if before > -np.inf and into > -np.inf else 0.0
    return before * step / into if into > 0.0 else 0.0


@njit(cache=True, nogil=True)
def _tangent(
    forwards: _Forwards,
    direction: Floats,
    step_direction: Floats,
    by_chain: bool,
    first: Floats,
    labels: Floats,
    pairs: Floats,
) -> None:
    """Compute derivatives in a direction: those of log α_i in a forward pass, those of the probabilities backwards."""
    offsets, steps, stepwise, far, before, into, log_partition = forwards
    tokens, num = before.shape
    slope = np.zeros((tokens, num))  # derivative of log α
    rest = np.zeros((tokens, num))  # derivative of log z
    share, gain = np.empty(num), np.empty(num)
    new_share, new_gain = np.empty(num), np.empty(num)
    for chain in range(len(offsets) - 1):
        start, end = offsets[chain], offsets[chain + 1]
        if log_partition[chain] == -np.inf:
            continue
        for i in range(start, end):
            if i > start:
                matrix = steps[i - 1 if stepwise else 0]
                along = step_direction[i - 1 if stepwise else (chain if by_chain else 0)]
                for x in range(num):
                    for y in range(num):
                        p = _given(far, before[i - 1, x], matrix[x, y], into[i, y])
                        if p > 0.0:
                            rest[i, y] += p * (along[x, y] + slope[i - 1, x])
            for y in range(num):
                slope[i, y] = rest[i, y] + direction[i, y]
        _last(far, before[end - 1], log_partition[chain], share)
        mean = 0.0
        for y in range(num):
            mean += share[y] * slope[end - 1, y]
        first[chain] = mean
        for y in range(num):
            gain[y] = share[y] * (slope[end - 1, y] - mean)
            labels[end - 1, y] = gain[y]
        for i in range(end - 1, start, -1):
            matrix = steps[i - 1 if stepwise else 0]
            along = step_direction[i - 1 if stepwise else (chain if by_chain else 0)]
            target = pairs[i - 1 if stepwise else chain]
            for x in range(num):
                new_share[x] = new_gain[x] = 0.0
                for y in range(num):
                    p = _given(far, before[i - 1, x], matrix[x, y], into[i, y])
                    if p > 0.0:
                        change = gain[y] * p + share[y] * p * (along[x, y] + slope[i - 1, x] - rest[i, y])
                        new_share[x] += share[y] * p
                        new_gain[x] += change
                        target[x, y] += change
            for x in range(num):
                share[x], gain[x] = new_share[x], new_gain[x]
                labels[i - 1, x] = gain[x]


@njit(cache=True, nogil=True)
def _sample(forwards: _Forwards, drawn: Floats, labels: Ints) -> None:
    offsets, steps, stepwise, far, before, into, log_partition = forwards
    num = before.shape[1]
    share = np.empty(num)
    for chain in range(len(offsets) - 1):
        start, end = offsets[chain], offsets[chain + 1]
        if log_partition[chain] == -np.inf:
            continue
        _last(far, before[end - 1], log_partition[chain], share)
        for i in range(end - 1, start - 1, -1):
            if i < end - 1:
                y = labels[i + 1]
                matrix = steps[i if stepwise else 0]
                for x in range(num):
                    share[x] = _given(far, before[i, x], matrix[x, y], into[i + 1, y])
            left, chosen = drawn[i], -1
            for x in range(num):
                if share[x] > 0.0:  # rounding may leave a rest: the last possible label takes it
                    chosen = x
                    left -= share[x]
                    if left <= 0.0:
                        break
            labels[i] = chosen
