"""Local search over assignments: shifts, swaps and ejections, with a penalty on what does not fit.

Sources: J. A. Díaz, E. Fernández, *A tabu search heuristic for the generalized assignment problem*, European Journal of
Operational Research 132 (2001); M. Yagiura, T. Ibaraki, F. Glover, *An ejection chain approach for the generalized
assignment problem*, INFORMS Journal on Computing 16 (2004).
"""

from __future__ import annotations

import numpy as np

from colgen.solvers.copying import overwrite
from colgen.solvers.kernel_cache import njit
from colgen.solvers.tiers import tiered

_DEARER, _CHEAPER = 1.1, 0.93
"""What the penalty is multiplied by after a move to an assignment that does not fit, and to one that does."""


@tiered
@njit(cache=True, nogil=True)
def improve(costs, allowed, sizes, capacities, machines, penalty, moves, rng):  # type: ignore[no-untyped-def]
    """So many moves of a tabu search from ``machines``, the machine of each task.

    A move gives a task to another machine (shift), exchanges the machines of two tasks (swap), or gives a task to a
    machine that gives one of its own to a third (ejection); the best one that is not tabu is made.  Moves by which
    nothing is ejected are tried first, and ejections where none of them improves.

    Returns
    -------
    tuple
        The best assignment that fits, what it costs (inf if none was found), and the penalty at the end.
    """
    m, n = costs.shape
    loads = np.zeros(m, np.int64)
    for t in range(n):
        loads[machines[t]] += sizes[machines[t], t]
    tabu = np.zeros((m, n), np.int64)
    best, best_cost = machines.copy(), np.inf
    over, cost = _over(loads, capacities), _cost(costs, machines)
    if over == 0:
        best_cost = cost
    for k in range(moves):
        bar, found = np.inf, np.zeros(5, np.int64)
        for t in range(n):
            i = machines[t]
            for j in range(m):
                if j == i or not allowed[j, t]:
                    continue
                after = over + _change(loads, capacities, i, -sizes[i, t]) + _change(loads, capacities, j, sizes[j, t])
                now = cost + costs[j, t] - costs[i, t]
                if tabu[j, t] > k and not (after == 0 and now < best_cost):
                    continue
                if now + penalty * after < bar:
                    bar = now + penalty * after
                    found[0], found[1], found[2] = 1, t, j
        for t in range(n):
            i = machines[t]
            for s in range(t):
                j = machines[s]
                if j == i or not allowed[j, t] or not allowed[i, s]:
                    continue
                after = (
                    over
                    + _change(loads, capacities, i, sizes[i, s] - sizes[i, t])
                    + _change(loads, capacities, j, sizes[j, t] - sizes[j, s])
                )
                now = cost + costs[j, t] - costs[i, t] + costs[i, s] - costs[j, s]
                if (tabu[j, t] > k or tabu[i, s] > k) and not (after == 0 and now < best_cost):
                    continue
                if now + penalty * after < bar:
                    bar = now + penalty * after
                    found[0], found[1], found[2], found[3], found[4] = 2, t, j, s, i
        if bar >= cost + penalty * over:
            start = rng.integers(0, n)
            for u in range(min(n, 10)):
                t = (start + u) % n
                i = machines[t]
                for s in range(n):
                    j = machines[s]
                    if j == i or not allowed[j, t]:
                        continue
                    first = _change(loads, capacities, i, -sizes[i, t]) + _change(
                        loads, capacities, j, sizes[j, t] - sizes[j, s]
                    )
                    for h in range(m):
                        if h in (j, i) or not allowed[h, s]:
                            continue
                        after = over + first + _change(loads, capacities, h, sizes[h, s])
                        now = cost + costs[j, t] - costs[i, t] + costs[h, s] - costs[j, s]
                        if (tabu[j, t] > k or tabu[h, s] > k) and not (after == 0 and now < best_cost):
                            continue
                        if now + penalty * after < bar:
                            bar = now + penalty * after
                            found[0], found[1], found[2], found[3], found[4] = 2, t, j, s, h
        for f in range(found[0]):
            t, j = found[2 * f + 1], found[2 * f + 2]
            i = machines[t]
            tabu[i, t] = k + 10 + rng.integers(0, 10)
            loads[i] -= sizes[i, t]
            loads[j] += sizes[j, t]
            machines[t] = j
        over, cost = _over(loads, capacities), _cost(costs, machines)
        if over == 0 and cost < best_cost:
            best_cost = cost
            overwrite(best, machines)
        penalty *= _CHEAPER if over == 0 else _DEARER if k % 3 == 0 else 1.0
    return best, best_cost, penalty


@njit(cache=True, nogil=True)
def _change(loads, capacities, machine, more):  # type: ignore[no-untyped-def]
    """By how much what does not fit on a machine grows."""
    room = capacities[machine] - loads[machine]
    return max(more - room, 0) - max(-room, 0)


@njit(cache=True, nogil=True)
def _over(loads, capacities):  # type: ignore[no-untyped-def]
    total = 0
    for j in range(len(loads)):
        total += max(loads[j] - capacities[j], 0)
    return total


@njit(cache=True, nogil=True)
def _cost(costs, machines):  # type: ignore[no-untyped-def]
    total = 0.0
    for t in range(len(machines)):
        total += costs[machines[t], t]
    return total
