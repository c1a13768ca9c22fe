"""Dual values of tasks near the best ones: subgradient steps with memory, the knapsacks inside the loop.

Nothing that it returns is believed: the oracle prices at the dual values once more.

Sources: P. M. Camerini, L. Fratta, F. Maffioli, *On improving relaxation methods by modified gradient techniques*,
Mathematical Programming Study 3 (1975); for the problem M. L. Fisher, R. Jaikumar, L. N. Van Wassenhove, *A multiplier
adjustment method for the generalized assignment problem*, Management Science 32 (1986).
"""

from __future__ import annotations

import numpy as np

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, overwrite
from colgen.solvers.packing.zero_one import best_set

_MEMORY = 0.7
"""How much of the former direction stays in the next one."""

_FADING = 0.97
"""And of the mean of what was taken."""

_FURTHEST = 100.0
"""Of what is missing at the best point, the most by which a step is lengthened where it is worse."""

_GAIN = 1e-4
"""Less than this share of what is missing is no gain that makes steps worth their length."""


@njit(cache=True, nogil=True)
def ascend(costs, closed, sizes, capacities, duals, target, rounds, step, patience):  # type: ignore[no-untyped-def]
    """So many rounds from ``duals``, in place of which the best ones are put.

    Parameters
    ----------
    target
        Steps aim at this value.
    step
        The factor of the first one; halved after ``patience`` rounds in which nothing has improved.

    Returns
    -------
    tuple
        The best value, the sets of the last rounds (shape (rounds, machines, tasks)), their mean, and the last factor.
    """
    m, n = costs.shape
    room = capacities.max() + 1
    rows, packed, items = np.empty((2, room)), np.empty((n, room), np.uint8), np.empty(n, np.int64)
    sets = np.zeros((rounds, m, n), np.bool_)
    mean = np.zeros((m, n))
    gains, point, direction = np.empty(n), duals.copy(), np.zeros(n)
    best, worse, done = -np.inf, 0, 0
    for k in range(rounds):
        slope = np.ones(n)
        value = point.sum()
        for j in range(m):
            for t in range(n):
                gains[t] = 0.0 if closed[j, t] else point[t] - costs[j, t]
            value -= best_set(gains, sizes[j], capacities[j], rows, packed, items, sets[k, j])
            for t in range(n):
                if sets[k, j, t]:
                    slope[t] -= 1.0
        done = k + 1
        mean *= _FADING
        mean += (1.0 - _FADING) * sets[k]
        if value > best:
            if value > best + _GAIN * abs(target - best):
                worse = 0
            best = value
            overwrite(duals, point)
        else:
            worse += 1
            if worse >= patience:
                step, worse = 0.5 * step, 0
                overwrite(point, duals)
        if best >= target or not (slope != 0.0).any():
            break
        direction = _MEMORY * direction + (1.0 - _MEMORY) * slope
        squared = (direction * direction).sum()
        if squared <= 0.0:
            break
        # Steps that overshoot make the next ones longer, without end: values would be rounding alone.
        missing = min(target - value, _FURTHEST * (target - best))
        point = point + (step * missing / squared) * direction
    return best, sets[:done], mean, step


@njit(cache=True, nogil=True)
def distinct(sets, shares):  # type: ignore[no-untyped-def]
    """The sets that machines took in some rounds, each once, in the order in which they came, and their shares.

    Parameters
    ----------
    sets
        Shape (rounds, machines, tasks).
    shares
        One a round.

    Returns
    -------
    machines, firsts, totals
        Of each set: whose it is, in which round it came first, and the sum of the rounds' shares.
    """
    rounds, m, n = sets.shape
    machines, firsts = np.empty(rounds * m, np.int64), np.empty(rounds * m, np.int64)
    totals, marks = np.zeros(rounds * m), np.empty(rounds * m, np.int64)
    last = np.full(m, -1)  # of each machine's sets, the one that came last, and of each set the one before
    before = np.empty(rounds * m, np.int64)
    count = 0
    for k in range(rounds):
        for j in range(m):
            mark = 0
            for t in range(n):
                mark = (mark * 31 + sets[k, j, t] * (t + 7)) & 0xFFFFFFFFFFFF
            at = last[j]
            while at >= 0 and not (marks[at] == mark and _same(sets[k, j], sets[firsts[at], j])):
                at = before[at]
            if at < 0:
                at, count = count, count + 1
                machines[at], firsts[at], marks[at], before[at] = j, k, mark, last[j]
                last[j] = at
            totals[at] += shares[k]
    return machines[:count], firsts[:count], totals[:count]


@inner
def _same(one, other):  # type: ignore[no-untyped-def]
    t = 0
    while t < len(one) and one[t] == other[t]:
        t += 1
    return t == len(one)
