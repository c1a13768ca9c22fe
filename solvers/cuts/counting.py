"""What rank-1 cuts with limited memory count on routes.

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
    """How often each cut counts each route.

    Along a route a cut collects the weights of what is visited; whenever that reaches the divisor it counts one and
    loses the divisor, and where the route leaves its memory it loses all.

    Parameters
    ----------
    starts, visits
        Where each route begins among ``visits``, one more than there are routes, and the vertices in the order of their
        visits, from 0; -1 for a vertex that is in nobody's memory.
    weights
        Of each vertex in each cut, shape (cuts, vertices): less than the divisor, 0 for a vertex that is in the memory
        and has no weight, -1 for one that is not.
    divisors
        Of the cuts, at least 2.

    Returns
    -------
    ndarray
        Shape (routes, cuts).
    """
    weights = as_integers(weights, "weights", shape=("cuts", "vertices"), low=-1)
    divisors = as_integers(divisors, "divisors", shape=weights.shape[:1], low=2)
    visits = as_integers(visits, "visits", shape=("visits",), low=-1, high=weights.shape[1] - 1)
    starts = as_offsets(starts, "starts", total=len(visits))
    if (weights >= divisors[:, None]).any():
        raise ArrayError("weights: expected each to be less than its cut's divisor")
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
