"""Dual ascent: deflected subgradient steps on the tasks' dual values, with the knapsacks inside the loop.

The oracle verifies the result by pricing once more.

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
"""Share of the former direction in the next one."""

_FADING = 0.97
"""Share of the former mean of sets in the next one."""

_FURTHEST = 100.0
"""Maximum ratio of the gaps between the target and the present value, and between the target and the best one."""

_GAIN = 1e-4
"""Least improvement, as a share of the distance to the target, that resets the patience."""


@njit(cache=True, nogil=True)
def ascend(costs, closed, sizes, capacities, duals, target, rounds, step, patience):  # type: ignore[no-untyped-def]
    """Perform subgradient steps from ``duals`` and overwrite them with the best ones.

    Parameters
    ----------
    target
        Value that steps aim at.
    step
        Factor of the first step; halved after ``patience`` rounds without improvement.

    Returns
    -------
    tuple
        Best value, sets of the rounds (shape (rounds, machines, tasks)), their mean, last factor.
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
        # Overshooting lengthens the next steps; without a limit, values would consist of rounding errors.
        missing = min(target - value, _FURTHEST * (target - best))
        point = point + (step * missing / squared) * direction
    return best, sets[:done], mean, step


@njit(cache=True, nogil=True)
def distinct(sets, shares):  # type: ignore[no-untyped-def]
    """Return the distinct sets of each machine, in order of appearance, and their total shares.

    Parameters
    ----------
    sets
        Shape (rounds, machines, tasks).
    shares
        One per round.

    Returns
    -------
    machines, firsts, totals
        For each set: its machine, its first round, and the sum of its rounds' shares.
    """
    rounds, m, n = sets.shape
    machines, firsts = np.empty(rounds * m, np.int64), np.empty(rounds * m, np.int64)
    totals, marks = np.zeros(rounds * m), np.empty(rounds * m, np.int64)
    last = np.full(m, -1)  # linked lists: the latest set of each machine, the previous one of each set
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
