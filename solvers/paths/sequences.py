"""Sequences of jobs on identical machines whose costs depend on completion times: list scheduling and local search.

Iterated local search: a descent moves a job to another place, or exchanges two jobs, as long as this costs less.  Then
a few random exchanges perturb the best schedule, and a descent follows.

Source: H. Lourenço, O. Martin, T. Stützle, *Iterated local search*, Handbook of Metaheuristics (2003).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import boolean
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_floats, as_integer, as_integers
from colgen.solvers.kernels import inner, kernel
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROUNDING = 1e-14
"""Least relative gain of a move."""

_BETWEEN_CLOCKS = 50
"""Descents between two checks of the clock."""

_EXCHANGES = 4
"""Most random exchanges before a descent."""


class _Schedule(NamedTuple):
    """Machine k has the jobs ``jobs[k, : sizes[k]]``, of cost ``costs[k]``; ``one``, ``other`` are buffers."""

    jobs: Ints
    sizes: Ints
    costs: Floats
    one: Ints
    other: Ints


def schedule(
    durations: ArrayLike,
    costs: ArrayLike,
    machines: int,
    *,
    rounds: int = 1000,
    seed: int = 0,
    expired: Expired = never,
) -> list[list[int]]:
    """Return the sequence of each machine in a good schedule without idle times.

    Parameters
    ----------
    durations : integer duration of each job
    costs : cost of completing each job at each time, shape (jobs, latest time + 1)
    rounds : number of descents after the first
    expired : True ends the search early

    Raises
    ------
    ArrayError
        If list scheduling exceeds the latest time.
    """
    table = as_floats(costs, "costs", shape=(None, None))
    duration = as_integers(durations, "durations", shape=(len(table),), low=0, high=table.shape[1] - 1)
    machines = as_integer(machines, "machines", low=1)
    rounds, seed = as_integer(rounds, "rounds", low=0), as_integer(seed, "seed", low=0)
    rng = np.random.default_rng(seed)
    last_cheap = table.shape[1] - np.argmin(table[:, ::-1], axis=1)  # like due dates
    now = _Schedule(
        np.zeros((machines, len(duration) + 1), dtype=np.int64), np.zeros(machines, dtype=np.int64),
        np.zeros(machines), np.zeros(len(duration) + 1, dtype=np.int64), np.zeros(len(duration) + 1, dtype=np.int64),
    )  # fmt: skip
    ends = np.zeros(machines, dtype=np.int64)
    for job in np.argsort(last_cheap, kind="stable").tolist():
        k = int(np.argmin(ends))
        now.jobs[k, now.sizes[k]] = job
        now.sizes[k] += 1
        ends[k] += duration[job]
    if ends.max(initial=0) >= table.shape[1]:
        raise ArrayError(f"costs: expected columns up to time {ends.max()}, got {table.shape[1]}")
    best = _Schedule(now.jobs.copy(), now.sizes.copy(), now.costs.copy(), now.one.copy(), now.other.copy())
    _search(now, best, duration, table, np.zeros((0, 3)))
    for done in range(0, rounds, _BETWEEN_CLOCKS):
        if expired():
            break
        steps = min(_BETWEEN_CLOCKS, rounds - done)
        _search(now, best, duration, table, rng.random((steps * _EXCHANGES, 3)))
    return [best.jobs[k, : best.sizes[k]].tolist() for k in range(machines)]


@inner
def _cost(jobs: Ints, size: int, durations: Ints, table: Floats) -> float:
    time, total = 0, 0.0
    for k in range(size):
        time += durations[jobs[k]]
        if time >= table.shape[1]:
            return np.inf
        total += table[jobs[k], time]
    return total


@inner
def _move(now: _Schedule, a: int, i: int, b: int, place: int, durations: Ints, table: Floats) -> bool:
    """Move job i of machine a to a place of machine b if this costs less; return whether it does."""
    jobs, sizes, costs, one, other = now
    size = 0
    for k in range(sizes[a]):
        if k != i:
            one[size] = jobs[a, k]
            size += 1
    if a == b:
        for k in range(size, place, -1):
            one[k] = one[k - 1]
        one[place] = jobs[a, i]
        cost = _cost(one, size + 1, durations, table)
        if not cost < costs[a] - _ROUNDING * abs(costs[a]):
            return False
        for k in range(size + 1):
            jobs[a, k] = one[k]
        costs[a] = cost
        return True
    cost = _cost(one, size, durations, table)
    before = costs[a] + costs[b]
    for k in range(sizes[b] + 1):
        other[k] = jobs[b, k] if k < place else jobs[a, i] if k == place else jobs[b, k - 1]
    there = _cost(other, sizes[b] + 1, durations, table)
    if not cost + there < before - _ROUNDING * abs(before):
        return False
    for k in range(size):
        jobs[a, k] = one[k]
    for k in range(sizes[b] + 1):
        jobs[b, k] = other[k]
    sizes[a], costs[a] = size, cost
    sizes[b] += 1
    costs[b] = there
    return True


@inner
def _exchange(now: _Schedule, a: int, i: int, b: int, j: int, durations: Ints, table: Floats, always: bool) -> bool:
    """Exchange two jobs if this costs less, or ``always`` if it is feasible; return whether it is done."""
    jobs, sizes, costs = now.jobs, now.sizes, now.costs
    jobs[a, i], jobs[b, j] = jobs[b, j], jobs[a, i]
    here = _cost(jobs[a], sizes[a], durations, table)
    there = 0.0 if a == b else _cost(jobs[b], sizes[b], durations, table)
    before = costs[a] if a == b else costs[a] + costs[b]
    if (always and here + there < np.inf) or here + there < before - _ROUNDING * abs(before):
        costs[a] = here
        if a != b:
            costs[b] = there
        return True
    jobs[a, i], jobs[b, j] = jobs[b, j], jobs[a, i]
    return False


@inner
def _improve(now: _Schedule, a: int, i: int, durations: Ints, table: Floats) -> bool:
    """Make the first move of a job that costs less; return whether there is one."""
    machines = len(now.sizes)
    for b in range(machines):
        for place in range(now.sizes[b] + (1 if a != b else 0)):
            if (a != b or place != i) and _move(now, a, i, b, place, durations, table):
                return True
    for b in range(a, machines):
        for j in range(i + 1 if a == b else 0, now.sizes[b]):
            if _exchange(now, a, i, b, j, durations, table, boolean(False)):
                return True
    return False


@kernel
def _search(now: _Schedule, best: _Schedule, durations: Ints, table: Floats, draws: Floats) -> None:
    """Descend, or perturb the best schedule and descend once per ``_EXCHANGES`` draws; keep the best."""
    machines = len(now.sizes)
    rounds = max(1, len(draws) // _EXCHANGES)
    for step in range(rounds):
        if len(draws):
            for k in range(machines):
                now.sizes[k], now.costs[k] = best.sizes[k], best.costs[k]
                for i in range(best.sizes[k]):
                    now.jobs[k, i] = best.jobs[k, i]
            for k in range(step * _EXCHANGES, (step + 1) * _EXCHANGES):
                a = int(draws[k, 0] * machines)
                b = int(draws[k, 0] * machines * machines) % machines
                if now.sizes[a] and now.sizes[b]:
                    i, j = int(draws[k, 1] * now.sizes[a]), int(draws[k, 2] * now.sizes[b])
                    _exchange(now, a, i, b, j, durations, table, boolean(True))
        else:
            for k in range(machines):
                now.costs[k] = _cost(now.jobs[k], now.sizes[k], durations, table)
        improved = True
        while improved:
            improved = False
            for a in range(machines):
                i = 0
                while i < now.sizes[a]:
                    if _improve(now, a, i, durations, table):
                        improved = True
                    else:
                        i += 1
        total, least = 0.0, 0.0
        for k in range(machines):
            total += now.costs[k]
            least += best.costs[k]
        if total <= least or not len(draws):
            for k in range(machines):
                best.sizes[k], best.costs[k] = now.sizes[k], now.costs[k]
                for i in range(now.sizes[k]):
                    best.jobs[k, i] = now.jobs[k, i]
