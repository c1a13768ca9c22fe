"""Local search over assignments: shifts, swaps and ejections, with a penalty on excess load.

Sources: J. A. Díaz, E. Fernández, *A tabu search heuristic for the generalized assignment problem*, European Journal of
Operational Research 132 (2001); M. Yagiura, T. Ibaraki, F. Glover, *An ejection chain approach for the generalized
assignment problem*, INFORMS Journal on Computing 16 (2004).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import folded, inner, int64, overwrite

_INCREASE, _DECREASE = 1.1, 0.93
"""Factors of the penalty after a move to an infeasible assignment, and to a feasible one."""


_COST, _LEAST, _PENALTY = range(3)
_MOVE, _OVER = range(2)
"""Positions in the numbers and counts of a search."""


class _Tasks(NamedTuple):
    """Costs, allowed assignments and sizes, and the machines' capacities."""

    costs: Any
    allowed: Any
    sizes: Any
    capacities: Any


class _Search(NamedTuple):
    """The state of the search.

    * ``machines``, ``loads``: the machine of each task, and the load of each machine
    * ``tabu``: first move at which a task may return to a machine, shape (machines, tasks)
    * ``numbers``: the cost, the least cost of a feasible assignment, and the penalty
    * ``counts``: the number of the move, and the total excess load
    * ``found``: the best move: the number of tasks that change machines (1 or 2), and the task and new machine of each
    """

    machines: Any
    loads: Any
    tabu: Any
    numbers: Any
    counts: Any
    found: Any


@njit(cache=True, nogil=True)
def improve(costs, allowed, sizes, capacities, machines, penalty, moves, rng):  # type: ignore[no-untyped-def]
    """Perform moves of a tabu search from ``machines``, the machine of each task.

    A shift gives a task to another machine.  A swap exchanges the machines of two tasks.  An ejection gives a task to a
    machine that passes one of its own to a third.  The best move that is not tabu is made.  Ejections are tried only if
    no shift or swap improves.

    Returns
    -------
    tuple
        The best feasible assignment, its cost (inf if none was found), and the final penalty.
    """
    m, n = costs.shape
    tasks = _Tasks(costs, allowed, sizes, capacities)
    numbers, counts, loads, found = np.zeros(3), np.zeros(2, np.int64), np.zeros(m, np.int64), np.zeros(5, np.int64)
    numbers[_LEAST], numbers[_PENALTY] = np.inf, penalty
    search = _Search(machines, loads, np.zeros((m, n), np.int64), numbers, counts, found)
    for t in range(n):
        loads[machines[t]] += sizes[machines[t], t]
    best = machines.copy()
    _keep_if_best(tasks, search, best)
    for k in range(moves):
        counts[_MOVE] = k
        found[0] = 0
        bar = _best_swap(tasks, search, _best_shift(tasks, search))
        if bar >= numbers[_COST] + numbers[_PENALTY] * counts[_OVER]:
            _best_ejection(tasks, search, bar, rng.integers(0, n))
        for f in range(found[0]):
            t, j = found[2 * f + 1], found[2 * f + 2]
            i = machines[t]
            search.tabu[i, t] = k + 10 + rng.integers(0, 10)
            loads[i] -= sizes[i, t]
            loads[j] += sizes[j, t]
            machines[t] = j
        _keep_if_best(tasks, search, best)
        numbers[_PENALTY] *= _DECREASE if counts[_OVER] == 0 else _INCREASE if k % 3 == 0 else 1.0
    return best, numbers[_LEAST], numbers[_PENALTY]


@inner
def _keep_if_best(tasks: _Tasks, search: _Search, best: Any) -> None:
    """Recompute cost and excess load.  Store the assignment in ``best`` if it is feasible and cheapest so far."""
    cost, over = 0.0, 0
    for t in range(len(search.machines)):
        cost += tasks.costs[search.machines[t], t]
    for j in range(len(search.loads)):
        over += max(search.loads[j] - tasks.capacities[j], 0)
    search.numbers[_COST], search.counts[_OVER] = cost, over
    if over == 0 and cost < search.numbers[_LEAST]:
        search.numbers[_LEAST] = cost
        overwrite(best, search.machines)


@folded
def _best_shift(tasks: _Tasks, search: _Search) -> float:
    """Return the penalised cost after the best shift."""
    costs, allowed, sizes, _ = tasks
    cost, least, penalty = search.numbers[_COST], search.numbers[_LEAST], search.numbers[_PENALTY]
    move, over = search.counts[_MOVE], search.counts[_OVER]
    bar = np.inf
    m, n = costs.shape
    for t in range(n):
        i = search.machines[t]
        for j in range(m):
            if j == i or not allowed[j, t]:
                continue
            after = over + _change(tasks, search, i, -sizes[i, t]) + _change(tasks, search, j, sizes[j, t])
            now = cost + costs[j, t] - costs[i, t]
            weight = _weight(now, after, penalty, least, search.tabu[j, t] > move)
            if weight < bar:
                bar = weight
                _store(search, int64(1), t, j, t, j)
    return bar


@folded
def _best_swap(tasks: _Tasks, search: _Search, bar: float) -> float:
    """Return the penalised cost after the best swap, or ``bar`` if no swap is better."""
    costs, allowed, sizes, _ = tasks
    cost, least, penalty = search.numbers[_COST], search.numbers[_LEAST], search.numbers[_PENALTY]
    move, over = search.counts[_MOVE], search.counts[_OVER]
    for t in range(len(search.machines)):
        i = search.machines[t]
        for s in range(t):
            j = search.machines[s]
            if j == i or not allowed[j, t] or not allowed[i, s]:
                continue
            after = (
                over
                + _change(tasks, search, i, sizes[i, s] - sizes[i, t])
                + _change(tasks, search, j, sizes[j, t] - sizes[j, s])
            )
            now = cost + costs[j, t] - costs[i, t] + costs[i, s] - costs[j, s]
            barred = search.tabu[j, t] > move or search.tabu[i, s] > move
            weight = _weight(now, after, penalty, least, barred)
            if weight < bar:
                bar = weight
                _store(search, int64(2), t, j, s, i)
    return bar


@folded
def _best_ejection(tasks: _Tasks, search: _Search, bar: float, start: int) -> None:
    """Store the best ejection of up to 10 tasks from ``start`` on if it costs less than ``bar``."""
    costs, allowed, sizes, _ = tasks
    cost, least, penalty = search.numbers[_COST], search.numbers[_LEAST], search.numbers[_PENALTY]
    move, over = search.counts[_MOVE], search.counts[_OVER]
    m, n = costs.shape
    for u in range(min(n, 10)):
        t = (start + u) % n
        i = search.machines[t]
        for s in range(n):
            j = search.machines[s]
            if j == i or not allowed[j, t]:
                continue
            first = _change(tasks, search, i, -sizes[i, t]) + _change(tasks, search, j, sizes[j, t] - sizes[j, s])
            for h in range(m):
                if h in (j, i) or not allowed[h, s]:
                    continue
                after = over + first + _change(tasks, search, h, sizes[h, s])
                now = cost + costs[j, t] - costs[i, t] + costs[h, s] - costs[j, s]
                barred = search.tabu[j, t] > move or search.tabu[h, s] > move
                weight = _weight(now, after, penalty, least, barred)
                if weight < bar:
                    bar = weight
                    _store(search, int64(2), t, j, s, h)


@folded
def _weight(cost: float, over: int, penalty: float, least: float, barred: bool) -> float:
    """Return the penalised cost of an assignment; infinity if the move is tabu and sets no record."""
    if barred and not (over == 0 and cost < least):
        return np.inf
    return float(cost + penalty * over)


@folded
def _store(search: _Search, count: int, t: int, j: int, s: int, h: int) -> None:
    """Store a move: task t goes to machine j, and if two tasks change machines, s goes to h."""
    found = search.found
    found[0], found[1], found[2], found[3], found[4] = count, t, j, s, h


@folded
def _change(tasks: _Tasks, search: _Search, machine: int, more: int) -> int:
    """Return the increase of a machine's excess load."""
    room = tasks.capacities[machine] - search.loads[machine]
    return int(max(more - room, 0) - max(-room, 0))
