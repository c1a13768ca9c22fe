"""The k best among structures that choose one of several options in each of n positions, by Lawler's partition.

A set of structures is divided by its best one, c: for each position j, the structures that agree with c before j and
differ at j.  These sets are disjoint and contain all others, so each further structure is the best of one of them.
Structures of equal value are found one after another, each once.

Sources: E. L. Lawler, *A procedure for computing the K best solutions to discrete optimization problems*, Management
Science 18 (1972).  K. G. Murty, *An algorithm for ranking all the assignments in order of increasing cost*, Operations
Research 16 (1968).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Set
from itertools import count
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_floats, as_integer

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Best: TypeAlias = Callable[[Ints, Set[int]], tuple[float, Ints] | None]
"""Function from the options of the first positions, and those that the next position must not choose, to the value and
the options of a best structure, or None without one."""


def k_best_choices(best: Best, k: int) -> list[tuple[float, Ints]]:
    """Return the values and options of the k best structures, best first; fewer if fewer exist."""
    wanted = as_integer(k, "k", low=1)
    found: list[tuple[float, Ints]] = []
    waiting: list[tuple[float, int, Ints, int, Set[int]]] = []
    numbers = count()  # structures of equal value keep the order in which they were found

    def add(prefix: Ints, excluded: Set[int]) -> None:
        answer = best(prefix, excluded)
        if answer is not None:
            heapq.heappush(waiting, (-answer[0], next(numbers), answer[1], len(prefix), excluded))

    add(np.empty(0, np.int64), frozenset())
    while waiting:
        loss, _, choices, fixed, excluded = heapq.heappop(waiting)
        found.append((-loss, choices))
        if len(found) == wanted:
            break
        for j in range(fixed, len(choices)):
            own = excluded if j == fixed else frozenset()
            add(choices[:j], own | {int(choices[j])})
    return sorted(found, key=lambda pair: -pair[0])  # values that differ by rounding may come in another order


def k_best_of_scores(
    scores: ArrayLike, best: Callable[[Floats], tuple[float, Ints] | None], k: int
) -> list[tuple[float, Ints]]:
    """Return the k best structures, as :func:`k_best_choices`, whose options have scores: -inf forbids an option.

    ``scores`` have the shape (positions, options).  ``best`` is called with scores of which more are -inf.  It returns
    the value and the options of a best structure, or None if all are forbidden.
    """
    theta: Floats = as_floats(scores, "scores", shape=("positions", "options"), minus_infinity=True)
    every = np.arange(len(theta))

    def restricted(prefix: Ints, excluded: Set[int]) -> tuple[float, Ints] | None:
        own, fixed = theta.copy(), every[: len(prefix)]
        own[fixed] = -np.inf
        own[fixed, prefix] = theta[fixed, prefix]
        if excluded:
            own[len(prefix), list(excluded)] = -np.inf
        return best(own)

    return k_best_choices(restricted, k)
