"""Coefficients of rank-1 cuts with limited memory on routes.

Source: D. Pecin, A. Pessoa, M. Poggi, E. Uchoa, *Improved branch-cut-and-price for capacitated vehicle routing*,
Mathematical Programming Computation 9 (2017), section 4, algorithm 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_integers, as_offsets
from colgen.solvers.kernel_cache import njit

Ints = NDArray[np.int64]


def counts_along(starts: ArrayLike, visits: ArrayLike, weights: ArrayLike, divisors: ArrayLike) -> Ints:
    """Return the coefficient of each route in each cut, shape (routes, cuts).

    Along a route a cut sums the weights of the visited vertices.  When the sum reaches the divisor, the coefficient
    grows by one and the divisor is subtracted.  When the route leaves the cut's memory, the sum becomes zero.

    Parameters
    ----------
    starts : offsets of the routes in ``visits``
    visits : the vertices in visiting order; -1 for a vertex outside every memory
    weights : (cuts, vertices) array, less than the divisor
        0 for a vertex in the memory without a weight, -1 for one outside the memory.
    divisors : divisor of each cut, at least 2
    """
    weights = as_integers(weights, "weights", shape=("cuts", "vertices"), low=-1)
    divisors = as_integers(divisors, "divisors", shape=weights.shape[:1], low=2)
    visits = as_integers(visits, "visits", shape=("visits",), low=-1, high=weights.shape[1] - 1)
    starts = as_offsets(starts, "starts", total=len(visits))
    if (weights >= divisors[:, None]).any():
        raise ArrayError("weights: expected each weight below the divisor of its cut")
    return _counts(starts, visits, weights, divisors)


@njit(cache=True, nogil=True)
def _counts(starts: Ints, visits: Ints, weights: Ints, divisors: Ints) -> Ints:
    routes, cuts = len(starts) - 1, len(divisors)
    found = np.zeros((routes, cuts), dtype=np.int64)
    for r in range(routes):
        for k in range(cuts):
            state, count = 0, 0
            for at in range(starts[r], starts[r + 1]):
                v = visits[at]
                weight = -1 if v < 0 else weights[k, v]
                if weight < 0:
                    state = 0
                    continue
                state += weight
                if state >= divisors[k]:
                    state -= divisors[k]
                    count += 1
            found[r, k] = count
    return found
