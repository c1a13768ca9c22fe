r"""Euclidean projection onto the probability simplex, min ‖p - q‖² over p ≥ 0, Σ_j p_j = 1, in O(r log r).

With q sorted in descending order, u_1 ≥ u_2 ≥ ..., and k the largest index with u_k > (Σ_{j≤k} u_j - 1) / k, the
projection is p_j = max(q_j - τ, 0) with τ = (Σ_{j≤k} u_j - 1) / k.

Source: J. Duchi, S. Shalev-Shwartz, Y. Singer, T. Chandra, *Efficient projections onto the l1-ball for learning in high
dimensions*, ICML 2008.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_numbers
from colgen.solvers.kernel_cache import njit

Floats = NDArray[np.float64]


@njit(cache=True)
def project_in_place(q: Floats) -> None:
    """Project a vector with at least one entry."""
    if len(q) == 2:  # the common case needs no sorting
        share = min(max(0.5 * (1.0 + q[0] - q[1]), 0.0), 1.0)
        q[0], q[1] = share, 1.0 - share
        return
    descending = np.sort(q)[::-1]
    total, threshold = 0.0, 0.0
    for k in range(len(q)):
        total += descending[k]
        if descending[k] * (k + 1) <= total - 1.0:
            break
        threshold = (total - 1.0) / (k + 1)
    for j in range(len(q)):
        q[j] = max(q[j] - threshold, 0.0)


def project(q: ArrayLike) -> Floats:
    """Return the point of the probability simplex nearest to ``q``, shape (r,), r ≥ 1.

    Raises
    ------
    ValueError
        If ``q`` is not a vector of finite numbers.
    """
    point = np.array(as_numbers(q, "q"))
    if point.ndim != 1 or not len(point) or not np.isfinite(point).all():
        raise ValueError(f"q: expected a non-empty vector of finite numbers, got {q!r}")
    project_in_place(point)
    return point
