"""Rounded capacity cuts: sets of customers that need more routes than a fractional solution sends there.

If each customer is visited once, routes of capacity Q that serve a set S use at most ``|S| - ⌈d(S) / Q⌉`` arcs inside
it.  Candidate sets are the components of the solution's support without the depot.  Further sets grow from single
customers, one by one, followed by some exchanges of single customers (a tabu search).  The separation is heuristic: all
returned sets are violated, but violated sets may be missed.

Source: J. Lysgaard, A. N. Letchford, R. W. Eglese, *A new branch-and-cut algorithm for the capacitated vehicle routing
problem*, Mathematical Programming 100 (2004), sections 3 and 4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_float, as_floats, as_integer
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, int64, overwrite

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_TABU = 7
"""A customer that has just moved stays for this many moves."""

_MOVES = 2
"""Moves per customer after a set is complete."""

_ROUNDING = 2.0**-30
"""Number of vehicles that counts as rounding error when rounding up."""


_INSIDE, _DEMAND, _SIZE = range(3)
"""Indices into the sums of a set."""


class _Chosen(NamedTuple):
    """A set of customers that changes move by move."""

    inside: Mask  # whether each customer is in the set
    towards: Floats  # flow between each customer and the set
    last: Ints  # last move of each customer
    sums: Floats  # flow inside the set, its demand, and its size


def violated_capacity(
    flow: ArrayLike, demands: ArrayLike, capacity: float, *, least: float = 0.05, limit: int = 50
) -> tuple[Mask, Floats]:
    """Return sets of customers with violated rounded capacity cuts, and their violations, largest first.

    The sets have shape (sets, customers).  A violation is the excess of arcs inside a set.  ``flow`` is the solution's
    flow from each customer to each other, without the depot.  Demands, from 0 to the capacity, are in the unit of
    ``capacity``.  At most ``limit`` sets with a violation of at least ``least`` are returned.
    """
    demands = as_floats(demands, "demands", shape=("customers",), low=0.0)
    flow = as_floats(flow, "flow", shape=(len(demands), len(demands)), low=0.0)
    capacity = as_float(capacity, "capacity", low=0.0)
    least, limit = as_float(least, "least", low=0.0), as_integer(limit, "limit", low=0)
    if not capacity > 0.0 or (demands > capacity).any():
        raise ArrayError(f"capacity: expected at least the largest demand and more than 0, got {capacity}")
    if len(demands) < 2:
        return np.zeros((0, len(demands)), dtype=np.bool_), np.zeros(0)
    both = flow + flow.T
    np.fill_diagonal(both, 0.0)
    sets, violations = _search(both, demands, float(capacity), least, _TABU, _MOVES * len(demands))
    order = np.argsort(-violations, kind="stable")
    _, first = np.unique(np.packbits(sets[order], axis=1), axis=0, return_index=True)
    chosen = order[np.sort(first)][:limit]
    return sets[chosen], violations[chosen]


@njit(cache=True, no_cpython_wrapper=True)
def _vehicles(demand: float, capacity: float) -> float:
    return float(np.ceil(demand / capacity - _ROUNDING))


@njit(cache=True, nogil=True)
def _search(both: Floats, demands: Floats, capacity: float, least: float, tabu: int, moves: int) -> tuple[Mask, Floats]:
    n = len(demands)
    sets, violations = np.zeros((256, n), dtype=np.bool_), np.zeros(256)
    count = 0
    for start in range(-n, n):
        chosen = _Chosen(np.zeros(n, dtype=np.bool_), np.zeros(n), np.full(n, -(1 << 30), dtype=np.int64), np.zeros(3))
        growing = start >= 0
        for v in _component(both, start + n) if start < 0 else np.full(1, start):
            _move(both, demands, chosen, int(v))
        for move in range(n + moves if growing else 1):
            violation = _violation(chosen, capacity)
            if violation > least:
                if count == len(violations):
                    sets, violations = _double(sets, violations)
                overwrite(sets[count], chosen.inside)
                violations[count] = violation
                count += 1
            best = _best_move(demands, capacity, chosen, move - tabu, growing)
            if best < 0:
                if not growing:
                    break
                growing = False  # the component is complete: continue with exchanges
                continue
            _move(both, demands, chosen, best)
            chosen.last[best] = move
            if chosen.sums[_SIZE] == n:
                growing = False
    return sets[:count], violations[:count]


@njit(cache=True, no_cpython_wrapper=True)
def _component(both: Floats, start: int) -> Ints:
    """Return the customers reachable through flow from ``start``, including it."""
    n = len(both)
    reached, stack = np.zeros(n, dtype=np.bool_), np.empty(n, dtype=np.int64)
    stack[0], top = start, 1
    reached[start] = True
    while top > 0:
        top -= 1
        v = stack[top]
        for w in range(n):
            if not reached[w] and both[v, w] > 0.0:
                reached[w] = True
                stack[top] = w
                top += 1
    return np.flatnonzero(reached)


@njit(cache=True, no_cpython_wrapper=True)
def _double(sets: Mask, violations: Floats) -> tuple[Mask, Floats]:
    """Return copies with space for twice as many sets."""
    count, n = sets.shape
    more = np.zeros((2 * count, n), dtype=np.bool_)
    for k in range(count):
        overwrite(more[k], sets[k])
    return more, np.append(violations, np.zeros(count))


@inner
def _violation(chosen: _Chosen, capacity: float) -> float:
    sums = chosen.sums
    return float(sums[_INSIDE] - sums[_SIZE] + _vehicles(sums[_DEMAND], capacity))


@inner
def _move(both: Floats, demands: Floats, chosen: _Chosen, v: int) -> None:
    """Add a customer to the set, or remove it."""
    sign = -1.0 if chosen.inside[v] else 1.0
    chosen.sums[_INSIDE] += sign * chosen.towards[v]
    chosen.sums[_DEMAND] += sign * demands[v]
    chosen.sums[_SIZE] += sign
    chosen.inside[v] = not chosen.inside[v]
    for w in range(len(demands)):
        chosen.towards[w] += sign * both[v, w]


@inner
def _best_move(demands: Floats, capacity: float, chosen: _Chosen, before: int, growing: bool) -> int:
    """Return the customer whose move leads to the largest violation, or -1 if none may move.

    Customers that moved at move ``before`` or later stay.  If ``growing``, those with flow to the set may only join.
    """
    inside, towards, last = chosen.inside, chosen.towards, chosen.last
    demand, size = chosen.sums[_DEMAND], chosen.sums[_SIZE]
    best, most = int64(-1), -np.inf
    for v in range(len(demands)):
        if inside[v]:
            if growing or size < 3 or last[v] >= before:
                continue
            gain = 1.0 - towards[v] + _vehicles(demand - demands[v], capacity)
        else:
            if last[v] >= before or (growing and towards[v] <= 0.0):
                continue
            gain = towards[v] - 1.0 + _vehicles(demand + demands[v], capacity)
        if gain > most:
            best, most = v, gain
    return best
