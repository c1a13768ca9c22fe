"""Dual values of tasks near the best ones: subgradient steps with memory, the knapsacks inside the loop.

Nothing that it returns is believed: the oracle prices at the dual values once more.

Sources: P. M. Camerini, L. Fratta, F. Maffioli, *On improving relaxation methods by modified gradient techniques*,
Mathematical Programming Study 3 (1975); for the problem M. L. Fisher, R. Jaikumar, L. N. Van Wassenhove, *A multiplier
adjustment method for the generalized assignment problem*, Management Science 32 (1986).
"""

from __future__ import annotations

import numpy as np

from solvers.copying import overwrite
from solvers.kernel_cache import njit
from solvers.packing.zero_one import fill, trace

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
    table = np.empty((n + 1, capacities.max() + 1))
    sets = np.zeros((rounds, m, n), np.bool_)
    mean = np.zeros((m, n))
    gains, point, direction = np.empty(n), duals.copy(), np.zeros(n)
    needs, items, taken = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.bool_)
    best, worse, done = -np.inf, 0, 0
    for k in range(rounds):
        slope = np.ones(n)
        value = point.sum()
        for j in range(m):
            count = 0  # tasks that earn something: the table has rows for no others
            for t in range(n):
                gain = point[t] - costs[j, t]
                if gain > 0.0 and not closed[j, t] and sizes[j, t] <= capacities[j]:
                    gains[count], needs[count], items[count] = gain, sizes[j, t], t
                    count += 1
            fill(gains[:count], needs[:count], capacities[j], table)
            trace(needs[:count], capacities[j], table, taken[:count])
            value -= table[count, capacities[j]]
            for i in range(count):
                if taken[i]:
                    sets[k, j, items[i]] = True
                    slope[items[i]] -= 1.0
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
