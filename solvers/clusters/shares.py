"""The best division of each pair's score between its items, in a bound on subsets (Hammer, Hansen, Simeone, 1984)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True, no_cpython_wrapper=True)
def move_shares(shares: Floats, candidates: Ints, m: int, gain: Floats, share: Floats, tiny: float) -> int:
    """Move shares from items with a surplus to others along shortest paths while possible; return the items visited."""
    n, visits = len(gain), 0
    level = np.empty(n, dtype=np.int64)
    queue = np.empty(m, dtype=np.int64)
    while True:
        # Breadth-first distance of each item to the items without a surplus.
        tail = 0
        for k in range(m):
            i = candidates[k]
            level[i] = -1
            if gain[i] + share[i] < -tiny:
                level[i] = 0
                queue[tail] = i
                tail += 1
        head = 0
        while head < tail:
            j = queue[head]
            head += 1
            for k in range(m):
                i = candidates[k]
                if level[i] < 0 and shares[i, j] > tiny:
                    level[i] = level[j] + 1
                    queue[tail] = i
                    tail += 1
        arrived = 0.0
        for q in range(tail - 1, -1, -1):  # farthest first
            i = queue[q]
            surplus = gain[i] + share[i]
            if level[i] <= 0 or surplus <= tiny:
                continue
            for k in range(m):
                j = candidates[k]
                if level[j] != level[i] - 1 or shares[i, j] <= 0.0:
                    continue
                moved = min(surplus, shares[i, j])
                if level[j] == 0:
                    moved = min(moved, -(gain[j] + share[j]))
                    arrived += max(moved, 0.0)
                if moved > 0.0:
                    shares[i, j] -= moved
                    shares[j, i] += moved
                    share[i] -= moved
                    share[j] += moved
                    surplus -= moved
                    if surplus <= tiny:
                        break
        visits += 2 * tail * m
        if arrived <= tiny:
            return visits
