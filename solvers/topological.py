"""Topological orders of directed graphs (A. B. Kahn, Communications of the ACM 5, 1962)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit

Ints = NDArray[np.int64]


def topological_ranks(count: int, tails: Ints, heads: Ints) -> Ints | None:
    """Return the place of each vertex in a topological order, or None if there is a cycle."""
    order = _sort(tails, heads, np.zeros(count, dtype=np.int64))
    if len(order) < count:
        return None
    ranks = np.empty(count, dtype=np.int64)
    ranks[order] = np.arange(count)
    return ranks


def levels(count: int, tails: Ints, heads: Ints) -> Ints | None:
    """Return the greatest number of arcs on a walk to each vertex, or None if there is a cycle."""
    level = np.zeros(count, dtype=np.int64)
    return level if len(_sort(tails, heads, level)) == count else None


@njit(cache=True, nogil=True)
def _sort(tails, heads, level):  # type: ignore[no-untyped-def]
    """Write the levels, and return the vertices in topological order; fewer than all if there is a cycle."""
    count = len(level)
    entering = np.zeros(count, dtype=np.int64)
    first = np.zeros(count + 2, dtype=np.int64)
    for arc in range(len(tails)):
        entering[heads[arc]] += 1
        first[tails[arc] + 2] += 1
    for vertex in range(count):
        first[vertex + 2] += first[vertex + 1]
    leaving = np.empty(len(tails), dtype=np.int64)
    for arc in range(len(tails)):
        leaving[first[tails[arc] + 1]] = heads[arc]
        first[tails[arc] + 1] += 1
    queue, done, end = np.empty(count, dtype=np.int64), 0, 0
    for vertex in range(count):
        if entering[vertex] == 0:
            queue[end] = vertex
            end += 1
    while done < end:
        vertex = queue[done]
        done += 1
        for k in range(first[vertex], first[vertex + 1]):
            head = leaving[k]
            level[head] = max(level[head], level[vertex] + 1)
            entering[head] -= 1
            if entering[head] == 0:
                queue[end] = head
                end += 1
    return queue[:end]
