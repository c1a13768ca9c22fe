"""Bipartite matchings of largest score, and the k best: each row is matched to a column of its own.

The best one is found by shortest augmenting paths, the k best by Murty's partition, see :mod:`colgen.solvers.ranking`.

Source: D. F. Crouse, *On implementing 2D rectangular assignment algorithms*, IEEE Transactions on Aerospace and
Electronic Systems 52 (2016), which SciPy implements.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_floats
from colgen.solvers.ranking import k_best_of_scores

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LARGEST = 1e308
_SCALED = 1e290
"""Larger scores are divided by a power of two, so that sums of them along a path are finite."""


def best_matching(scores: ArrayLike) -> tuple[float, Ints] | None:
    """Return the largest score of a matching and the column of each row, or None if all are forbidden.

    Parameters
    ----------
    scores
        Shape (rows, columns), at least one row and as many columns as rows; -inf forbids a pair.

    Raises
    ------
    ArrayError
        If the scores are invalid or their sum may overflow.
    """
    return _best(_checked(scores))


def k_best_matchings(scores: ArrayLike, k: int) -> list[tuple[float, Ints]]:
    """Return the scores and columns of the k best matchings, best first; fewer if fewer are allowed.

    Arguments as for :func:`best_matching`.
    """
    return k_best_of_scores(_checked(scores), _best, k)


def _checked(scores: ArrayLike) -> Floats:
    theta: Floats = as_floats(scores, "scores", shape=("rows", "columns"), minus_infinity=True)
    rows, columns = theta.shape
    if not 0 < rows <= columns:
        raise ArrayError(f"scores: expected one row or more and at least as many columns, got the shape {theta.shape}")
    limit, greatest = _LARGEST / rows, _magnitude(theta)
    if greatest > limit:
        raise ArrayError(
            f"scores: expected numbers of at most {limit:.3g}, since a structure adds up to {rows} of them, got "
            f"{greatest:.3g}; divide the scores by a constant"
        )
    return theta


def _best(theta: Floats) -> tuple[float, Ints] | None:
    from scipy.optimize import linear_sum_assignment  # a slow import

    given = np.ldexp(theta, -64) if _magnitude(theta) > _SCALED else theta
    try:
        rows, chosen = linear_sum_assignment(given, maximize=True)
    except ValueError as error:
        if "infeasible" in str(error):
            return None
        raise
    return float(theta[rows, chosen].sum()), np.asarray(chosen, np.int64)


def _magnitude(theta: Floats) -> float:
    return float(np.abs(theta).max(initial=0.0, where=theta > -np.inf))
