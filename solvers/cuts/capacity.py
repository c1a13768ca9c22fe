"""Rounded capacity cuts: sets of customers that more routes must enter than a fractional solution sends there.

If each customer is visited once then routes of capacity Q that serve a set S use no more than ``|S| - ⌈d(S) / Q⌉`` arcs
inside it.  Sets are looked for among the components of the solution's support without the depot, and by growing a set
customer by customer from each of them, then exchanging single customers for a while (a tabu search); what is returned
is violated, what is not returned may be as well.

Source: J. Lysgaard, A. N. Letchford, R. W. Eglese, *A new branch-and-cut algorithm for the capacitated vehicle routing
problem*, Mathematical Programming 100 (2004), sections 3 and 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_float, as_floats, as_integer
from colgen.solvers.copying import overwrite
from colgen.solvers.kernel_cache import njit
from colgen.solvers.tiers import tiered

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_TABU = 7
"""A customer that has just moved stays where it is for so many moves."""

_MOVES = 2
"""So many moves for each customer after a set has been grown."""

_ROUNDING = 2.0**-30
"""A number of full vehicles that is whole but for this much counts as whole."""


def violated_capacity(
    flow: ArrayLike, demands: ArrayLike, capacity: float, *, least: float = 0.05, limit: int = 50
) -> tuple[Mask, Floats]:
    """Sets of customers whose rounded capacity cut is violated, those that are violated most first.

    Parameters
    ----------
    flow
        How much of the solution goes from each customer to each other, shape (customers, customers), without the depot.
    demands
        Of the customers, from 0 to the capacity.
    capacity
        Of a vehicle, in the same unit.
    least
        The least violation that counts.
    limit
        So many sets at most.

    Returns
    -------
    sets
        Shape (sets, customers).
    violations
        By how much each set has more arcs inside than it may.
    """
    demands = as_floats(demands, "demands", shape=("customers",), low=0.0)
    flow = as_floats(flow, "flow", shape=(len(demands), len(demands)), low=0.0)
    capacity = as_float(capacity, "capacity", low=0.0)
    least, limit = as_float(least, "least", low=0.0), as_integer(limit, "limit", low=0)
    if not capacity > 0.0 or (demands > capacity).any():
        raise ArrayError(f"capacity: expected no less than each demand, not {capacity}")
    if len(demands) < 2:
        return np.zeros((0, len(demands)), dtype=np.bool_), np.zeros(0)
    both = flow + flow.T
    np.fill_diagonal(both, 0.0)
    sets, violations = _search(both, demands, float(capacity), least, _TABU, _MOVES * len(demands))
    order = np.argsort(-violations, kind="stable")
    packed, first = np.unique(np.packbits(sets[order], axis=1), axis=0, return_index=True)
    chosen = order[np.sort(first)][:limit]
    assert len(packed) >= len(chosen)
    return sets[chosen], violations[chosen]


@njit(cache=True, nogil=True)
def _vehicles(demand: float, capacity: float) -> float:
    """How many vehicles a demand takes."""
    return float(np.ceil(demand / capacity - _ROUNDING))


@tiered
@njit(cache=True, nogil=True)
def _search(both: Floats, demands: Floats, capacity: float, least: float, tabu: int, moves: int) -> tuple[Mask, Floats]:
    n = len(demands)
    sets, violations = np.zeros((256, n), dtype=np.bool_), np.zeros(256)
    count = 0
    for start in range(-n, n):
        mine = np.zeros(n, dtype=np.bool_)
        towards = np.zeros(n)  # flow between each customer and the set
        size, inside, demand = 0, 0.0, 0.0
        if start < 0:  # the whole component of a customer, if no smaller number is in it
            stack = np.empty(n, dtype=np.int64)
            stack[0], top = start + n, 1
            mine[start + n] = True
            while top > 0:
                top -= 1
                v = stack[top]
                for w in range(n):
                    if not mine[w] and both[v, w] > 0.0:
                        mine[w] = True
                        stack[top] = w
                        top += 1
            for v in range(n):
                if mine[v]:
                    inside += towards[v]
                    size += 1
                    demand += demands[v]
                    for w in range(n):
                        towards[w] += both[v, w]
        else:
            mine[start], size, demand = True, 1, demands[start]
            for w in range(n):
                towards[w] += both[start, w]
        last = np.full(n, -(1 << 30), dtype=np.int64)
        growing = start >= 0
        for move in range(n + moves):
            violation = inside - size + _vehicles(demand, capacity)
            if violation > least:
                if count == len(violations):
                    more = np.zeros((2 * count, n), dtype=np.bool_)
                    for k in range(count):
                        overwrite(more[k], sets[k])
                    sets = more
                    violations = np.append(violations, np.zeros(count))
                overwrite(sets[count], mine)
                violations[count] = violation
                count += 1
            if start < 0:
                break
            best, most = -1, -np.inf
            for v in range(n):
                if mine[v]:
                    if growing or size < 3 or move - last[v] <= tabu:
                        continue
                    gain = 1.0 - towards[v] + _vehicles(demand - demands[v], capacity)
                else:
                    if move - last[v] <= tabu or (growing and towards[v] <= 0.0):
                        continue
                    gain = towards[v] - 1.0 + _vehicles(demand + demands[v], capacity)
                if gain > most:
                    best, most = v, gain
            if best < 0:
                if not growing:
                    break
                growing = False  # the component is complete: look around it
                continue
            sign = -1.0 if mine[best] else 1.0
            inside += sign * towards[best]
            demand += sign * demands[best]
            size += 1 if sign > 0.0 else -1
            mine[best] = not mine[best]
            last[best] = move
            for w in range(n):
                towards[w] += sign * both[best, w]
            if size == n:
                growing = False
    return sets[:count], violations[:count]
